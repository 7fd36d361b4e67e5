import type { Series } from '../series-schema.ts';
import type { QueryClient } from '../shared-queries.ts';
import type { ResolvedSource } from '../source-resolver.ts';
import { queryError } from './draft.ts';
import type { SeriesQuery } from './series-query.ts';
import { type Range, singleBucket } from './time-buckets.ts';

/** A series of the client's organization, with its resolved table and all defaults. */
export function buildQuery(
  scope: QueryClient,
  series: Series,
  position: Pick<SeriesQuery, 'buckets' | 'nowMs' | 'top' | 'path'>,
  { table, metricDataType }: ResolvedSource,
): SeriesQuery {
  return {
    ...position,
    organizationId: scope.organizationId,
    table,
    metricDataType,
    metricName: series.metricName,
    aggFn: series.aggFn ?? 'count',
    level: series.level,
    field: series.field,
    where: series.where,
    whereLanguage: series.whereLanguage,
    groupBy: series.groupBy,
  };
}

/** For queries that do not aggregate. */
export const rowsIn = (range: Range) => ({
  buckets: singleBucket(range),
  nowMs: range.endMs,
  top: { groups: 1, withOthers: false },
});

export const unknownSource = (path: string) => (id: string) => queryError(`${path}.sourceId`, `Unknown source ${id}`);
