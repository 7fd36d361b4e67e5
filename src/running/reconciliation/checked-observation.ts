import type { Desired, Load, Observed, ObservedState } from '../../management/services/driver.ts';
import { SCALING_LIMITS } from '../../management/services/scaling/scaling-limits.ts';

const MAX_REPLICAS = SCALING_LIMITS.numReplicas.maximum;
const MAX_MEMORY_GB = SCALING_LIMITS.replicaMemoryGb.maximum;
/** Of one shard. */
const MAX_TOTAL_GB = MAX_REPLICAS * MAX_MEMORY_GB;
const MAX_SHARDS = 200;

/** The most that a shard can use. Memory is per replica; load is over all replicas. */
const MAX_LOAD: Required<Load> = {
  // One core per GB of memory; machines have a quarter of that.
  cpuCores: MAX_TOTAL_GB,
  memoryBytes: MAX_TOTAL_GB * 2 ** 30,
  // 1 PiB.
  storedBytes: 2 ** 50,
  outOfMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Sizes and stored bytes are billed, and a driver reports what a receiver or a cluster claims. A claim that no service can
 * have makes the service degraded, and none of its figures is used.
 */
export function checkClaims(observed: Observed): Observed {
  const { replicas, memoryGb, shards, runningGb, load, ...rest } = observed;
  const factor = Math.min(Math.max(shards ?? 1, 1), MAX_SHARDS);
  const claims = [
    ...listClaims('replicas', replicas, MAX_REPLICAS),
    ...(Number.isInteger(replicas ?? 0) ? [] : [`replicas is ${replicas} and must be an integer`]),
    ...listClaims('memoryGb', memoryGb, MAX_MEMORY_GB),
    ...listClaims('shards', shards, MAX_SHARDS, 1),
    ...(Number.isInteger(shards ?? 1) ? [] : [`shards is ${shards} and must be an integer`]),
    ...listClaims('runningGb', runningGb, MAX_TOTAL_GB * MAX_SHARDS),
    ...(Object.keys(MAX_LOAD) as (keyof Load)[]).flatMap((name) =>
      listClaims(`load.${name}`, load?.[name], Math.min(MAX_LOAD[name] * factor, Number.MAX_SAFE_INTEGER)),
    ),
  ];
  if (claims.length === 0) return observed;
  return { ...rest, state: 'degraded', reason: `The driver reported impossible values: ${claims.join('; ')}` };
}

const listClaims = (name: string, value: number | undefined, maximum: number, minimum = 0): string[] =>
  value === undefined || (value >= minimum && value <= maximum)
    ? []
    : [`${name} is ${value} and must be from ${minimum} to ${maximum}`];

/** What the service is while the driver reports another generation than the last change. */
export function toCurrent(observed: Observed, desired: Desired): Observed {
  const { generation } = observed;
  if (generation === undefined || generation === desired.generation) return observed;
  if (generation > desired.generation)
    return {
      ...observed,
      state: 'degraded',
      reason: `The driver is at generation ${generation} and the service at ${desired.generation}: another control plane uses it, or the store was restored from a backup`,
    };
  if (observed.state === 'degraded') return observed;
  return {
    ...observed,
    state: toTransitionState(observed.state, desired),
    reason: `The driver is at generation ${generation} of ${desired.generation}`,
  };
}

/** A stopped service is not known to stay so before the driver has acted on the command. */
function toTransitionState(state: ObservedState, desired: Desired): ObservedState {
  if (desired.state !== 'running') return 'stopping';
  if (state === 'running') return 'resizing';
  return state === 'idle' ? 'awaking' : 'starting';
}
