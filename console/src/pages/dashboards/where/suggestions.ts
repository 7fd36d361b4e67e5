import { queryOptions } from '@tanstack/react-query';
import type { ListSourceColumnsResult, ListSourcesResult, Operations } from '../../../api/generated.ts';
import { type Dashboard, type Series, type TimeWindow, tileRequests } from '../queries.ts';

export type Source = ListSourcesResult[number];
type Column = ListSourceColumnsResult[number];

/** Suggestions for a source: its columns, and expressions that dashboards already use. */
interface Suggestions {
  expressions: string[];
  metrics: string[];
}

/** `columns` is empty if the engine is not available. */
export function listSuggestions(
  dashboards: readonly Dashboard[],
  sourceId: string,
  columns: readonly Column[] = [],
): Suggestions {
  const series = dashboards.flatMap(({ tiles }) => tiles.flatMap((tile) => tile.series));
  const own = series.filter((one) => one.sourceId === sourceId);
  const used = own.flatMap(({ groupBy, field, fields = [] }: Series) => [
    ...groupBy,
    ...fields,
    ...(field ? [field] : []),
  ]);
  return {
    expressions: [...new Set([...columns.flatMap(listExpressions), ...used])],
    metrics: [
      ...new Set([
        ...columns.flatMap(({ values = [] }) => values),
        ...own.flatMap(({ metricName }) => metricName ?? []),
      ]),
    ].toSorted(),
  };
}

/** Maps are suggested by key. Names that need quoting are omitted. */
const listExpressions = ({ name, type, keys = [] }: Column): string[] => {
  if (!/^[A-Za-z_]\w*$/.test(name)) return [];
  if (!type.startsWith('Map(')) return [name];
  return keys.filter((key) => !/['\\]/.test(key)).map((key) => `${name}['${key}']`);
};

/** Columns of a source in the time window. Suggestions are optional, so errors are not retried. */
export const columnsQuery = (
  api: Operations,
  organizationId: string,
  { sourceId = '', metricDataType }: Series,
  { start, end }: TimeWindow,
) =>
  queryOptions({
    queryKey: [organizationId, 'columns', sourceId, metricDataType, Math.round(start / 60_000)],
    queryFn: ({ signal }) =>
      tileRequests.run(signal, () =>
        api.listSourceColumns({ id: sourceId, start: String(start), end: String(end), metricDataType }, { signal }),
      ),
    enabled: sourceId !== '',
    // Keep old columns while the range moves, but not across sources.
    placeholderData: (before, query) => (query?.queryKey[2] === sourceId ? before : undefined),
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });

/** `LogAttributes['k8s.pod.name']` → `LogAttributes.k8s.pod.name`; undefined for other expressions. */
export function toLuceneName(expression: string): string | undefined {
  if (/^[A-Za-z]\w*$/.test(expression)) return expression;
  const [, column, key] = /^([A-Za-z]\w*)\['([\w.-]+)'\]$/.exec(expression) ?? [];
  return column === undefined ? undefined : `${column}.${key}`;
}

/** The inverse of `toLuceneName`. */
export function toSqlName(name: string): string {
  const [column = '', ...key] = name.split('.');
  return key.length === 0 ? column : `${column}['${key.join('.')}']`;
}
