import { AppError } from '../../kernel/errors.ts';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { queryError } from '../charts/queries/draft.ts';
import { rowsIn } from '../charts/queries/plan.ts';
import type { SeriesQuery } from '../charts/queries/series-query.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { ResolvedSource } from '../charts/source-resolver.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import { parseMoment, rejectEmptyRange } from '../charts/time-range.ts';
import type { Matching } from './schema.ts';

const DEFAULT_RANGE_MS = 15 * MINUTE_MS;

interface RangeInput {
  startTime?: string | undefined;
  endTime?: string | undefined;
}

/** Defaults to the last 15 minutes. */
export function parseRange(now: number, { startTime, endTime }: RangeInput): Range {
  const endMs = endTime === undefined ? now : parseMoment('endTime', endTime);
  const startMs = startTime === undefined ? endMs - DEFAULT_RANGE_MS : parseMoment('startTime', startTime);
  rejectEmptyRange('startTime', startMs, endMs);
  return { startMs, endMs };
}

/** Finds a source of logs or traces. */
export async function resolveEvents(
  { resolveSource }: TelemetryQueries,
  organizationId: string,
  sourceId: string,
): Promise<ResolvedSource> {
  const resolved = await resolveSource(
    organizationId,
    { sourceId },
    () => new AppError('not_found', 'Source not found'),
  );
  if (resolved.source.kind === 'metric')
    throw queryError('sourceId', 'A search needs a source of logs or traces, not of metrics');
  return resolved;
}

export const toQuery = (
  organizationId: string,
  { table }: Pick<ResolvedSource, 'table'>,
  { where = '', whereLanguage = 'lucene', filters = [] }: Matching,
  range: Range,
): SeriesQuery => ({
  ...rowsIn(range),
  organizationId,
  table,
  aggFn: 'count',
  where,
  whereLanguage,
  filters: filters.map(({ condition }) => condition),
  groupBy: [],
  path: '',
});

/** The columns that a source shows by default. */
export const defaultSelect = ({ source, table }: ResolvedSource): string =>
  source.defaultTableSelectExpression ?? table.timeColumn;
