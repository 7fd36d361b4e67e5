import type { Scaling } from '../../services/service.ts';

/** Compute is billed in units of this much memory. */
export const GB_PER_UNIT = 8;

/**
 * The average memory of one replica with new settings, from the average memory of all replicas of a shard so far. They are
 * assumed to have had the current settings, and a service that idles to have run at its minimum size or above.
 */
export function estimateReplicaGb(usedGb: number, current: Scaling, updated: Scaling): number {
  const replicaGb = usedGb / current.numReplicas;
  const runningShare = current.idleScaling ? Math.min(1, replicaGb / current.minReplicaMemoryGb) : 1;
  const runningGb = runningShare === 0 ? 0 : replicaGb / runningShare;
  const size = Math.min(Math.max(runningGb, updated.minReplicaMemoryGb), updated.maxReplicaMemoryGb);
  // How long the service would idle is not known if it could not idle so far.
  return size * (updated.idleScaling ? runningShare : 1);
}
