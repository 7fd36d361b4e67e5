import { AppError } from '../../../kernel/errors.ts';
import type { Points } from '../../charts/queries/series-query.ts';
import { createEvenBuckets } from '../../charts/queries/time-buckets.ts';
import type { QueryClient } from '../../charts/shared-queries.ts';
import type { Tile } from '../../charts/tiles/tile-schema.ts';
import type { WindowSeries, WindowValueReader } from '../../charts/window-values.ts';
import type { SavedSearchContent } from '../../search/saved/saved-search.ts';
import type { AlertContent } from '../alert.ts';
import type { ConditionReaders } from '../conditions.ts';
import type { GroupValue } from '../judgment.ts';
import type { Windows } from '../windows.ts';

/** More groups make an alert fail: only the largest could be judged. */
export const MAX_GROUPS = 10_000;
export const tooManyGroups = (): AppError =>
  new AppError(
    'bad_request',
    `More than ${MAX_GROUPS} groups had rows within a day. Group by something less detailed`,
    { field: 'groupBy' },
  );
/** Windows of one statement with groups, and without. */
const STEP_WINDOWS = { grouped: 10, single: 1500 };

interface Options {
  windowValues: WindowValueReader;
  conditions: ConditionReaders;
  getTile(organizationId: string, dashboardId: string, tileId: string): Promise<Tile>;
  getSavedSearch(organizationId: string, id: string): Promise<SavedSearchContent>;
}

/** The values of consecutive windows of an alert: one list of groups per window. */
interface AlertValues {
  /** What the labels of a group are values of. */
  groupBy: readonly string[];
  isCount: boolean;
  /** A group that is not listed does not exist. */
  isComplete: boolean;
  windows: readonly (readonly GroupValue[])[];
}

export type AlertValueReader = ReturnType<typeof createAlertValues>;

export function createAlertValues({ windowValues, conditions, getTile, getSavedSearch }: Options) {
  async function resolveSeries(organizationId: string, content: AlertContent): Promise<WindowSeries> {
    if (content.source === 'tile')
      return toTileSeries(await getTile(organizationId, content.dashboardId ?? '', content.tileId ?? ''));
    const groupBy = content.groupBy === null ? [] : [content.groupBy];
    if (content.source === 'metric' && content.metric)
      return {
        asRatio: false,
        series: [{ where: '', whereLanguage: 'lucene', ...content.metric, type: 'time', groupBy }],
      };
    return toSearchSeries(await getSavedSearch(organizationId, content.savedSearchId ?? ''), groupBy);
  }

  async function* readSeries(
    client: QueryClient,
    windowSeries: WindowSeries,
    { startMs, stepMs, count }: Windows,
    groupedWindows: number,
  ): AsyncGenerator<AlertValues> {
    const groupBy = windowSeries.series.at(-1)?.groupBy ?? [];
    const step = groupBy.length > 0 ? groupedWindows : STEP_WINDOWS.single;
    for (let first = 0; first < count; first += step) {
      const buckets = createEvenBuckets(startMs + first * stepMs, stepMs, Math.min(step, count - first));
      const { points, isCount } = await windowValues.read(client, windowSeries, buckets, MAX_GROUPS);
      const windows = buckets.starts.map((_, index) => listValues(points, index));
      yield { groupBy, isCount, isComplete: false, windows };
    }
  }

  return {
    resolveSeries,

    /**
     * In parts, so that few values are in memory. `groupedWindows`: windows of a part if there are groups; more are
     * faster, but fewer groups fit.
     */
    async *read(
      client: QueryClient,
      content: AlertContent,
      windows: Windows,
      groupedWindows = STEP_WINDOWS.grouped,
    ): AsyncGenerator<AlertValues> {
      const { source, condition } = content;
      if (source !== 'condition' || condition === null) {
        yield* readSeries(client, await resolveSeries(client.organizationId, content), windows, groupedWindows);
        return;
      }
      // The state of resources is known for now only.
      const endMs = windows.startMs + windows.count * windows.stepMs;
      const values = await conditions[condition](client.organizationId, { startMs: endMs - windows.stepMs, endMs });
      if (values.length > MAX_GROUPS)
        throw new AppError('bad_request', `There are ${values.length} resources; the maximum is ${MAX_GROUPS}`);
      const groups = values.map(({ label, value }) => ({ labels: [label], value }));
      yield {
        groupBy: [condition],
        isCount: false,
        isComplete: true,
        windows: Array.from({ length: windows.count }, () => groups),
      };
    },
  };
}

/** A group without a value in this window is left out, as if it had no rows. */
function listValues({ groups }: Points, index: number): GroupValue[] {
  const list: GroupValue[] = [];
  for (const { labels, values } of groups) {
    const value = values[index];
    const number = value === null || value === undefined ? Number.NaN : Number(value);
    if (Number.isFinite(number)) list.push({ labels, value: number });
  }
  return list;
}

/** Tiles that have a value per time. */
export function toTileSeries({ series, asRatio }: Tile): WindowSeries {
  const type = series[0]?.type;
  if (type !== 'time' && type !== 'number')
    throw new AppError('bad_request', 'An alert needs a line, bar or number tile', { field: 'tileId' });
  return { asRatio, series: type === 'number' ? series.map((one) => ({ ...one, groupBy: [] })) : series };
}

/** Counts the rows that a saved search finds. */
export function toSearchSeries(
  { sourceId, where, whereLanguage, filters }: SavedSearchContent,
  groupBy: string[],
): WindowSeries {
  const conditions = filters.map((filter) => {
    if (filter.type === 'sql_ast') return `${filter.left} ${filter.operator} ${filter.right}`;
    if (filter.type === 'lucene')
      throw new AppError('bad_request', 'An alert cannot use a filter of the type lucene; put it into where');
    return filter.condition;
  });
  return {
    asRatio: false,
    series: [{ type: 'time', aggFn: 'count', sourceId, where, whereLanguage, filters: conditions, groupBy }],
  };
}
