import { MINUTE_MS } from '../../kernel/time/clock.ts';
import type { ServiceSize } from '../../management/services/service.ts';
import {
  type DecisionInput,
  formatPercent,
  formatPeriod,
  GB_PER_CORE,
  getRunning,
  isCoolingDown,
  MIN_COVERAGE,
  type Outcome,
  ROUNDING,
  type Rules,
  toPercent,
} from './decision.ts';
import { type LoadSummary, type Peaks, WINDOW_MINUTES } from './load.ts';
import { findLarger, findSizeFor, findSmaller } from './sizes.ts';

/** The share of the CPU that is used at the peak: a size is kept while the share is between these. */
const MIN_CPU_SHARE = 0.375;
const MAX_CPU_SHARE = 0.75;
/** The geometric mean of both, so that a step up or down ends in the middle of the band. */
const TARGET_CPU_SHARE = Math.sqrt(MIN_CPU_SHARE * MAX_CPU_SHARE);
/** A replica needs this many times the memory of the peak. */
const MEMORY_FACTOR = 1.25;
/** A smaller size must have this many times the memory that is needed, or the next peak would reverse the change. */
const DOWN_MARGIN = 1.1;

const UP_COOL_DOWN_MS = 5 * MINUTE_MS;
/** While the size for the load of the last 30 hours is larger than the next step. */
export const FAR_UP_COOL_DOWN_MS = MINUTE_MS;
export const DOWN_COOL_DOWN_MS = 30 * MINUTE_MS;

const { threeHours: WINDOW } = WINDOW_MINUTES;

/** The peaks, over all replicas, beyond which a size is changed. */
interface VerticalThresholds {
  /** Up if the peak is larger than either. */
  cpuUp: number;
  memoryUp: number;
  /** Down if the peak of CPU is smaller than this, and that of memory is not larger. */
  cpuDown: number;
  memoryDown: number;
}

/** Infinite at the limits, where there is no step. */
function getThresholds(input: DecisionInput): VerticalThresholds {
  const { memoryGb } = input.current;
  const { limits } = input;
  const running = getRunning(input);
  const { replicas } = running;
  const cores = (running.memoryGb / GB_PER_CORE) * replicas;
  const hasLarger = findLarger(memoryGb, limits) !== undefined;
  const smaller = findSmaller(memoryGb, limits);
  return {
    cpuUp: hasLarger ? cores * MAX_CPU_SHARE : Number.POSITIVE_INFINITY,
    memoryUp: hasLarger ? (running.memoryGb * replicas) / MEMORY_FACTOR : Number.POSITIVE_INFINITY,
    cpuDown: smaller === undefined ? Number.NEGATIVE_INFINITY : cores * MIN_CPU_SHARE,
    memoryDown: smaller === undefined ? Number.NEGATIVE_INFINITY : (smaller * replicas) / (MEMORY_FACTOR * DOWN_MARGIN),
  };
}

/** The peak of three hours decides whether the size changes, the peak of thirty hours how fast it grows. */
const choose: Rules['choose'] = (load, input, { now, isNewOutOfMemory }): Outcome => {
  const { current, limits } = input;
  const peaks = load.threeHours;
  const keep = (formatReason: () => string): Outcome => ({ formatReason });
  const resize = (memoryGb: number, formatCause: () => string): Outcome => ({
    to: { memoryGb, replicas: current.replicas },
    formatReason: () => `${formatCause()}, so a replica gets ${memoryGb} GB instead of ${current.memoryGb} GB.`,
  });
  const larger = findLarger(current.memoryGb, limits);
  if (isNewOutOfMemory)
    return larger === undefined
      ? keep(() => `A query failed for lack of memory, but ${current.memoryGb} GB per replica is the maximum.`)
      : resize(larger, () => 'A query failed for lack of memory');

  const thresholds = getThresholds(input);
  const cpuPeak = peaks.cpuCores ?? 0;
  const memoryPeak = peaks.memoryGb ?? 0;
  const formatUsage = () => describeUsage(peaks, getRunning(input));
  if (larger !== undefined && (cpuPeak > thresholds.cpuUp || memoryPeak > thresholds.memoryUp)) {
    const isFar = larger < (findTarget(load.thirtyHours, input) ?? 0);
    if (isCoolingDown(input, now, isFar ? FAR_UP_COOL_DOWN_MS : UP_COOL_DOWN_MS))
      return keep(
        () =>
          `${formatUsage()}, which calls for more memory, but the size changed in the last ${isFar ? 'minute' : '5 minutes'}.`,
      );
    return resize(larger, () => `${formatUsage()}, which is above the target`);
  }
  if (peaks.cpuCores === undefined && peaks.memoryGb === undefined)
    return keep(() => 'No load was measured in the last 3 hours, so the size stays as it is.');
  const smaller = findSmaller(current.memoryGb, limits);
  if (smaller === undefined || cpuPeak >= thresholds.cpuDown || memoryPeak > thresholds.memoryDown)
    return keep(() => `${formatUsage()}, so ${current.memoryGb} GB per replica ${describeFit(larger, smaller)}.`);
  const obstacle = findObstacle(load, input, now);
  return obstacle === undefined
    ? resize(smaller, () => `${formatUsage()}, which is below the target`)
    : keep(() => `${formatUsage()}, which calls for less memory, but ${obstacle}.`);
};

