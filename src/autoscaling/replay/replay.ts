import { MINUTE_MS } from '../../kernel/clock.ts';
import type { ServiceSize } from '../../services/service.ts';
import { decideFromSummary } from '../decide.ts';
import { GB_PER_CORE, MIN_COVERAGE } from '../decision.ts';
import { HORIZONTAL_EVERY_MINUTES } from '../horizontal.ts';
import { HISTORY_MINUTES, type LoadSummary, type Peaks, WINDOW_MINUTES } from '../load.ts';
import { clampSize, type SizeLimits } from '../sizes.ts';
import { DOWN_COOL_DOWN_MS, getVerticalThresholds } from '../vertical.ts';
import { type LoadSeries, NOT_MEASURED } from './load-series.ts';
import { computeSlidingPeaks, findPeak } from './peaks.ts';

export interface ReplayResult {
  /** Memory of all replicas × minutes that the service ran. */
  gbMinutes: number;
  runningMinutes: number;
  shortMemoryMinutes: number;
  shortCpuMinutes: number;
  changes: number;
}

export interface ReplaySettings {
  initial: ServiceSize;
  /** The limits at a minute, and the minute at which they may change. */
  getLimits(minute: number): { limits: SizeLimits; untilMinute: number };
}

/** A series with what all replays of it have in common. */
interface PreparedSeries extends LoadSeries {
  /** The number of covered minutes before each minute. */
  covered: Int32Array;
  /** The peaks of three hours. */
  cpuPeaks: Float32Array;
  memoryPeaks: Float32Array;
}

/** `reused` is a series of the same length that is no longer needed: its arrays are used again. */
export function prepareSeries(series: LoadSeries, reused?: PreparedSeries): PreparedSeries {
  const { cpuCores, memoryGb } = series;
  const covered = reused?.covered ?? new Int32Array(cpuCores.length + 1);
  for (let index = 0; index < cpuCores.length; index++) {
    const isCovered = (cpuCores[index] as number) >= 0 && (memoryGb[index] as number) >= 0;
    covered[index + 1] = (covered[index] as number) + (isCovered ? 1 : 0);
  }
  return {
    ...series,
    covered,
    cpuPeaks: computeSlidingPeaks(cpuCores, WINDOW_MINUTES.threeHours, reused?.cpuPeaks),
    memoryPeaks: computeSlidingPeaks(memoryGb, WINDOW_MINUTES.threeHours, reused?.memoryPeaks),
  };
}

