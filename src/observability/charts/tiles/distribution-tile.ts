import type { Clock } from '../../../kernel/time/clock.ts';
import { queryError } from '../queries/draft.ts';
import { buildQuery, unknownSource } from '../queries/plan.ts';
import { listPartialBuckets, singleBucket } from '../queries/time-buckets.ts';
import { chooseBins, listBounds, planBins, planValueRange, type Scale } from '../queries/value-bins.ts';
import { chooseBuckets, getZone, type TileView } from '../queries/view.ts';
import type { QueryClient } from '../shared-queries.ts';
import type { TelemetryQueries } from '../telemetry-queries.ts';
import { findEventUnit } from '../units.ts';
import {
  formatSeriesName,
  type HeatmapData,
  type HistogramData,
  type RenderableTile,
  type Series,
} from './tile-data.ts';

const HISTOGRAM_BINS = 30;
const HEATMAP_BINS = 24;

interface Options {
  clock: Clock;
  queries: TelemetryQueries;
}

/** Creates a function that returns how the values of a field are distributed: over the whole range, or by time. */
export function createDistributionTile({ clock, queries }: Options) {
  return async (
    scope: QueryClient,
    tile: RenderableTile,
    series: Series,
    view: TileView,
  ): Promise<HistogramData | HeatmapData> => {
    const path = 'series[0]';
    const isHeatmap = series.type === 'heatmap';
    const resolved = await queries.resolveSource(scope.organizationId, series, unknownSource(path));
    if (resolved.source.kind === 'metric')
      throw queryError(
        `${path}.sourceId`,
        `A ${series.type} of values needs a source of logs or traces, not of metrics`,
      );
    const zone = getZone(view.timezone);
    const nowMs = clock.now();
    const buckets = isHeatmap ? chooseBuckets(view, view, zone) : singleBucket(view);
    const query = buildQuery(scope, series, { buckets, nowMs, top: { groups: 1, withOthers: false }, path }, resolved);
    const range = planValueRange(query);
    const found = range.collect(await queries.queryShared(range.statement, scope));
    const bins = found && chooseBins(found, isHeatmap ? HEATMAP_BINS : HISTOGRAM_BINS, findScale(tile));
    const plan = bins && planBins(query, bins);
    const counts = plan?.collect(await queries.queryShared(plan.statement, scope)) ?? [];
    const bounds = bins ? listBounds(bins) : [];
    const unit = findEventUnit({ ...query, aggFn: 'max' }, resolved.source);
    const frame = { start: buckets.startMs, end: buckets.endMs, timezone: zone.name };
    const shared = {
      name: formatSeriesName({ ...series, aggFn: undefined }),
      ...(unit && { unit }),
      scale: bins?.scale ?? 'linear',
    };
    if (!isHeatmap)
      return {
        type: 'histogram',
        ...frame,
        ...shared,
        count: found?.count ?? 0,
        bins: bounds.map((bound, index) => ({ ...bound, count: counts[index]?.[0] ?? 0 })),
      };
    const partialBuckets = listPartialBuckets(buckets, nowMs);
    return {
      type: 'heatmap',
      mode: 'distribution',
      ...frame,
      ...shared,
      granularity: buckets.granularity ?? '',
      buckets: buckets.starts,
      ...(partialBuckets.length > 0 && { partialBuckets }),
      rows: bounds.map((bound, index) => ({
        ...bound,
        values: buckets.starts.map((start, at) => (start < nowMs ? (counts[index]?.[at] ?? 0) : null)),
      })),
    };
  };
}

/** The scale that the config names. */
function findScale({ config }: RenderableTile): Scale | undefined {
  return Array.isArray(config?.select) ? config.select[0]?.heatmapScaleType : undefined;
}
