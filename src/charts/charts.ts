import type { Column, Engine } from '../engine/engine.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { MetricDataType, Source } from '../sources/source.ts';
import {
  autoGranularity,
  type Buckets,
  bucketsOf,
  type Granularity,
  MOST_BUCKETS,
  oneBucket,
  type Range,
} from './buckets.ts';
import { CONTENTS_LIMITS, type Contents, planContents } from './column-contents.ts';
import { mistake } from './draft.ts';
import { planSeries } from './plan.ts';
import { COMPARED_GROUPS, ratioOf } from './ratio.ts';
import type { Points, Reading, Top } from './reading.ts';
import { createResolve, type Resolved } from './resolve.ts';
import { planSearch } from './search.ts';
import { createSharedQueries, type QueryClient } from './shared-queries.ts';
import { type Drawable, nameOf, type Series, type TileData, toTileData } from './tile-data.ts';
import type { Tile } from './tile-schema.ts';
import { findZone, type Zone } from './zone.ts';

/** What one statement for a tile may use up. */
const LIMITS = { maxSeconds: 30, maxResultRows: 200_000, maxMemoryBytes: 400_000_000 };

export interface Caller extends QueryClient {
  organizationId: string;
}

export interface View extends Range {
  granularity: Granularity | 'auto';
  timezone: string;
  /** How many groups are told apart; left out: what suits the tile. */
  groups?: number | undefined;
  withOthers: boolean;
  /** Of a search. */
  limit: number;
}

type SourceColumn = Column & Contents;

interface Options {
  engine: Engine;
  clock: Clock;
  getDashboard(organizationId: string, id: string): Promise<{ tiles: Tile[] }>;
  findSource(organizationId: string, id: string): Promise<Source | undefined>;
  openTables: readonly string[];
}

export type Charts = ReturnType<typeof createCharts>;

