import { MINUTE_MS } from '../kernel/clock.ts';
import type { ServiceSize } from '../services/service.ts';
import type { Action, Decision, DecisionSettings, Outcome } from './decision.ts';
import { decideHorizontal } from './horizontal.ts';
import { type LoadSample, type LoadSummary, summarizeLoad, toMinute, WINDOW_MINUTES } from './load.ts';
import { clampSize, isSameSize } from './sizes.ts';
import { decideVertical } from './vertical.ts';

/**
 * Decides the size of a service from its load of the last 30 hours. Pure: the same arguments give the same decision.
 * The size is always within the limits, and one step away from a current size within the limits.
 */
export const decide = (history: readonly LoadSample[], settings: DecisionSettings, now: number): Decision =>
  decideFromSummary(summarizeLoad(history, now), settings, now);

/** As `decide`, for a load that is summarized already. */
export function decideFromSummary(load: LoadSummary, settings: DecisionSettings, now: number): Decision {
  const { current, limits, lastChangeAt } = settings;
  const { fixed, ...bounds } = limits;
  const { to, reason, inputs } = choose(load, settings, now);
  return {
    at: now,
    action: to ? getAction(current, to) : 'none',
    from: current,
    to: to ?? current,
    inputs: {
      ...inputs,
      ...bounds,
      ...(load.outOfMemoryMinute !== undefined && { outOfMemoryAt: load.outOfMemoryMinute * MINUTE_MS }),
      ...(lastChangeAt !== undefined && { lastChangeAt }),
    },
    reason,
  };
}

function choose(load: LoadSummary, settings: DecisionSettings, now: number): Outcome {
  const { current, limits } = settings;
  const rules = limits.mode === 'horizontal' ? decideHorizontal : decideVertical;
  const outcome = rules(load, settings, { now, isNewOutOfMemory: isNewOutOfMemory(load, settings, now) });
  if (limits.fixed !== undefined) return { reason: `${limits.fixed}.`, inputs: outcome.inputs };
  const allowed = clampSize(current, limits);
  if (isSameSize(allowed, current)) return outcome;
  // Limits apply at once and without data: a person or the schedule set them.
  const reason = `The settings allow ${formatRange(limits.minMemoryGb, limits.maxMemoryGb)} GB and ${formatRange(limits.minReplicas, limits.maxReplicas)} replicas, so the service gets ${allowed.replicas} × ${allowed.memoryGb} GB.`;
  return { to: allowed, reason, inputs: outcome.inputs };
}

/** In the last three hours, and after the last change of the size: an earlier failure is what the change answered. */
function isNewOutOfMemory({ outOfMemoryMinute }: LoadSummary, { lastChangeAt }: DecisionSettings, now: number) {
  if (outOfMemoryMinute === undefined || outOfMemoryMinute <= toMinute(now) - WINDOW_MINUTES.threeHours) return false;
  return lastChangeAt === undefined || lastChangeAt > now || outOfMemoryMinute > toMinute(lastChangeAt);
}

function getAction(from: ServiceSize, to: ServiceSize): Action {
  if (to.memoryGb !== from.memoryGb) return to.memoryGb > from.memoryGb ? 'up' : 'down';
  if (to.replicas !== from.replicas) return to.replicas > from.replicas ? 'out' : 'in';
  return 'none';
}

const formatRange = (min: number, max: number): string => (min === max ? String(min) : `${min} to ${max}`);
