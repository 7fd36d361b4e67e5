import { AppError } from '../../kernel/errors.ts';
import { getAggregation } from './aggregations.ts';
import { queryError } from './queries/draft.ts';
import { buildQuery, planSeries, unknownSource } from './queries/plan.ts';
import { computeRatio } from './queries/ratio.ts';
import type { Points } from './queries/series-query.ts';
import type { TimeBuckets } from './queries/time-buckets.ts';
import type { Series } from './series-schema.ts';
import type { QueryClient } from './shared-queries.ts';
import { STATEMENT_LIMITS, type TelemetryQueries } from './telemetry-queries.ts';

const LIMITS = { ...STATEMENT_LIMITS, maxResultBytes: 16 * 2 ** 20 };

/** The series of a value: the last one, or the ratio of two. */
export interface WindowSeries {
  series: readonly (Series & { filters?: readonly string[] | undefined })[];
  asRatio: boolean;
}

interface WindowValues {
  points: Points;
  /** A window without rows has the value 0. */
  isCount: boolean;
}

export type WindowValueReader = ReturnType<typeof createWindowValues>;

/** Reads the values of consecutive windows with all their groups: the same statements as those of a chart. */
export function createWindowValues({ queries }: { queries: TelemetryQueries }) {
  const plan = (organizationId: string, { series, asRatio }: WindowSeries, buckets: TimeBuckets, groups: number) =>
    Promise.all(
      (asRatio && series.length === 2 ? series : series.slice(-1)).map(async (one) => {
        const path = `series[${series.indexOf(one)}]`;
        const resolved = await queries.resolveSource(organizationId, one, unknownSource(path));
        const position = { buckets, nowMs: buckets.endMs, top: { groups, withOthers: false }, path };
        return {
          aggFn: one.aggFn ?? 'count',
          plan: planSeries(buildQuery({ organizationId }, one, position, resolved)),
        };
      }),
    );

  return {
    /** Throws if the values cannot be read. */
    async check(organizationId: string, series: WindowSeries, buckets: TimeBuckets): Promise<void> {
      await plan(organizationId, series, buckets, 1);
    },

    async read(client: QueryClient, series: WindowSeries, buckets: TimeBuckets, groups: number): Promise<WindowValues> {
      const planned = await plan(client.organizationId, series, buckets, groups);
      const points = await Promise.all(
        planned.map(async (one) => one.plan.collect(await queries.query(one.plan.statement, client, LIMITS))),
      );
      const most = Math.max(...points.map(({ totalGroups }) => totalGroups));
      if (most > groups)
        throw queryError(
          'groupBy',
          `There are ${most} groups; the maximum is ${groups}. Group by something less detailed`,
        );
      const [first, second] = points;
      const aggFn = planned[0]?.aggFn ?? 'count';
      if (!first) throw new AppError('bad_request', 'There is no series to read');
      if (!second) return { points: first, isCount: getAggregation(aggFn).isCount === true };
      return { points: computeRatio(first, second, { aggFn, groups }), isCount: false };
    },
  };
}
