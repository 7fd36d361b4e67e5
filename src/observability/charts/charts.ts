import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Zone } from '../../kernel/time/zone.ts';
import type { Column } from '../../platform/engine/engine.ts';
import type { MetricDataType } from '../sources/source.ts';
import { CONTENTS_LIMITS, type ColumnContents, planContents } from './column-contents.ts';
import type { TileFilter } from './filter-schema.ts';
import { rejectTooManyPoints } from './limits.ts';
import { createMetricUnits } from './metric-units.ts';
import { queryError } from './queries/draft.ts';
import { buildQuery, planSeries, rowsIn, unknownSource } from './queries/plan.ts';
import { computeRatio, MAX_COMPARED_GROUPS } from './queries/ratio.ts';
import { planSearch } from './queries/search-rows.ts';
import type { Plan, Points, SeriesQuery, TopGroups } from './queries/series-query.ts';
import {
  listPartialBuckets,
  type PartialBucket,
  type Range,
  singleBucket,
  type TimeBuckets,
} from './queries/time-buckets.ts';
import { type BucketChoice, chooseBuckets, chooseExactBuckets, getZone, type TileView } from './queries/view.ts';
import type { QueryClient } from './shared-queries.ts';
import type { ResolvedSource } from './source-resolver.ts';
import { STATEMENT_LIMITS, type TelemetryQueries } from './telemetry-queries.ts';
import { isDistributionSeries } from './tiles/config.ts';
import { findUnsupportedMember } from './tiles/config-rules.ts';
import { createDistributionTile } from './tiles/distribution-tile.ts';
import { chooseEmptyValue, fillCounts } from './tiles/empty-counts.ts';
import {
  chooseOrders,
  formatSeriesName,
  type NamedPoints,
  type RenderableTile,
  type Series,
  type TileData,
  toHeatmapData,
  toNumberData,
  toPartsData,
  toTableData,
  toTimeData,
} from './tiles/tile-data.ts';
import { applyFilters } from './tiles/tile-filters.ts';
import type { Tile } from './tiles/tile-schema.ts';
import { findEventUnit } from './units.ts';

/** For all series of a request together. */
const MAX_REQUEST_BYTES = 16 * 2 ** 20;
const MAX_GROUPS = 250;

type SourceColumn = Column & ColumnContents;

interface Options {
  clock: Clock;
  queries: TelemetryQueries;
  getDashboard(organizationId: string, id: string): Promise<{ tiles: Tile[] }>;
}

export type Charts = ReturnType<typeof createCharts>;

