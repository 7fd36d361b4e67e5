import type { MetricDataType } from '../../sources/source.ts';
import type { Series } from '../series-schema.ts';
import type { QueryClient } from '../shared-queries.ts';
import type { ResolvedSource } from '../source-resolver.ts';
import { planExponentialHistogram, planHistogram, planSummary } from './distribution-series.ts';
import { createDraft, type Draft, queryError } from './draft.ts';
import { planEventSeries } from './event-series.ts';
import type { Plan, SeriesQuery } from './series-query.ts';
import { type Range, singleBucket } from './time-buckets.ts';
import { planGauge, planSum } from './value-series.ts';

/** A series of the client's organization, with its resolved table and all defaults. */
export function buildQuery(
  scope: Pick<QueryClient, 'organizationId'>,
  series: Series,
  position: Pick<SeriesQuery, 'buckets' | 'nowMs' | 'top' | 'path'>,
  { table, metricDataType }: ResolvedSource,
): SeriesQuery {
  const aggFn = series.aggFn ?? 'count';
  return { ...series, ...position, organizationId: scope.organizationId, table, metricDataType, aggFn };
}

const PLANNERS: Record<'events' | MetricDataType, (query: SeriesQuery, draft: Draft) => Plan> = {
  events: planEventSeries,
  gauge: planGauge,
  sum: planSum,
  histogram: planHistogram,
  'exponential histogram': planExponentialHistogram,
  summary: planSummary,
};

/** Plans the statement of a series by its kind of data. */
export const planSeries = (query: SeriesQuery): Plan =>
  PLANNERS[query.metricDataType ?? 'events'](query, createDraft(query));

/** For queries that do not aggregate. */
export const rowsIn = (range: Range) => ({
  buckets: singleBucket(range),
  nowMs: range.endMs,
  top: { groups: 1, withOthers: false },
});

export const unknownSource = (path: string) => (id: string) => queryError(`${path}.sourceId`, `Unknown source ${id}`);
