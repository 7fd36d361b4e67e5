import { queryOptions } from '@tanstack/react-query';
import type { ListSourceColumnsResult, ListSourcesResult, Operations } from '../../../api/generated.ts';
import { type Dashboard, type Series, type TimeWindow, tileRequests } from '../queries.ts';

export type Source = ListSourcesResult[number];
type Column = ListSourceColumnsResult[number];

/** What is worth offering of a source: its columns, and what the other dashboards ask of it. */
export interface Suggestions {
  expressions: string[];
  metrics: string[];
}

/** Without `columns` when the engine cannot be asked. */
export function listSuggestions(
  dashboards: readonly Dashboard[],
  sourceId: string,
  columns: readonly Column[] = [],
): Suggestions {
  const series = dashboards.flatMap(({ tiles }) => tiles.flatMap((tile) => tile.series));
  const own = series.filter((one) => one.sourceId === sourceId);
  const asked = own.flatMap(({ groupBy, field, fields = [] }: Series) => [
    ...groupBy,
    ...fields,
    ...(field ? [field] : []),
  ]);
  return {
    expressions: [...new Set([...columns.flatMap(listExpressions), ...asked])],
    metrics: [
      ...new Set([
        ...columns.flatMap(({ values = [] }) => values),
        ...own.flatMap(({ metricName }) => metricName ?? []),
      ]),
    ].toSorted(),
  };
}

/** A map is asked for by its keys; what needs more than a plain name is not offered. */
const listExpressions = ({ name, type, keys = [] }: Column): string[] => {
  if (!/^[A-Za-z_]\w*$/.test(name)) return [];
  if (!type.startsWith('Map(')) return [name];
  return keys.filter((key) => !/['\\]/.test(key)).map((key) => `${name}['${key}']`);
};

/** Nothing where they cannot be told. */
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
    // While the range moves on; another source has other columns.
    placeholderData: (before, query) => (query?.queryKey[2] === sourceId ? before : undefined),
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });

/** `LogAttributes['k8s.pod.name']` → `LogAttributes.k8s.pod.name`, as Lucene writes it; undefined for what is no plain column. */
export function toLuceneName(expression: string): string | undefined {
  if (/^[A-Za-z]\w*$/.test(expression)) return expression;
  const [, column, key] = /^([A-Za-z]\w*)\['([\w.-]+)'\]$/.exec(expression) ?? [];
  return column === undefined ? undefined : `${column}.${key}`;
}

/** The other way. */
export function toSqlName(name: string): string {
  const [column = '', ...key] = name.split('.');
  return key.length === 0 ? column : `${column}['${key.join('.')}']`;
}
