import { MINUTE_MS } from '../../kernel/time/clock.ts';
import type { ServiceSize } from '../../management/services/service.ts';
import type { Action, Decision, DecisionInput, Outcome, Rules } from './decision.ts';
import { HORIZONTAL_RULES } from './horizontal.ts';
import { type LoadSample, type LoadSummary, summarizeLoad, toMinute, WINDOW_MINUTES } from './load.ts';
import { clampSize, isSameSize, type SizeLimits } from './sizes.ts';
import { VERTICAL_RULES } from './vertical.ts';

/**
 * Decides the size of a service from its load of the last 30 hours. Pure: the same arguments give the same decision.
 * The size is always within the limits, and one step away from a current size within the limits.
 */
export const decide = (history: readonly LoadSample[], input: DecisionInput, now: number): Decision =>
  decideFromSummary(summarizeLoad(history, now), input, now);

/** As `decide`, for a load that is summarized already. */
export function decideFromSummary(load: LoadSummary, input: DecisionInput, now: number): Decision {
  const { current, limits, lastChangeAt } = input;
  const { fixed, ...bounds } = limits;
  const { to, formatReason } = chooseSize(load, input, now);
  return {
    at: now,
    action: to ? getAction(current, to) : 'none',
    from: current,
    to: to ?? current,
    inputs: {
      ...getRules(limits).describe(load, input),
      ...bounds,
      ...(load.outOfMemoryMinute !== undefined && { outOfMemoryAt: load.outOfMemoryMinute * MINUTE_MS }),
      ...(lastChangeAt !== undefined && { lastChangeAt }),
    },
    reason: formatReason(),
  };
}

export const getRules = ({ mode }: SizeLimits): Rules => (mode === 'horizontal' ? HORIZONTAL_RULES : VERTICAL_RULES);

/** The choice of `decideFromSummary`, without the figures that explain it. */
export function chooseSize(load: LoadSummary, input: DecisionInput, now: number): Outcome {
  const { current, limits } = input;
  const { fixed } = limits;
  if (fixed !== undefined) return { formatReason: () => `${fixed}.` };
  const allowed = clampSize(current, limits);
  if (isSameSize(allowed, current)) {
    const state = { now, isNewOutOfMemory: isNewOutOfMemory(load, input, now) };
    return getRules(limits).choose(load, input, state);
  }
  // Limits apply at once and without data: a person or the schedule set them.
  const formatReason = () =>
    `The settings allow ${formatRange(limits.minMemoryGb, limits.maxMemoryGb)} GB and ${formatRange(limits.minReplicas, limits.maxReplicas)} replicas, so the service gets ${allowed.replicas} × ${allowed.memoryGb} GB.`;
  return { to: allowed, formatReason };
}

/** In the last three hours, and after the last change of the size: an earlier failure is what the change answered. */
function isNewOutOfMemory({ outOfMemoryMinute }: LoadSummary, { lastChangeAt }: DecisionInput, now: number) {
  if (outOfMemoryMinute === undefined || outOfMemoryMinute <= toMinute(now) - WINDOW_MINUTES.threeHours) return false;
  return lastChangeAt === undefined || lastChangeAt > now || outOfMemoryMinute > toMinute(lastChangeAt);
}

function getAction(from: ServiceSize, to: ServiceSize): Action {
  if (to.memoryGb !== from.memoryGb) return to.memoryGb > from.memoryGb ? 'up' : 'down';
  if (to.replicas !== from.replicas) return to.replicas > from.replicas ? 'out' : 'in';
  return 'none';
}

const formatRange = (min: number, max: number): string => (min === max ? String(min) : `${min} to ${max}`);