export function createCharts({ clock, queries, getDashboard }: Options) {
  const { resolveSource } = queries;
  const readMetricUnit = createMetricUnits({ query: queries.queryShared });
  const distributionTile = createDistributionTile({ clock, queries });

  /** `seriesCount` series share the limit of a request. */
  async function readRows(scope: QueryClient, query: SeriesQuery, seriesCount: number): Promise<SeriesRows> {
    const plan = planSeries(query);
    const maxResultBytes = Math.min(STATEMENT_LIMITS.maxResultBytes, Math.floor(MAX_REQUEST_BYTES / seriesCount));
    return { plan, rows: await queries.queryShared(plan.statement, scope, { ...STATEMENT_LIMITS, maxResultBytes }) };
  }

  const readUnit = async (scope: QueryClient, query: SeriesQuery, { source }: ResolvedSource) =>
    query.metricDataType === undefined ? findEventUnit(query, source) : readMetricUnit(query, scope);

  /** Empty if reading the rows takes too long: the columns are useful without their contents. */
  async function readContents(scope: QueryClient, query: SeriesQuery): Promise<ReadonlyMap<string, ColumnContents>> {
    const plan = planContents(query);
    if (!plan) return new Map();
    try {
      return plan.collect(await queries.queryShared(plan.statement, scope, CONTENTS_LIMITS));
    } catch (error) {
      if (error instanceof AppError && error.code === 'bad_request') return new Map();
      throw error;
    }
  }

  async function searchTile(scope: QueryClient, series: Series, view: TileView): Promise<TileData> {
    const path = 'series[0]';
    const resolved = await resolveSource(scope.organizationId, series, unknownSource(path));
    if (resolved.source.kind === 'metric')
      throw queryError(`${path}.sourceId`, 'A search needs a source of logs or traces, not of metrics');
    const position = { ...rowsIn(view), path };
    const query = buildQuery(scope, series, position, resolved);
    const plan = planSearch(query, series.fields ?? [], resolved.source, view.limit);
    const rows = await queries.query(plan.statement, scope);
    return {
      type: 'search',
      start: view.startMs,
      end: view.endMs,
      timezone: view.timezone,
      columns: plan.columns.map((name) => ({ name })),
      ...plan.collect(rows),
    };
  }

  async function chartTile(
    scope: QueryClient,
    tile: RenderableTile,
    type: ChartType,
    view: TileView,
  ): Promise<TileData> {
    const zone = getZone(view.timezone);
    const nowMs = clock.now();
    const buckets = hasBuckets(type) ? chooseBuckets(view, view, zone) : singleBucket(view);
    const isRatio = tile.asRatio && tile.series.length === 2;
    const top = chooseTopGroups(type, view, tile);
    const queried: TopGroups = isRatio ? { groups: MAX_COMPARED_GROUPS, withOthers: false } : top;
    const results = await Promise.all(
      tile.series.map(async (series, index) => {
        const path = `series[${index}]`;
        const resolved = await resolveSource(scope.organizationId, series, unknownSource(path));
        const grouped = type === 'number' ? { ...series, groupBy: [] } : series;
        const query = buildQuery(scope, grouped, { buckets, nowMs, top: queried, path }, resolved);
        const [rows, unit] = await Promise.all([
          readRows(scope, query, tile.series.length),
          isRatio ? undefined : readUnit(scope, query, resolved),
        ]);
        return { ...rows, unit };
      }),
    );
    const points = collectPoints(results, buckets, zone);
    const named = points.map((one, index): NamedPoints => {
      const series = tile.series[index] as Series;
      const filled = isRatio ? one : fillCounts(one, series.aggFn, buckets, nowMs);
      const empty = isRatio ? null : chooseEmptyValue(series.aggFn);
      return { name: formatSeriesName(series), unit: results[index]?.unit, empty, points: filled };
    });
    const shown = isRatio ? [divideSeries(tile, named, top.groups)] : named;
    const frame = { start: buckets.startMs, end: buckets.endMs, timezone: zone.name };
    const partialBuckets = listPartialBuckets(buckets, nowMs);
    if (type === 'time') return toTimeData(frame, buckets, shown, partialBuckets);
    if (type === 'heatmap') return toHeatmapData(frame, buckets, shown, partialBuckets);
    if (type === 'number') return toNumberData(frame, shown);
    if (type === 'pie' || type === 'bar') return toPartsData(frame, type, shown);
    return toTableData(frame, tile.series[0]?.groupBy ?? [], shown, chooseOrders(tile, isRatio));
  }

  /** Filters are those of the viewer. */
  async function renderTile(
    scope: QueryClient,
    given: RenderableTile,
    view: TileView,
    filters: readonly TileFilter[] = [],
  ): Promise<TileData> {
    if (filters.length === 0 || given.series[0]?.type === 'markdown') return renderWithout(scope, given, view);
    const resolved = await Promise.all(
      given.series.map((series, index) =>
        resolveSource(scope.organizationId, series, unknownSource(`series[${index}]`)),
      ),
    );
    const { tile, unapplied } = applyFilters(
      given,
      filters,
      resolved.map(({ table }) => table),
    );
    const data = await renderWithout(scope, tile, view);
    return unapplied.length === 0 || data.type === 'markdown' ? data : { ...data, unappliedFilters: unapplied };
  }

  async function renderWithout(scope: QueryClient, tile: RenderableTile, view: TileView): Promise<TileData> {
    const [first] = tile.series;
    if (!first) throw new AppError('bad_request', 'The tile has no series');
    if (first.type === 'markdown') return { type: 'markdown', content: first.content ?? '' };
    const unsupported = tile.config && findUnsupportedMember(tile.config);
    if (unsupported !== undefined)
      throw queryError(
        `config.${unsupported}`,
        'The server stores this member, but cannot apply it, so the tile has no data',
      );
    if (first.type === 'search') return searchTile(scope, first, view);
    if (first.type === 'histogram' || isDistributionSeries(first)) return distributionTile(scope, tile, first, view);
    return chartTile(scope, tile, first.type, view);
  }

  return {
    /** The points of each series by bucket, or those of the ratio of two series. The end of the range is inclusive. */
    async querySeries(
      scope: QueryClient,
      list: Series[],
      { startMs, lastMs }: { startMs: number; lastMs: number },
      { isRatio, ...choice }: BucketChoice & { isRatio: boolean },
    ): Promise<ChartSeries> {
      const zone = getZone('UTC');
      const nowMs = clock.now();
      const buckets = chooseExactBuckets(startMs, lastMs, choice, zone);
      const partialBuckets = listPartialBuckets(buckets, nowMs);
      const top: TopGroups = { groups: isRatio ? MAX_COMPARED_GROUPS : MAX_GROUPS, withOthers: false };
      const results = await Promise.all(
        list.map(async (series, index) => {
          const notFound = () => new AppError('not_found', `Source not found for series ${index}`);
          const resolved = await resolveSource(scope.organizationId, series, notFound);
          const query = buildQuery(scope, series, { buckets, nowMs, top, path: `series[${index}]` }, resolved);
          return readRows(scope, query, list.length);
        }),
      );
      const points = collectPoints(results, buckets, zone);
      const [first, second] = points;
      if (!isRatio || points.length !== 2 || !first || !second) return { buckets, partialBuckets, points };
      const ratio = computeRatio(first, second, { aggFn: list[0]?.aggFn, groups: MAX_GROUPS });
      return { buckets, partialBuckets, points: [ratio] };
    },

    /** The columns of a source, with the map keys and metric names that occur in the range. */
    async listColumns(
      scope: QueryClient,
      sourceId: string,
      { metricDataType, ...range }: Range & { metricDataType: MetricDataType | undefined },
    ): Promise<SourceColumn[]> {
      const series = { sourceId, metricDataType, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
      const notFound = () => new AppError('not_found', 'Source not found');
      const resolved = await resolveSource(scope.organizationId, series, notFound);
      const query = buildQuery(scope, { ...series, type: 'search' }, { ...rowsIn(range), path: 'columns' }, resolved);
      const contents = await readContents(scope, query);
      return resolved.table.columns.map(({ name, type }) => ({ name, type, ...contents.get(name) }));
    },

    /** The data of a tile of a stored dashboard. */
    async queryTile(
      scope: QueryClient,
      dashboardId: string,
      tileId: string,
      view: TileView,
      filters: readonly TileFilter[] = [],
    ): Promise<TileData> {
      const dashboard = await getDashboard(scope.organizationId, dashboardId);
      const tile = dashboard.tiles.find(({ id }) => id === tileId);
      if (!tile) throw new AppError('not_found', 'Tile not found');
      return renderTile(scope, tile, view, filters);
    },

    /** The data of a tile that is not stored. */
    previewTile: renderTile,
  };
}

interface ChartSeries {
  buckets: TimeBuckets;
  partialBuckets: PartialBucket[];
  points: Points[];
}

interface SeriesRows {
  plan: Plan;
  rows: unknown[][];
}

/** Counts the points of all series before any of them is allocated. */
function collectPoints(results: SeriesRows[], buckets: TimeBuckets, zone: Zone): Points[] {
  const groups = results.reduce((sum, { plan, rows }) => sum + plan.countGroups(rows), 0);
  rejectTooManyPoints(buckets, groups, zone);
  return results.map(({ plan, rows }) => plan.collect(rows));
}

type ChartType = Exclude<Series['type'], 'search' | 'markdown' | 'histogram'>;

const hasBuckets = (type: ChartType): boolean => type === 'time' || type === 'heatmap';

const DEFAULT_GROUPS = { time: 20, table: 100, pie: 12, bar: 20, heatmap: 20 };

/** The request decides, then the config of the tile. The slices of a pie are the whole, so it always has the others. */
function chooseTopGroups(type: ChartType, { groups, withOthers }: TileView, { config }: RenderableTile): TopGroups {
  if (type === 'number') return { groups: 1, withOthers: false };
  const limit = type === 'pie' || type === 'bar' ? config?.limit : config?.seriesLimit;
  return { groups: groups ?? limit ?? DEFAULT_GROUPS[type], withOthers: withOthers || type === 'pie' };
}

function divideSeries({ series }: RenderableTile, [first, second]: NamedPoints[], groups: number): NamedPoints {
  if (!first || !second) throw new Error('A ratio needs two series');
  return {
    name: series[0]?.alias ?? `${first.name} / ${second.name}`,
    empty: null,
    points: computeRatio(first.points, second.points, { aggFn: series[0]?.aggFn, groups }),
  };
}