/** Why a size that is too large is kept. */
function findObstacle(load: LoadSummary, input: DecisionInput, now: number): string | undefined {
  const { coveredMinutes } = load.threeHours;
  if (coveredMinutes < WINDOW * MIN_COVERAGE) return `only ${coveredMinutes} of the last ${WINDOW} minutes have data`;
  if (load.outOfMemoryMinute !== undefined) return 'a query failed for lack of memory in the last 30 hours';
  if (isCoolingDown(input, now, DOWN_COOL_DOWN_MS)) return 'the size changed in the last 30 minutes';
  return undefined;
}

/** The size for the peak of the long window. */
function findTarget({ cpuCores, memoryGb }: Peaks, input: DecisionInput): number | undefined {
  if (cpuCores === undefined && memoryGb === undefined) return undefined;
  const forCpu = ((cpuCores ?? 0) / TARGET_CPU_SHARE) * GB_PER_CORE;
  const forMemory = (memoryGb ?? 0) * MEMORY_FACTOR;
  return findSizeFor(Math.max(forCpu, forMemory) / getRunning(input).replicas, input.limits);
}

const describe: Rules['describe'] = ({ threeHours, thirtyHours }, input) => {
  const running = getRunning(input);
  const targetMemoryGb = findTarget(thirtyHours, input);
  const total = running.memoryGb * running.replicas;
  const { cpuCores, memoryGb, coveredMinutes } = threeHours;
  return {
    windowMinutes: WINDOW,
    coveredMinutes,
    ...(cpuCores !== undefined && {
      peakCpuCores: cpuCores,
      cpuPercent: toPercent((cpuCores * GB_PER_CORE) / total),
    }),
    ...(memoryGb !== undefined && { peakMemoryGb: memoryGb, memoryPercent: toPercent(memoryGb / total) }),
    ...(thirtyHours.cpuCores !== undefined && { longPeakCpuCores: thirtyHours.cpuCores }),
    ...(thirtyHours.memoryGb !== undefined && { longPeakMemoryGb: thirtyHours.memoryGb }),
    ...(targetMemoryGb !== undefined && { targetMemoryGb }),
  };
};

const getBounds: Rules['getBounds'] = (input) => {
  const { cpuUp, memoryUp, cpuDown, memoryDown } = getThresholds(input);
  return {
    up: { cpuCores: cpuUp, memoryGb: memoryUp, queries: Number.POSITIVE_INFINITY },
    upMinutes: WINDOW,
    down: { cpuCores: cpuDown, memoryGb: memoryDown * (1 + ROUNDING), queries: Number.POSITIVE_INFINITY },
    downMinutes: WINDOW,
    downCoolDownMs: DOWN_COOL_DOWN_MS,
    everyMinutes: 1,
  };
};

export const VERTICAL_RULES: Rules = { choose, describe, getBounds };

/** "CPU peaked at 82% and memory at 40% in the last 3 hours". */
function describeUsage(peaks: Peaks, size: ServiceSize): string {
  const { cpuCores, memoryGb } = peaks;
  const period = formatPeriod(peaks, WINDOW, '3 hours');
  const total = size.memoryGb * size.replicas;
  const cpu = cpuCores === undefined ? undefined : formatPercent((cpuCores * GB_PER_CORE) / total);
  const memory = memoryGb === undefined ? undefined : formatPercent(memoryGb / total);
  if (cpu === undefined) return `Memory peaked at ${memory} ${period}`;
  if (memory === undefined) return `CPU peaked at ${cpu} ${period}`;
  return `CPU peaked at ${cpu} and memory at ${memory} ${period}`;
}

function describeFit(larger: number | undefined, smaller: number | undefined): string {
  if (larger === undefined && smaller === undefined) return 'stays: minimum and maximum are equal';
  if (larger === undefined) return 'stays, which is the maximum';
  if (smaller === undefined) return 'stays, which is the minimum';
  return 'is the right size';
}
