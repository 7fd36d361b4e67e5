import type { Observed } from '../../management/services/driver.ts';

/** What compute is billed for, in GB: the memory of all replicas of all shards that were seen to run. */
export function countRunningGb({ state, memoryGb = 0, replicas = 1, shards = 1, runningGb }: Observed): number {
  if (runningGb !== undefined) return runningGb;
  return state === 'running' || state === 'resizing' ? memoryGb * replicas * shards : 0;
}

/** Adds the sum of what runs where the size does not say it: replicas differ, or some run in another state. */
export const withRunningGb = (observed: Observed, runningGb: number): Observed =>
  countRunningGb(observed) === runningGb ? observed : { ...observed, runningGb };
