import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../api/queries.ts';
import { useApi, useSession } from '../../app/context.tsx';

/** Expressions of a source, for conditions. */
export interface SpanColumns {
  service: string;
  name: string;
  attributes: string;
  resource: string;
}

/** Those of the source, or the columns of the OpenTelemetry tables. */
export function useColumns(sourceId: string): SpanColumns {
  const api = useApi();
  const { organizationId } = useSession();
  const { data } = useQuery(sourcesQuery(api, organizationId));
  const source = data?.find(({ id }) => id === sourceId);
  return {
    service: source?.serviceNameExpression || 'ServiceName',
    name: source?.spanNameExpression || 'SpanName',
    attributes: source?.eventAttributesExpression || 'SpanAttributes',
    resource: source?.resourceAttributesExpression || 'ResourceAttributes',
  };
}
