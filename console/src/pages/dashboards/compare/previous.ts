import type { GetTileDataInput } from '../../../api/generated.ts';
import type { Tile, TileData, TileDataByType } from '../tile-types.ts';
import { sumValues, toNumbers } from '../time-values.ts';
import type { Range } from '../time-window/range.ts';

/** What a tile shows of the period before its own. */
export interface Previous {
  /** Milliseconds between both periods. */
  shift: number;
  data?: TileData | undefined;
  /** If the data could not be loaded. */
  error?: string | undefined;
}

interface PreviousRange extends Range {
  shift: number;
  granularity?: NonNullable<GetTileDataInput['granularity']>;
}

/** Charts over time and numbers can be compared. */
export const isComparable = ({ series: [first] }: Tile): boolean => first?.type === 'number' || first?.type === 'time';

/** The range of the same length before that of the tile, in the same buckets. */
export function findPreviousRange(data: TileData | undefined, { start, end }: Range): PreviousRange | undefined {
  const length = end - start;
  if (data?.type === 'number') return { shift: length, start: data.start - length, end: data.end - length };
  if (data?.type !== 'time') return undefined;
  const [first = data.start, second = data.end] = data.buckets;
  // A range that is no multiple of the buckets is moved a little further, so that the buckets are at the same places.
  const shift = Math.ceil(length / (second - first)) * (second - first);
  const granularity = data.granularity as NonNullable<PreviousRange['granularity']>;
  return { shift, start: data.start - shift, end: data.end - shift, granularity };
}

type TimeSeries = TileDataByType<'time'>['series'][number];

const getSeriesId = ({ name, group, isOthers }: TimeSeries): string => JSON.stringify([name, group, isOthers]);

/** The values of each series in the previous period, one per bucket of the current one. */
export function alignPrevious(
  { series, buckets }: TileDataByType<'time'>,
  previous: TileDataByType<'time'>,
  shift: number,
): (number | null)[][] {
  const places = buckets.map((at) => findNearest(previous, at - shift));
  const known = new Map(previous.series.map((one) => [getSeriesId(one), one.values]));
  return series.map((one) => {
    const values = toNumbers(known.get(getSeriesId(one)) ?? [], false);
    return places.map((place) => values[place] ?? null);
  });
}

/** The sum of the series that only the previous period has, by bucket of the current one. They are part of the total of a stack. */
export function sumUnmatched(
  data: TileDataByType<'time'>,
  previous: TileDataByType<'time'>,
  shift: number,
): (number | null)[] {
  const known = new Set(data.series.map(getSeriesId));
  const series = previous.series.filter((one) => !known.has(getSeriesId(one)));
  return sumValues(alignPrevious({ ...data, series }, previous, shift), data.buckets.length);
}

/** The bucket at most half of its length away: days have different lengths if the clock changes. -1 if there is none. */
function findNearest({ buckets, start, end }: TileDataByType<'time'>, at: number): number {
  const [first = start, second = end] = buckets;
  const isNear = (one: number) => Math.abs(one - at) <= (second - first) / 2;
  const exact = buckets.indexOf(at);
  return exact === -1 ? buckets.findIndex(isNear) : exact;
}

/** The server counts 0 where it finds no rows. */
const isCount = (tile: Tile): boolean =>
  !tile.asRatio && tile.series.every(({ aggFn }) => aggFn === 'count' || aggFn === 'count_distinct');

/** True if no row matches in the previous period. */
export function hasNoRows(tile: Tile, values: readonly (number | string | null)[]): boolean {
  return values.every((value) => value === null || (isCount(tile) && Number(value) === 0));
}
