import type { Column, Engine } from '../engine/engine.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { MetricDataType, Source } from '../sources/source.ts';
import { CONTENTS_LIMITS, type ColumnContents, planContents } from './column-contents.ts';
import { queryError } from './draft.ts';
import { rejectTooManyBuckets, rejectTooManyPoints } from './limits.ts';
import { planSeries } from './plan.ts';
import { computeRatio, MAX_COMPARED_GROUPS } from './ratio.ts';
import { planSearch } from './search-rows.ts';
import type { Plan, Points, SeriesQuery, TopGroups } from './series-query.ts';
import { createSharedQueries, type QueryClient } from './shared-queries.ts';
import { createSourceResolver, type ResolvedSource } from './source-resolver.ts';
import {
  formatSeriesName,
  type NamedPoints,
  type RenderableTile,
  type Series,
  type TileData,
  toNumberData,
  toTableData,
  toTimeData,
} from './tile-data.ts';
import type { Tile } from './tile-schema.ts';
import {
  chooseGranularity,
  type Granularity,
  type Range,
  singleBucket,
  splitRange,
  type TimeBuckets,
} from './time-buckets.ts';
import { findZone, type Zone } from './zone.ts';

const MEBIBYTE = 2 ** 20;

/** Limits of one statement. */
const LIMITS = {
  maxSeconds: 30,
  maxResultRows: 200_000,
  maxResultBytes: 4 * MEBIBYTE,
  maxMemoryBytes: 400_000_000,
};
/** For all series of a request together. */
const MAX_REQUEST_BYTES = 16 * MEBIBYTE;
const MAX_GROUPS = 250;

/** The range and options with which a tile is viewed. */
export interface TileView extends Range {
  granularity: Granularity | 'auto';
  timezone: string;
  /** The number of separate groups. Defaults to that of the series type. */
  groups?: number | undefined;
  withOthers: boolean;
  /** Rows of a search. */
  limit: number;
}

type SourceColumn = Column & ColumnContents;

interface Options {
  engine: Engine;
  clock: Clock;
  getDashboard(organizationId: string, id: string): Promise<{ tiles: Tile[] }>;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  openTables: readonly string[];
}

export type Charts = ReturnType<typeof createCharts>;

