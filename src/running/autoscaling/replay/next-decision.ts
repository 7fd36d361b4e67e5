import { type LoadBounds, MIN_COVERAGE } from '../decision.ts';
import { countCovered, type LoadSeries } from './load-series.ts';
import { findFirstAbove, findLastNotBelow } from './peaks.ts';

/** Minutes are indexes of the series. */
interface Search {
  series: LoadSeries;
  bounds: LoadBounds;
  /** Queries fail for lack of memory beyond it. */
  totalGb: number;
  /** The minutes from `first` to before `end` are searched. */
  first: number;
  end: number;
  /** Before this minute, the size does not shrink. */
  shrinkFrom: number;
  /** A query failed for lack of memory while there was no larger size, and now there is one. */
  isUnanswered: boolean;
}

/**
 * The next minute in which a decision may change the size; `end` if there is none. Goes from one minute in which the size
 * may shrink to the next, and looks for a reason to grow before each of them.
 */
export function findNextDecision(search: Search): number {
  const { series, bounds, first, end } = search;
  const { down, downMinutes, upMinutes } = bounds;
  const canShrink = down.cpuCores > Number.NEGATIVE_INFINITY;
  let shrinkAt = canShrink ? toDue(search, Math.max(first, search.shrinkFrom)) : end;
  let growFrom = Math.max(0, toDue(search, first) - upMinutes + 1);
  for (;;) {
    const last = Math.min(shrinkAt, end - 1);
    const growAt = findGrowth(search, growFrom, last);
    if (growAt <= last || shrinkAt >= end) return growAt;
    growFrom = last + 1;
    const windowStart = Math.max(0, shrinkAt - downMinutes + 1);
    const high = findLastHigh(search, windowStart, shrinkAt);
    if (high >= windowStart) shrinkAt = toDue(search, high + downMinutes);
    else {
      // A minute adds at most one covered minute.
      const missing = downMinutes * MIN_COVERAGE - countCovered(series, shrinkAt, downMinutes);
      if (missing <= 0) return shrinkAt;
      shrinkAt = toDue(search, shrinkAt + Math.ceil(missing));
    }
  }
}

/** The first minute up to `last` in which a load since `from` may be a reason to grow; `last + 1` if there is none. */
function findGrowth(search: Search, from: number, last: number): number {
  const { series, bounds, totalGb, first } = search;
  const high = search.isUnanswered ? first : Math.max(first, findFirstHigh(search, from, last));
  const before = Math.min(toDue(search, high) - 1, last);
  // Beyond the bounds for growing, so not before `high`.
  return bounds.everyMinutes === 1 ? before + 1 : findFirstAbove(series.memoryGb, high, before, totalGb);
}

function findFirstHigh({ series, bounds: { up } }: Search, first: number, last: number): number {
  const byCpu = findFirstAbove(series.cpuCores, first, last, up.cpuCores);
  const byMemory = findFirstAbove(series.memoryGb, first, byCpu - 1, up.memoryGb);
  return series.queries ? findFirstAbove(series.queries, first, byMemory - 1, up.queries) : byMemory;
}

/** The last minute with a load that keeps the size from shrinking; `first - 1` if there is none. */
function findLastHigh({ series, bounds: { down } }: Search, first: number, last: number): number {
  const byCpu = findLastNotBelow(series.cpuCores, first, last, down.cpuCores);
  const byMemory = findLastNotBelow(series.memoryGb, byCpu + 1, last, down.memoryGb);
  return series.queries ? findLastNotBelow(series.queries, byMemory + 1, last, down.queries) : byMemory;
}

/** The next minute, from `index` on, in which decisions are made. */
function toDue({ series, bounds: { everyMinutes } }: Search, index: number): number {
  const over = (series.startMinute + index) % everyMinutes;
  return over === 0 ? index : index + everyMinutes - over;
}
