import { useQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../../../api/queries.ts';
import { useApi, useSession } from '../../../../app/context.tsx';
import { findTraceSources, isTraceId, TraceLink } from '../../../traces/trace-link.tsx';

interface Props {
  /** Of the column. */
  name: string;
  value: string;
  sourceId: string | undefined;
}

const TRACE_COLUMN = /^trace_?id$/i;

/** A value as text. A trace id is a link to its trace. */
export const CellText = ({ name, value, sourceId = 'logs' }: Props) =>
  TRACE_COLUMN.test(name) && isTraceId(value) ? <LinkedTrace traceId={value} sourceId={sourceId} /> : value;

function LinkedTrace({ traceId, sourceId }: { traceId: string; sourceId: string }) {
  const api = useApi();
  const { organizationId } = useSession();
  const { data = [] } = useQuery(sourcesQuery(api, organizationId));
  return <TraceLink traceId={traceId} {...findTraceSources(data, sourceId)} />;
}
