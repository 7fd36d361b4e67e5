import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { Range } from '../charts/queries/time-buckets.ts';

/** The length of a window by its distance from the end of the range: the newest rows appear at once. */
const WINDOWS = [
  { from: 0, lengthMs: 15 * MINUTE_MS },
  { from: 15 * MINUTE_MS, lengthMs: 6 * HOUR_MS },
  { from: 12 * HOUR_MS + 15 * MINUTE_MS, lengthMs: 12 * HOUR_MS },
];
/** From here on, a window is as long as what was searched: rows that are so rare need few statements then. */
const DOUBLING_MS = DAY_MS + 15 * MINUTE_MS;
/** A window that took too long is repeated with a part of its length. A shorter one is always searched to its end. */
const SMALLEST_MS = MINUTE_MS;
const SHRINK = 8;
const QUICK_MS = 500;
const QUICK_GROWTH = 4;

/** The part of the range that is searched next, given that everything from `beforeMs` on was searched. */
export function chooseWindow(
  range: Range,
  beforeMs: number,
  { maxLengthMs = Number.POSITIVE_INFINITY, factor }: { maxLengthMs?: number | undefined; factor: number },
): Range {
  const distance = range.endMs - beforeMs;
  const lengthMs =
    distance >= DOUBLING_MS ? distance : (WINDOWS.findLast(({ from }) => distance >= from)?.lengthMs ?? DAY_MS);
  return { startMs: Math.max(range.startMs, beforeMs - Math.min(factor * lengthMs, maxLengthMs)), endMs: beforeMs };
}

export const canShrink = ({ startMs, endMs }: Range): boolean => endMs - startMs > SMALLEST_MS;

export const shrink = ({ startMs, endMs }: Range): number =>
  Math.max(SMALLEST_MS, Math.ceil((endMs - startMs) / SHRINK));

/** After a shorter window did not take too long. Undefined if there is no limit. */
export const grow = ({ startMs, endMs }: Range, maxLengthMs: number | undefined): number | undefined =>
  maxLengthMs !== undefined && maxLengthMs < endMs - startMs ? 2 * maxLengthMs : undefined;

/** After windows that were searched so quickly, the next ones are longer: each statement takes some time itself. */
export const chooseFactor = (factor: number, elapsedMs: number): number =>
  elapsedMs < QUICK_MS ? QUICK_GROWTH * factor : 1;
