import type { Source } from '../sources/source.ts';

/** What rows around a row can have in common: the SQL expression of a source; undefined for all rows. */
export const CONTEXT_SCOPES = {
  all: () => undefined,
  service: ({ serviceNameExpression }: Source) => serviceNameExpression ?? 'ServiceName',
  host: (source: Source) => `${getResourceAttributes(source)}['host.name']`,
  pod: (source: Source) => `${getResourceAttributes(source)}['k8s.pod.name']`,
} as const satisfies Record<string, (source: Source) => string | undefined>;

const getResourceAttributes = ({ resourceAttributesExpression }: Source): string =>
  resourceAttributesExpression ?? 'ResourceAttributes';

/** A condition that an expression has this value. */
export const formatEquality = (expression: string, value: string): string =>
  `${expression} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