export function createCharts({ engine, clock, getDashboard, findSource, openTables }: Options) {
  const resolve = createResolve({ engine, findSource, openTables });
  const queries = createSharedQueries({ engine, clock, limits: LIMITS });

  async function read(caller: Caller, reading: Reading): Promise<Points> {
    const plan = planSeries(reading);
    return plan.collect(await queries.query(plan.statement, caller));
  }

  function readingOf(
    caller: Caller,
    series: Series,
    at: Pick<Reading, 'buckets' | 'top' | 'path'>,
    from: Resolved,
  ): Reading {
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
  async function readContents(caller: Caller, reading: Reading): Promise<ReadonlyMap<string, Contents>> {
    const plan = planContents(reading);
    if (!plan) return new Map();
    try {
      return plan.collect(await queries.query(plan.statement, caller, CONTENTS_LIMITS));
    } catch (error) {
      if (error instanceof AppError && error.code === 'bad_request') return new Map();
      throw error;
    }
  }

  async function searchTile(caller: Caller, series: Series, view: View): Promise<TileData> {
    const path = 'series[0]';
    const buckets = oneBucket(view);
    const from = await resolve(caller.organizationId, series, missingInTile(path));
    if (from.source.kind === 'metric')
      throw mistake(`${path}.sourceId`, 'A search reads logs or traces, not a metric source');
    const reading = readingOf(caller, series, { buckets, top: { groups: 1, withOthers: false }, path }, from);
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
      caller: Caller,
      list: Series[],
      range: Range,
      { granularity, isRatio }: { granularity: Granularity | 'auto'; isRatio: boolean },
    ): Promise<{ buckets: Buckets; points: Points[] }> {
      const buckets = chosenBuckets(range, granularity, zoneOf('UTC'));
      const top: Top = { groups: isRatio ? COMPARED_GROUPS : MOST_GROUPS, withOthers: false };
      const points = await Promise.all(
        list.map(async (series, index) => {
          const missing = () => new AppError('not_found', `Source not found for series ${index}`);
          const from = await resolve(caller.organizationId, series, missing);
          return read(caller, readingOf(caller, series, { buckets, top, path: `series[${index}]` }, from));
        }),
      );
      const [first, second] = points;
      if (!isRatio || points.length !== 2 || !first || !second) return { buckets, points };
      return { buckets, points: [ratioOf(first, second, { aggFn: list[0]?.aggFn, groups: MOST_GROUPS })] };
    },

    /** What a series may name: the columns that the engine has, and the keys of maps and names of metrics that the range holds. */
    async columns(
      caller: Caller,
      sourceId: string,
      { metricDataType, ...range }: Range & { metricDataType: MetricDataType | undefined },
    ): Promise<SourceColumn[]> {
      const series = { sourceId, metricDataType, where: '', whereLanguage: 'lucene' as const, groupBy: [] };
      const from = await resolve(caller.organizationId, series, () => new AppError('not_found', 'Source not found'));
      const at = { buckets: oneBucket(range), top: { groups: 1, withOthers: false }, path: 'columns' };
      const contents = await readContents(caller, readingOf(caller, { ...series, type: 'search' }, at, from));
      return from.table.columns.map(({ name, type }) => ({ name, type, ...contents.get(name) }));
    },

    /** One tile of a stored dashboard, as it is drawn. */
    async tile(caller: Caller, dashboardId: string, tileId: string, view: View): Promise<TileData> {
      const dashboard = await getDashboard(caller.organizationId, dashboardId);
      const tile = dashboard.tiles.find(({ id }) => id === tileId);
      if (!tile) throw new AppError('not_found', 'Tile not found');
      return this.draw(caller, tile, view);
    },

    /** Any tile, stored or not. */
    async draw(caller: Caller, tile: Drawable, view: View): Promise<TileData> {
      const [first] = tile.series;
      if (!first) throw new AppError('bad_request', 'The tile has no series');
      if (first.type === 'markdown') return { type: 'markdown', content: first.content ?? '' };
      if (first.type === 'search') return searchTile(caller, first, view);
      const zone = zoneOf(view.timezone);
      const buckets = first.type === 'time' ? chosenBuckets(view, view.granularity, zone) : oneBucket(view);
      const isRatio = tile.asRatio && tile.series.length === 2;
      const groups = first.type === 'number' ? 1 : (view.groups ?? GROUPS_OF[first.type]);
      const top: Top = isRatio
        ? { groups: COMPARED_GROUPS, withOthers: false }
        : { groups, withOthers: view.withOthers && first.type !== 'number' };
      const named = await Promise.all(
        tile.series.map(async (series, index) => {
          const path = `series[${index}]`;
          const from = await resolve(caller.organizationId, series, missingInTile(path));
          const grouped = first.type === 'number' ? { ...series, groupBy: [] } : series;
          return {
            name: nameOf(series),
            points: await read(caller, readingOf(caller, grouped, { buckets, top, path }, from)),
          };
        }),
      );
      const shown = isRatio ? [asRatio(tile, named, groups)] : named;
      const drawn = { start: buckets.startMs, end: buckets.endMs, timezone: zone.name };
      return toTileData(first, drawn, buckets, shown);
    },
  };
}

const MOST_GROUPS = 250;
const GROUPS_OF = { time: 20, table: 100 };

interface Named {
  name: string;
  points: Points;
}

function asRatio({ series }: Drawable, [first, second]: Named[], groups: number): Named {
  if (!first || !second) throw new Error('a ratio has two series');
  return {
    name: series[0]?.alias ?? `${first.name} / ${second.name}`,
    points: ratioOf(first.points, second.points, { aggFn: series[0]?.aggFn, groups }),
  };
}

const missingInTile = (path: string) => (id: string) => mistake(`${path}.sourceId`, `There is no source ${id}`);

function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (!zone) throw mistake('timezone', `There is no time zone ${name}; use a name such as Europe/Berlin`);
  return zone;
}

function chosenBuckets(range: Range, granularity: Granularity | 'auto', zone: Zone): Buckets {
  const buckets = bucketsOf(range, granularity === 'auto' ? autoGranularity(range) : granularity, zone);
  if (buckets.starts.length > MOST_BUCKETS)
    throw mistake(
      'granularity',
      `${granularity} cuts this range into ${buckets.starts.length} buckets; ${MOST_BUCKETS} are the most`,
    );
  return buckets;
}