export function createCharts({ engine, clock, getDashboard, findSource, openTables }: Options) {
  const resolveSource = createSourceResolver({ engine, findSource, openTables });
  const queries = createSharedQueries({ engine, clock, limits: LIMITS });

  /** `seriesCount` series share the limit of a request. */
  async function readRows(scope: QueryClient, query: SeriesQuery, seriesCount: number): Promise<SeriesRows> {
    const plan = planSeries(query);
    const maxResultBytes = Math.min(LIMITS.maxResultBytes, Math.floor(MAX_REQUEST_BYTES / seriesCount));
    return { plan, rows: await queries.query(plan.statement, scope, { ...LIMITS, maxResultBytes }) };
  }

  /** Empty if reading the rows takes too long: the columns are useful without their contents. */
  async function readContents(scope: QueryClient, query: SeriesQuery): Promise<ReadonlyMap<string, ColumnContents>> {
    const plan = planContents(query);
    if (!plan) return new Map();
    try {
      return plan.collect(await queries.query(plan.statement, scope, CONTENTS_LIMITS));
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
    const position = { buckets: singleBucket(view), top: { groups: 1, withOthers: false }, path };
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
    const buckets = type === 'time' ? chooseBuckets(view, view.granularity, zone) : singleBucket(view);
    const isRatio = tile.asRatio && tile.series.length === 2;
    const top = chooseTopGroups(type, view);
    const queried: TopGroups = isRatio ? { groups: MAX_COMPARED_GROUPS, withOthers: false } : top;
    const results = await Promise.all(
      tile.series.map(async (series, index) => {
        const path = `series[${index}]`;
        const resolved = await resolveSource(scope.organizationId, series, unknownSource(path));
        const grouped = type === 'number' ? { ...series, groupBy: [] } : series;
        const query = buildQuery(scope, grouped, { buckets, top: queried, path }, resolved);
        return readRows(scope, query, tile.series.length);
      }),
    );
    const points = collectPoints(results, buckets, zone);
    const named = points.map((one, index) => ({ name: formatSeriesName(tile.series[index] as Series), points: one }));
    const shown = isRatio ? [divideSeries(tile, named, top.groups)] : named;
    const frame = { start: buckets.startMs, end: buckets.endMs, timezone: zone.name };
    if (type === 'time') return toTimeData(frame, buckets, shown);
    if (type === 'number') return toNumberData(frame, shown);
    const [first] = tile.series;
    return toTableData(frame, first?.groupBy ?? [], shown, first?.sortOrder ?? 'desc');
  }

  async function renderTile(scope: QueryClient, tile: RenderableTile, view: TileView): Promise<TileData> {
    const [first] = tile.series;
    if (!first) throw new AppError('bad_request', 'The tile has no series');
    if (first.type === 'markdown') return { type: 'markdown', content: first.content ?? '' };
    if (first.type === 'search') return searchTile(scope, first, view);
    return chartTile(scope, tile, first.type, view);
  }

  return {
    /** The points of each series by bucket, or those of the ratio of two series. */
    async querySeries(
      scope: QueryClient,
      list: Series[],
      range: Range,
      { granularity, isRatio }: { granularity: Granularity | 'auto'; isRatio: boolean },
    ): Promise<{ buckets: TimeBuckets; points: Points[] }> {
      const zone = getZone('UTC');
      const buckets = chooseBuckets(range, granularity, zone);
      const top: TopGroups = { groups: isRatio ? MAX_COMPARED_GROUPS : MAX_GROUPS, withOthers: false };
      const results = await Promise.all(
        list.map(async (series, index) => {
          const notFound = () => new AppError('not_found', `Source not found for series ${index}`);
          const resolved = await resolveSource(scope.organizationId, series, notFound);
          const query = buildQuery(scope, series, { buckets, top, path: `series[${index}]` }, resolved);
          return readRows(scope, query, list.length);
        }),
      );
      const points = collectPoints(results, buckets, zone);
      const [first, second] = points;
      if (!isRatio || points.length !== 2 || !first || !second) return { buckets, points };
      return { buckets, points: [computeRatio(first, second, { aggFn: list[0]?.aggFn, groups: MAX_GROUPS })] };
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
      const position = { buckets: singleBucket(range), top: { groups: 1, withOthers: false }, path: 'columns' };
      const query = buildQuery(scope, { ...series, type: 'search' }, position, resolved);
      const contents = await readContents(scope, query);
      return resolved.table.columns.map(({ name, type }) => ({ name, type, ...contents.get(name) }));
    },

    /** The data of a tile of a stored dashboard. */
    async queryTile(scope: QueryClient, dashboardId: string, tileId: string, view: TileView): Promise<TileData> {
      const dashboard = await getDashboard(scope.organizationId, dashboardId);
      const tile = dashboard.tiles.find(({ id }) => id === tileId);
      if (!tile) throw new AppError('not_found', 'Tile not found');
      return renderTile(scope, tile, view);
    },

    /** The data of a tile that is not stored. */
    previewTile: renderTile,
  };
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

type ChartType = Exclude<Series['type'], 'search' | 'markdown'>;

const DEFAULT_GROUPS = { time: 20, table: 100 };

function chooseTopGroups(type: ChartType, { groups, withOthers }: TileView): TopGroups {
  if (type === 'number') return { groups: 1, withOthers: false };
  return { groups: groups ?? DEFAULT_GROUPS[type], withOthers };
}

function buildQuery(
  scope: QueryClient,
  series: Series,
  position: Pick<SeriesQuery, 'buckets' | 'top' | 'path'>,
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

function divideSeries({ series }: RenderableTile, [first, second]: NamedPoints[], groups: number): NamedPoints {
  if (!first || !second) throw new Error('A ratio needs two series');
  return {
    name: series[0]?.alias ?? `${first.name} / ${second.name}`,
    points: computeRatio(first.points, second.points, { aggFn: series[0]?.aggFn, groups }),
  };
}

const unknownSource = (path: string) => (id: string) => queryError(`${path}.sourceId`, `Unknown source ${id}`);

function getZone(name: string): Zone {
  const zone = findZone(name);
  if (!zone) throw queryError('timezone', `Unknown time zone ${name}; use an IANA name such as Europe/Berlin`);
  return zone;
}

function chooseBuckets(range: Range, granularity: Granularity | 'auto', zone: Zone): TimeBuckets {
  const step = granularity === 'auto' ? chooseGranularity(range) : granularity;
  rejectTooManyBuckets(range, granularity, step, zone);
  return splitRange(range, step, zone);
}