/** Where a replay stands. `lastChange` and `lastOutOfMemory` are indexes, far in the past if there was none. */
interface Position {
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
export function replay(series: PreparedSeries, { initial, getLimits }: ReplaySettings): ReplayResult {
  const position: Position = {
    result: { gbMinutes: 0, runningMinutes: 0, shortMemoryMinutes: 0, shortCpuMinutes: 0, changes: 0 },
    chosen: initial,
    lastChange: NEVER,
    lastOutOfMemory: NEVER,
  };
  const count = series.cpuCores.length;
  for (let start = 0; start < count; ) {
    const { limits, untilMinute } = getLimits(series.startMinute + start);
    const end = Math.min(count, Math.max(start + 1, untilMinute - series.startMinute));
    const run = limits.mode === 'horizontal' ? replayHorizontal : replayVertical;
    run(series, position, limits, start, end);
    start = end;
  }
  return position.result;
}

function replayVertical(
  series: PreparedSeries,
  position: Position,
  limits: SizeLimits,
  start: number,
  end: number,
): void {
  const { cpuPeaks, memoryPeaks, isRunning } = series;
  const downMinutes = DOWN_COOL_DOWN_MS / MINUTE_MS;
  for (let index = start; index < end; ) {
    const current = clampSize(position.chosen, limits);
    const { cpuUp, memoryUp, cpuDown, memoryDown } = getVerticalThresholds({ current, limits });
    // Before this minute, a smaller size is out of the question: the obstacles of `decideVertical`.
    const downFrom = Math.max(
      position.lastChange + downMinutes,
      position.lastOutOfMemory + HISTORY_MINUTES,
      WINDOW_MINUTES.threeHours * MIN_COVERAGE - 1,
    );
    let next = index;
    for (; next < end; next++) {
      const cpu = cpuPeaks[next] as number;
      const memory = memoryPeaks[next] as number;
      if (cpu > cpuUp || memory > memoryUp) break;
      if (cpu < cpuDown && memory <= memoryDown && next >= downFrom) break;
    }
    const last = Math.min(next, end - 1);
    account(series, position, current, index, last);
    if (next < end && isRunning?.[next] !== 0) decideAt(series, position, current, limits, next);
    index = last + 1;
  }
}

function replayHorizontal(
  series: PreparedSeries,
  position: Position,
  limits: SizeLimits,
  start: number,
  end: number,
): void {
  const { startMinute, isRunning } = series;
  for (let index = start; index < end; index++) {
    const current = clampSize(position.chosen, limits);
    account(series, position, current, index, index);
    const isDue = (startMinute + index) % HORIZONTAL_EVERY_MINUTES === 0 || position.lastOutOfMemory === index;
    if (isDue && isRunning?.[index] !== 0) decideAt(series, position, current, limits, index);
  }
}

/** Counts the minutes from `first` to `last` at one size. */
function account(series: PreparedSeries, position: Position, size: ServiceSize, first: number, last: number): void {
  const { cpuCores, memoryGb, isRunning } = series;
  const { result } = position;
  const totalGb = size.memoryGb * size.replicas;
  const cores = totalGb / GB_PER_CORE;
  let [running, shortMemory, shortCpu] = [0, 0, 0];
  for (let index = first; index <= last; index++) {
    if (isRunning?.[index] !== 0) running++;
    if ((cpuCores[index] as number) > cores) shortCpu++;
    if ((memoryGb[index] as number) > totalGb) {
      shortMemory++;
      position.lastOutOfMemory = index;
    }
  }
  result.runningMinutes += running;
  result.gbMinutes += running * totalGb;
  result.shortMemoryMinutes += shortMemory;
  result.shortCpuMinutes += shortCpu;
}

function decideAt(
  series: PreparedSeries,
  position: Position,
  current: ServiceSize,
  limits: SizeLimits,
  index: number,
): void {
  const toMs = (at: number) => (series.startMinute + at) * MINUTE_MS;
  const lastChangeAt = position.lastChange === NEVER ? undefined : toMs(position.lastChange);
  const load = summarize(series, position, limits, index);
  const { action, to } = decideFromSummary(load, { current, limits, lastChangeAt }, toMs(index));
  if (action === 'none') return;
  position.chosen = to;
  position.lastChange = index;
  position.result.changes++;
}

/** The windows that the mode uses; the others stay empty. */
function summarize(series: PreparedSeries, position: Position, limits: SizeLimits, index: number): LoadSummary {
  const { lastOutOfMemory } = position;
  const outOfMemoryMinute =
    lastOutOfMemory > index - HISTORY_MINUTES ? series.startMinute + lastOutOfMemory : undefined;
  const read = (width: number): Peaks => ({
    cpuCores: findPeak(series.cpuCores, index, width),
    memoryGb: findPeak(series.memoryGb, index, width),
    queries: findPeak(series.queries, index, width),
    coveredMinutes: countCovered(series, index, width),
  });
  if (limits.mode === 'horizontal') {
    const { tenMinutes, hour } = WINDOW_MINUTES;
    return {
      tenMinutes: read(tenMinutes),
      hour: read(hour),
      threeHours: EMPTY,
      thirtyHours: EMPTY,
      outOfMemoryMinute,
    };
  }
  const { threeHours, thirtyHours } = WINDOW_MINUTES;
  const short: Peaks = {
    cpuCores: toPeak(series.cpuPeaks[index] as number),
    memoryGb: toPeak(series.memoryPeaks[index] as number),
    queries: undefined,
    coveredMinutes: countCovered(series, index, threeHours),
  };
  const long: Peaks = {
    cpuCores: findLongPeak(series.cpuPeaks, index),
    memoryGb: findLongPeak(series.memoryPeaks, index),
    queries: undefined,
    coveredMinutes: countCovered(series, index, thirtyHours),
  };
  return { tenMinutes: EMPTY, hour: EMPTY, threeHours: short, thirtyHours: long, outOfMemoryMinute };
}

/** The peak of thirty hours is the highest of ten peaks of three hours. */
function findLongPeak(peaks: Float32Array, index: number): number | undefined {
  let peak = NOT_MEASURED;
  const first = Math.max(0, index - HISTORY_MINUTES + WINDOW_MINUTES.threeHours);
  for (let at = index; at >= first; at -= WINDOW_MINUTES.threeHours) peak = Math.max(peak, peaks[at] as number);
  return toPeak(peak);
}

const EMPTY: Peaks = { cpuCores: undefined, memoryGb: undefined, queries: undefined, coveredMinutes: 0 };

const toPeak = (value: number): number | undefined => (value === NOT_MEASURED ? undefined : value);

const countCovered = ({ covered }: PreparedSeries, index: number, width: number): number =>
  (covered[index + 1] as number) - (covered[Math.max(0, index - width + 1)] as number);
