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

/** Decisions in horizontal mode are made once in so many minutes. */
export const HORIZONTAL_EVERY_MINUTES = 10;

/** The share of the capacity that is used: of CPU, memory or concurrent queries, whichever is largest. */
const TARGET_SHARE = 0.6;
const MAX_SHARE = 0.8;
const MIN_SHARE = 0.45;
/** Concurrent queries of one replica. */
const QUERIES_PER_REPLICA = 1000;

export const OUT_COOL_DOWN_MS = 10 * MINUTE_MS;
const IN_COOL_DOWN_MS = 30 * MINUTE_MS;

const { hour: WINDOW } = WINDOW_MINUTES;

/** The load, over all replicas, beyond which the number of replicas is changed, as multiples of one replica. */
interface HorizontalThresholds {
  /** Out above this. */
  out: number;
  /** In if the load is below `in` and not above `inAtMost`. */
  in: number;
  inAtMost: number;
}

function getThresholds(input: DecisionInput): HorizontalThresholds {
  const { current, limits } = input;
  const { replicas } = getRunning(input);
  const canShrink = current.replicas > limits.minReplicas;
  return {
    out: current.replicas < limits.maxReplicas ? replicas * MAX_SHARE : Number.POSITIVE_INFINITY,
    in: canShrink ? replicas * MIN_SHARE : Number.NEGATIVE_INFINITY,
    // The remaining replicas must not be above the target, or the next peak would reverse the change.
    inAtMost: canShrink ? (replicas - 1) * TARGET_SHARE : Number.NEGATIVE_INFINITY,
  };
}

/** The load as a number of fully used replicas. */
const countUsedReplicas = ({ cpuCores = 0, memoryGb = 0, queries = 0 }: Peaks, size: ServiceSize): number =>
  Math.max((cpuCores * GB_PER_CORE) / size.memoryGb, memoryGb / size.memoryGb, queries / QUERIES_PER_REPLICA);

/** Replicas are added for the peak of ten minutes, and removed for the peak of an hour: removing is more careful. */
const choose: Rules['choose'] = (load, input, { now, isNewOutOfMemory }): Outcome => {
  const { current, limits } = input;
  const { replicas } = current;
  const thresholds = getThresholds(input);
  const running = getRunning(input);
  const used = countUsedReplicas(load.tenMinutes, running);
  const usedInHour = countUsedReplicas(load.hour, running);
  const keep = (formatReason: () => string): Outcome => ({ formatReason });
  const resize = (to: number, formatCause: () => string): Outcome => ({
    to: { memoryGb: current.memoryGb, replicas: to },
    formatReason: () => `${formatCause()}, so the service gets ${formatReplicas(to)} instead of ${replicas}.`,
  });
  const isLargest = replicas >= limits.maxReplicas;
  if (isNewOutOfMemory)
    return isLargest
      ? keep(() => `A query failed for lack of memory, but ${formatReplicas(replicas)} is the maximum.`)
      : resize(replicas + 1, () => 'A query failed for lack of memory');
  const formatUsage = () =>
    describeUsage(used / running.replicas, formatPeriod(load.tenMinutes, WINDOW_MINUTES.tenMinutes, '10 minutes'));
  if (used > thresholds.out) {
    if (isCoolingDown(input, now, OUT_COOL_DOWN_MS))
      return keep(
        () => `${formatUsage()}, which calls for another replica, but the size changed in the last 10 minutes.`,
      );
    return resize(replicas + 1, () => `${formatUsage()}, above 80%`);
  }
  if (isUnknown(load.hour)) return keep(() => 'No load was measured in the last hour, so the size stays as it is.');
  const isLow = usedInHour < thresholds.in && usedInHour <= thresholds.inAtMost;
  if (!isLow)
    return keep(() => `${formatUsage()}, so ${formatReplicas(replicas)} ${replicas === 1 ? 'is' : 'are'} kept.`);
  const formatLowUsage = () => describeUsage(usedInHour / running.replicas, formatPeriod(load.hour, WINDOW, 'hour'));
  const obstacle = findObstacle(load, input, now);
  return obstacle === undefined
    ? resize(replicas - 1, () => `${formatLowUsage()}, below 45%`)
    : keep(() => `${formatLowUsage()}, which calls for fewer replicas, but ${obstacle}.`);
};

const describeUsage = (share: number, period: string): string =>
  `The highest of CPU, memory and queries was ${formatPercent(share)} ${period}`;

/** Why a replica that is not needed is kept. */
function findObstacle(load: LoadSummary, input: DecisionInput, now: number): string | undefined {
  const { coveredMinutes } = load.hour;
  if (coveredMinutes < WINDOW * MIN_COVERAGE) return `only ${coveredMinutes} of the last ${WINDOW} minutes have data`;
  if (load.outOfMemoryMinute !== undefined) return 'a query failed for lack of memory in the last 30 hours';
  if (isCoolingDown(input, now, IN_COOL_DOWN_MS)) return 'the size changed in the last 30 minutes';
  return undefined;
}

const describe: Rules['describe'] = ({ tenMinutes, hour }, input) => {
  const { limits } = input;
  const running = getRunning(input);
  const used = countUsedReplicas(tenMinutes, running);
  const { cpuCores, memoryGb, queries, coveredMinutes } = hour;
  const total = running.memoryGb * running.replicas;
  return {
    windowMinutes: WINDOW,
    coveredMinutes,
    ...(cpuCores !== undefined && {
      peakCpuCores: cpuCores,
      cpuPercent: toPercent((cpuCores * GB_PER_CORE) / total),
    }),
    ...(memoryGb !== undefined && { peakMemoryGb: memoryGb, memoryPercent: toPercent(memoryGb / total) }),
    ...(queries !== undefined && {
      peakQueries: queries,
      queriesPercent: toPercent(queries / (QUERIES_PER_REPLICA * running.replicas)),
    }),
    targetReplicas: Math.min(limits.maxReplicas, Math.max(limits.minReplicas, Math.ceil(used / TARGET_SHARE))),
  };
};

const getBounds: Rules['getBounds'] = (input) => {
  const thresholds = getThresholds(input);
  return {
    up: toLoads(thresholds.out * (1 - ROUNDING), getRunning(input)),
    upMinutes: WINDOW_MINUTES.tenMinutes,
    down: toLoads(Math.min(thresholds.in, thresholds.inAtMost) * (1 + ROUNDING), getRunning(input)),
    downMinutes: WINDOW,
    downCoolDownMs: IN_COOL_DOWN_MS,
    everyMinutes: HORIZONTAL_EVERY_MINUTES,
  };
};

/** The loads that fully use a number of replicas: the reverse of `countUsedReplicas`. */
const toLoads = (used: number, { memoryGb }: ServiceSize) => ({
  cpuCores: (used * memoryGb) / GB_PER_CORE,
  memoryGb: used * memoryGb,
  queries: used * QUERIES_PER_REPLICA,
});

export const HORIZONTAL_RULES: Rules = { choose, describe, getBounds };

const isUnknown = ({ cpuCores, memoryGb, queries }: Peaks): boolean =>
  cpuCores === undefined && memoryGb === undefined && queries === undefined;

const formatReplicas = (count: number): string => `${count} ${count === 1 ? 'replica' : 'replicas'}`;
