import { localDay, startOfLocalDay, type Zone } from '../../../kernel/time/zone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** Clock changes are multiples of this, so shorter buckets stay aligned. */
const SMALLEST_CHANGE = 15 * MINUTE;
/** A request has fewer buckets. Beyond that their exact number does not matter, and the clock changes are not looked up. */
const MAX_ALIGNED = 10_000;
/** No zone changes its clocks twice within a week. */
const LOOKUP_STEP = 7 * DAY;

interface Range {
  startMs: number;
  endMs: number;
}

/** Consecutive buckets of the same length. The last one may be longer or shorter: it ends where the next stretch starts. */
export interface Stretch {
  firstMs: number;
  count: number;
}

/** The buckets that a range is extended to. `endMs` is the end of the last one. */
interface LocalBuckets {
  stretches: Stretch[];
  count: number;
  endMs: number;
}

/**
 * Splits a range into buckets of part of a day that start at multiples of the step on local clocks, also after a change of
 * the clocks. A change that is no multiple of the step makes the bucket that contains it longer or shorter.
 */
export function locateLocalBuckets(range: Range, step: number, zone: Zone): LocalBuckets {
  const midnight = startOfLocalDay(zone, localDay(zone, range.startMs));
  const first = midnight + Math.floor((range.startMs - midnight) / step) * step;
  const count = Math.max(1, Math.ceil((range.endMs - first) / step));
  const changes =
    step <= SMALLEST_CHANGE || count > MAX_ALIGNED
      ? []
      : findChanges(zone, { startMs: range.startMs - 2 * DAY, endMs: range.endMs + 2 * DAY }).filter(
          ({ before, after }) => (after - before) % step !== 0,
        );
  if (changes.length === 0) return { stretches: [{ firstMs: first, count }], count, endMs: first + count * step };
  return cut(listStretches(changes, step, range), range, step);
}

interface Change {
  at: number;
  /** The offsets of the zone before and from this time on. */
  before: number;
  after: number;
}

function findChanges(zone: Zone, { startMs, endMs }: Range): Change[] {
  const changes: Change[] = [];
  let from = startMs;
  let before = zone.offsetAt(from);
  while (from < endMs) {
    const to = Math.min(from + LOOKUP_STEP, endMs);
    const after = zone.offsetAt(to);
    if (after !== before) changes.push({ at: findChange(zone, from, to), before, after });
    [from, before] = [to, after];
  }
  return changes;
}

/** The first time with the offset of `high`, in whole seconds. */
function findChange(zone: Zone, low: number, high: number): number {
  let [before, after] = [Math.floor(low / SECOND), Math.ceil(high / SECOND)];
  const offset = zone.offsetAt(high);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offsetAt(middle * SECOND) === offset) after = middle;
    else before = middle;
  }
  return after * SECOND;
}

const ceil = (value: number, step: number): number => Math.ceil(value / step) * step;

/** All buckets from a day before the range to a day after it. */
function listStretches(changes: readonly Change[], step: number, range: Range): Stretch[] {
  const [firstChange] = changes;
  const endMs = range.endMs + 2 * DAY;
  const stretches: Stretch[] = [];
  let offset = firstChange?.before ?? 0;
  let from = ceil(Math.min(range.startMs, firstChange?.at ?? 0) - 2 * DAY + offset, step) - offset;
  for (const { at, before, after } of [...changes, { at: endMs, before: 0, after: 0 }]) {
    const count = Math.ceil((at - from) / step);
    if (count > 0) stretches.push({ firstMs: from, count });
    if (at === endMs) break;
    // Local times from here on were not shown before. Times that the change skips start at the change.
    const next = ceil(at + Math.max(before, after), step);
    if (ceil(at + before, step) < at + after && next - after > at) stretches.push({ firstMs: at, count: 1 });
    from = next - after;
    offset = after;
  }
  return stretches;
}

/** The buckets that overlap the range. */
function cut(all: readonly Stretch[], { startMs, endMs }: Range, step: number): LocalBuckets {
  const stretches: Stretch[] = [];
  let end = endMs;
  for (const [index, { firstMs, count }] of all.entries()) {
    const nextMs = all[index + 1]?.firstMs ?? Number.POSITIVE_INFINITY;
    const skipped =
      nextMs <= startMs ? count : Math.min(count - 1, Math.max(0, Math.floor((startMs - firstMs) / step)));
    const taken = Math.min(count, Math.max(0, Math.ceil((Math.max(endMs, startMs + 1) - firstMs) / step))) - skipped;
    if (taken <= 0) continue;
    stretches.push({ firstMs: firstMs + skipped * step, count: taken });
    end = skipped + taken < count ? firstMs + (skipped + taken) * step : nextMs;
  }
  return { stretches, count: stretches.reduce((sum, { count }) => sum + count, 0), endMs: end };
}
