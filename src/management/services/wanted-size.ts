import { getEffectiveScaling } from './schedule.ts';
import { getMaxReplicas, type Service, type ServiceSize } from './service.ts';

/** The size that the service is to have: what autoscaling chose, or else the minimum, within the limits in effect. */
export function getWantedSize(service: Pick<Service, 'scaling' | 'settings' | 'size'>, now: number): ServiceSize {
  const { scaling } = getEffectiveScaling(service, now);
  const { minReplicaMemoryGb, maxReplicaMemoryGb, numReplicas } = scaling;
  return {
    memoryGb: clamp(service.size?.memoryGb ?? minReplicaMemoryGb, minReplicaMemoryGb, maxReplicaMemoryGb),
    replicas: clamp(service.size?.replicas ?? numReplicas, numReplicas, getMaxReplicas(scaling)),
  };
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);
