import type { Column, Engine } from '../engine/engine.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { MetricDataType, Source } from '../sources/source.ts';
import { CONTENTS_LIMITS, type ColumnContents, planContents } from './column-contents.ts';
import { queryError } from './draft.ts';
import { planSeries } from './plan.ts';
import { computeRatio, MAX_COMPARED_GROUPS } from './ratio.ts';
import { planSearch } from './search-rows.ts';
import type { Points, SeriesQuery, TopGroups } from './series-query.ts';
import { createSharedQueries, type QueryClient } from './shared-queries.ts';
import { createSourceResolver, type ResolvedSource } from './source-resolver.ts';
import {
  formatSeriesName,
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
  MAX_BUCKETS,
  type Range,
  singleBucket,
  splitRange,
  type TimeBuckets,
} from './time-buckets.ts';
import { findZone, type Zone } from './zone.ts';

/** What one statement for a tile may use up. */
const LIMITS = { maxSeconds: 30, maxResultRows: 200_000, maxMemoryBytes: 400_000_000 };

export interface QueryScope extends QueryClient {
  organizationId: string;
}

export interface TileView extends Range {
  granularity: Granularity | 'auto';
  timezone: string;
  /** How many groups are told apart; left out: what suits the tile. */
  groups?: number | undefined;
  withOthers: boolean;
  /** Of a search. */
  limit: number;
}

export type SourceColumn = Column & ColumnContents;

interface Options {
  engine: Engine;
  clock: Clock;
  getDashboard(organizationId: string, id: string): Promise<{ tiles: Tile[] }>;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  openTables: readonly string[];
}

export type Charts = ReturnType<typeof createCharts>;

