import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { ServiceSize } from '../../../management/services/service.ts';
import { chooseSize, getRules } from '../decide.ts';
import { type DecisionInput, GB_PER_CORE } from '../decision.ts';
import { HISTORY_MINUTES, type LoadSummary, type Peaks, WINDOW_MINUTES, type WindowName } from '../load.ts';
import { clampSize, type SizeLimits } from '../sizes.ts';
import { type LoadSeries, readPeaks } from './load-series.ts';
import { findNextDecision } from './next-decision.ts';
import { findFirstAbove } from './peaks.ts';

export interface ReplayResult {
  /** Memory of all replicas of a shard × minutes that the service ran. */
  gbMinutes: number;
  runningMinutes: number;
  shortMemoryMinutes: number;
  shortCpuMinutes: number;
  changes: number;
}

export interface ReplayOptions {
  initial: ServiceSize;
  /** The limits at a minute, and the minute at which they may change. */
  getLimits(minute: number): { limits: SizeLimits; untilMinute: number };
  /** Called for each change of the size, with the minute in which it was decided. */
  onChange?(minute: number, to: ServiceSize): void;
}

/** Where a replay stands. `lastChange` and `lastOutOfMemory` are indexes, far in the past if there was none. */
interface Position {
  onChange: ReplayOptions['onChange'];
  result: ReplayResult;
  chosen: ServiceSize;
  lastChange: number;
  lastOutOfMemory: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Runs the autoscaler over a load: the sample of a minute is measured at the size in effect, and a change takes effect
 * with the next minute. A minute that needs more memory than there is counts as a failure for lack of memory. The result
 * is the same as with `decide` in every minute, but only minutes that may change something are decided.
 */
export function replay(series: LoadSeries, { initial, getLimits, onChange }: ReplayOptions): ReplayResult {
  const position: Position = {
    onChange,
    result: { gbMinutes: 0, runningMinutes: 0, shortMemoryMinutes: 0, shortCpuMinutes: 0, changes: 0 },
    chosen: initial,
    lastChange: NEVER,
    lastOutOfMemory: NEVER,
  };
  const count = series.minutes;
  for (let start = 0; start < count; ) {
    const { limits, untilMinute } = getLimits(series.startMinute + start);
    const end = Math.min(count, Math.max(start + 1, untilMinute - series.startMinute));
    replayPeriod(series, position, limits, start, end);
    start = end;
  }
  return position.result;
}

/** The minutes from `start` to before `end`, which have the same limits. */
function replayPeriod(series: LoadSeries, position: Position, limits: SizeLimits, start: number, end: number): void {
  for (let index = start; index < end; ) {
    const lastChangeAt = position.lastChange === NEVER ? undefined : toMs(series, position.lastChange);
    const input = { current: clampSize(position.chosen, limits), limits, lastChangeAt };
    const next = limits.fixed === undefined ? findNext(series, position, input, index, end) : end;
    // A service that does not run is not resized.
    const resumed = next < end ? findRunning(series, next) : next;
    const last = Math.min(resumed === next ? next : resumed - 1, end - 1);
    account(series, position, input.current, index, last);
    if (resumed === next && next < end) decideAt(series, position, input, next);
    index = last + 1;
  }
}

function findNext(
  series: LoadSeries,
  { lastChange, lastOutOfMemory }: Position,
  input: DecisionInput,
  first: number,
  end: number,
): number {
  const { current, limits } = input;
  const bounds = getRules(limits).getBounds(input);
  return findNextDecision({
    series,
    bounds,
    totalGb: current.memoryGb * current.replicas,
    first,
    end,
    shrinkFrom: Math.max(lastChange + bounds.downCoolDownMs / MINUTE_MS, lastOutOfMemory + HISTORY_MINUTES),
    isUnanswered:
      bounds.up.memoryGb < Number.POSITIVE_INFINITY &&
      lastOutOfMemory > Math.max(lastChange, first - WINDOW_MINUTES.threeHours),
  });
}

/** The first minute from `index` on in which the service runs. */
function findRunning({ isRunning, minutes }: LoadSeries, index: number): number {
  if (!isRunning) return index;
  const found = isRunning.indexOf(1, index);
  return found === -1 ? minutes : found;
}

/** Counts the minutes from `first` to `last` at one size. */
function account(series: LoadSeries, position: Position, size: ServiceSize, first: number, last: number): void {
  const { cpuCores, memoryGb } = series;
  const { result } = position;
  const totalGb = size.memoryGb * size.replicas;
  const running = countRunning(series, first, last);
  result.runningMinutes += running;
  result.gbMinutes += running * totalGb;
  for (let at = first; ; at++) {
    at = findFirstAbove(cpuCores, at, last, totalGb / GB_PER_CORE);
    if (at > last) break;
    result.shortCpuMinutes++;
  }
  for (let at = first; ; at++) {
    at = findFirstAbove(memoryGb, at, last, totalGb);
    if (at > last) break;
    result.shortMemoryMinutes++;
    position.lastOutOfMemory = at;
  }
}

function countRunning({ isRunning }: LoadSeries, first: number, last: number): number {
  if (!isRunning) return last - first + 1;
  let count = 0;
  for (let at = first; at <= last; at++) count += isRunning[at] as number;
  return count;
}

function decideAt(series: LoadSeries, position: Position, input: DecisionInput, index: number): void {
  const load = summarize(series, position, input.limits, index);
  const { to } = chooseSize(load, input, toMs(series, index));
  if (!to) return;
  position.chosen = to;
  position.lastChange = index;
  position.result.changes++;
  position.onChange?.(series.startMinute + index, to);
}

const toMs = ({ startMinute }: LoadSeries, index: number): number => (startMinute + index) * MINUTE_MS;

/** The windows that the mode uses; the others stay empty. */
function summarize(series: LoadSeries, position: Position, limits: SizeLimits, index: number): LoadSummary {
  const { lastOutOfMemory } = position;
  const outOfMemoryMinute =
    lastOutOfMemory > index - HISTORY_MINUTES ? series.startMinute + lastOutOfMemory : undefined;
  const isHorizontal = limits.mode === 'horizontal';
  const read = (name: WindowName) => readPeaks(series, index, WINDOW_MINUTES[name]);
  return {
    tenMinutes: isHorizontal ? read('tenMinutes') : EMPTY,
    hour: isHorizontal ? read('hour') : EMPTY,
    threeHours: isHorizontal ? EMPTY : read('threeHours'),
    thirtyHours: isHorizontal ? EMPTY : read('thirtyHours'),
    outOfMemoryMinute,
  };
}

const EMPTY: Peaks = { cpuCores: undefined, memoryGb: undefined, queries: undefined, coveredMinutes: 0 };