export function createCharts({ engine, clock, getDashboard, findSource, openTables }: Options) {
  const resolve = createSourceResolver({ engine, findSource, openTables });
  const queries = createSharedQueries({ engine, clock, limits: LIMITS });

  async function read(caller: QueryScope, reading: SeriesQuery): Promise<Points> {
    const plan = planSeries(reading);
    return plan.collect(await queries.query(plan.statement, caller));
  }

  function buildQuery(
    caller: QueryScope,
    series: Series,
    at: Pick<SeriesQuery, 'buckets' | 'top' | 'path'>,
    from: ResolvedSource,
  ): SeriesQuery {
    return {
      ...at,
      organizationId: caller.organizationId,
      table: from.table,
      metricDataType: from.metricDataType,
      metricName: series.metricName,
      aggFn: series.aggFn ?? 'count',
      level: series.level,
      field: series.field,
      where: series.where,
      whereLanguage: series.whereLanguage,
      groupBy: series.groupBy,
    };
  }

  /** None where the rows are too many to look through in time: the columns are worth having without. */
  async function readContents(caller: QueryScope, reading: SeriesQuery): Promise<ReadonlyMap<string, ColumnContents>> {
    const plan = planContents(reading);
    if (!plan) return new Map();
    try {
      return plan.collect(await queries.query(plan.statement, caller, CONTENTS_LIMITS));
    } catch (error) {
      if (error instanceof AppError && error.code === 'bad_request') return new Map();
      throw error;
    }
  }

  async function searchTile(caller: QueryScope, series: Series, view: TileView): Promise<TileData> {
    const path = 'series[0]';
    const buckets = singleBucket(view);
    const from = await resolve(caller.organizationId, series, unknownSource(path));
    if (from.source.kind === 'metric')
      throw queryError(`${path}.sourceId`, 'A search reads logs or traces, not a metric source');
    const reading = buildQuery(caller, series, { buckets, top: { groups: 1, withOthers: false }, path }, from);
    const plan = planSearch(reading, series.fields ?? [], from.source, view.limit);
    const rows = await queries.query(plan.statement, caller);
    return {
      type: 'search',
      start: view.startMs,
      end: view.endMs,
      timezone: view.timezone,
      columns: plan.columns.map((name) => ({ name })),
      rows,
    };
  }

  return {
    /** Points of each series by bucket; of their ratio, where it is asked for and there are two. */
    async series(
      caller: QueryScope,
      list: Series[],
      range: Range,
      { granularity, isRatio }: { granularity: Granularity | 'auto'; isRatio: boolean },
    ): Promise<{ buckets: TimeBuckets; points: Points[] }> {
      const buckets = chooseBuckets(range, granularity, getZone('UTC'));
      const top: TopGroups = { groups: isRatio ? MAX_COMPARED_GROUPS : MAX_GROUPS, withOthers: false };
      const points = await Promise.all(
        list.map(async (series, index) => {
          const missing = () => new AppError('not_found', `Source not found for series ${index}`);
          const from = await resolve(caller.organizationId, series, missing);
          return read(caller, buildQuery(caller, series, { buckets, top, path: `series[${index}]` }, from));
        }),
      );
      const [first, second] = points;
      if (!isRatio || points.length !== 2 || !first || !second) return { buckets, points };
      return { buckets, points: [computeRatio(first, second, { aggFn: list[0]?.aggFn, groups: MAX_GROUPS })] };
    },

    /** What a series may name: the columns that the engine has, and the keys of maps and names of metrics that the range holds. */
    async columns(
      caller: QueryScope,
      sourceId: string,
      { metricDataType, ...range }: Range & { metricDataType: MetricDataType | undefined },
    ): Promise<SourceColumn[]> {
      const series = { sourceId, metricDataType, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
      const from = await resolve(caller.organizationId, series, () => new AppError('not_found', 'Source not found'));
      const at = { buckets: singleBucket(range), top: { groups: 1, withOthers: false }, path: 'columns' };
      const contents = await readContents(caller, buildQuery(caller, { ...series, type: 'search' }, at, from));
      return from.table.columns.map(({ name, type }) => ({ name, type, ...contents.get(name) }));
    },

    /** One tile of a stored dashboard, as it is drawn. */
    async tile(caller: QueryScope, dashboardId: string, tileId: string, view: TileView): Promise<TileData> {
      const dashboard = await getDashboard(caller.organizationId, dashboardId);
      const tile = dashboard.tiles.find(({ id }) => id === tileId);
      if (!tile) throw new AppError('not_found', 'Tile not found');
      return this.draw(caller, tile, view);
    },

    /** Any tile, stored or not. */
    async draw(caller: QueryScope, tile: RenderableTile, view: TileView): Promise<TileData> {
      const [first] = tile.series;
      if (!first) throw new AppError('bad_request', 'The tile has no series');
      if (first.type === 'markdown') return { type: 'markdown', content: first.content ?? '' };
      if (first.type === 'search') return searchTile(caller, first, view);
      const zone = getZone(view.timezone);
      const buckets = first.type === 'time' ? chooseBuckets(view, view.granularity, zone) : singleBucket(view);
      const isRatio = tile.asRatio && tile.series.length === 2;
      const groups = first.type === 'number' ? 1 : (view.groups ?? DEFAULT_GROUPS[first.type]);
      const top: TopGroups = isRatio
        ? { groups: MAX_COMPARED_GROUPS, withOthers: false }
        : { groups, withOthers: view.withOthers && first.type !== 'number' };
      const named = await Promise.all(
        tile.series.map(async (series, index) => {
          const path = `series[${index}]`;
          const from = await resolve(caller.organizationId, series, unknownSource(path));
          const grouped = first.type === 'number' ? { ...series, groupBy: [] } : series;
          return {
            name: formatSeriesName(series),
            points: await read(caller, buildQuery(caller, grouped, { buckets, top, path }, from)),
          };
        }),
      );
      const shown = isRatio ? [divideSeries(tile, named, groups)] : named;
      const drawn = { start: buckets.startMs, end: buckets.endMs, timezone: zone.name };
      if (first.type === 'time') return toTimeData(drawn, buckets, shown);
      if (first.type === 'number') return toNumberData(drawn, shown);
      return toTableData(drawn, first.groupBy, shown, first.sortOrder ?? 'desc');
    },
  };
}

const MAX_GROUPS = 250;
const DEFAULT_GROUPS = { time: 20, table: 100 };

interface Named {
  name: string;
  points: Points;
}

function divideSeries({ series }: RenderableTile, [first, second]: Named[], groups: number): Named {
  if (!first || !second) throw new Error('a ratio has two series');
  return {
    name: series[0]?.alias ?? `${first.name} / ${second.name}`,
    points: computeRatio(first.points, second.points, { aggFn: series[0]?.aggFn, groups }),
  };
}

const unknownSource = (path: string) => (id: string) => queryError(`${path}.sourceId`, `There is no source ${id}`);

function getZone(name: string): Zone {
  const zone = findZone(name);
  if (!zone) throw queryError('timezone', `There is no time zone ${name}; use a name such as Europe/Berlin`);
  return zone;
}

function chooseBuckets(range: Range, granularity: Granularity | 'auto', zone: Zone): TimeBuckets {
  const buckets = splitRange(range, granularity === 'auto' ? chooseGranularity(range) : granularity, zone);
  if (buckets.starts.length > MAX_BUCKETS)
    throw queryError(
      'granularity',
      `${granularity} cuts this range into ${buckets.starts.length} buckets; ${MAX_BUCKETS} are the most`,
    );
  return buckets;
}
