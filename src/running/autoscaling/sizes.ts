import type { Organization } from '../../management/organizations/organization.ts';
import { DRIVERS } from '../../management/services/driver.ts';
import {
  findLimit,
  listMemoryLimits,
  REPLICA_LIMITS,
  SCALING_LIMITS,
} from '../../management/services/scaling/scaling-limits.ts';
import { getEffectiveScaling, getWantedSize } from '../../management/services/scaling/schedule.ts';
import { getMaxReplicas, type Service, type ServiceSize } from '../../management/services/service.ts';
import type { AutoscalingMode } from '../../management/services/service-settings.ts';

/** The sizes that a service may have. In vertical mode the number of replicas is fixed, in horizontal mode their memory. */
export interface SizeLimits {
  mode: AutoscalingMode;
  minMemoryGb: number;
  maxMemoryGb: number;
  minReplicas: number;
  maxReplicas: number;
  /** Why the size cannot be changed at all, as a sentence without a period. */
  fixed?: string;
}

const { minimum: SMALLEST_GB, maximum: LARGEST_GB, multipleOf: UNIT_GB } = SCALING_LIMITS.replicaMemoryGb;
/** Each step is about a quarter: a step of 4 GB would be half of 8 GB, and a hundredth of 356 GB. */
const STEP_FACTOR = 1.25;

/** 8, 12, 16, 20, 28, 36, 48, 60, 76, 96, 120, 152, 192, 240, 300, 356: multiples of 4 GB, as the contract requires. */
export const MEMORY_STEPS: readonly number[] = listSteps();

function listSteps(): number[] {
  const steps: number[] = [SMALLEST_GB];
  for (let last: number = SMALLEST_GB; last < LARGEST_GB; ) {
    last = Math.min(LARGEST_GB, Math.ceil((last * STEP_FACTOR) / UNIT_GB) * UNIT_GB);
    steps.push(last);
  }
  return steps;
}

/** The next larger size within the limits; undefined at the maximum. */
export function findLarger(memoryGb: number, { maxMemoryGb }: SizeLimits): number | undefined {
  if (memoryGb >= maxMemoryGb) return undefined;
  return Math.min(maxMemoryGb, MEMORY_STEPS.find((step) => step > memoryGb) ?? maxMemoryGb);
}

/** The next smaller size within the limits; undefined at the minimum. */
export function findSmaller(memoryGb: number, { minMemoryGb }: SizeLimits): number | undefined {
  if (memoryGb <= minMemoryGb) return undefined;
  return Math.max(minMemoryGb, MEMORY_STEPS.findLast((step) => step < memoryGb) ?? minMemoryGb);
}

/** The smallest size within the limits that has this much memory, or the maximum. */
export function findSizeFor(neededGb: number, { minMemoryGb, maxMemoryGb }: SizeLimits): number {
  const step = MEMORY_STEPS.find((size) => size >= neededGb) ?? maxMemoryGb;
  return clamp(step, minMemoryGb, maxMemoryGb);
}

export const isSameSize = (a: ServiceSize, b: ServiceSize): boolean =>
  a.memoryGb === b.memoryGb && a.replicas === b.replicas;

export const clampSize = ({ memoryGb, replicas }: ServiceSize, limits: SizeLimits): ServiceSize => ({
  memoryGb: clamp(memoryGb, limits.minMemoryGb, limits.maxMemoryGb),
  replicas: clamp(replicas, limits.minReplicas, limits.maxReplicas),
});

/** The sizes that decisions are about: the desired one, as far as the driver can run it, and the observed one. */
export function getSizes(
  service: Pick<Service, 'scaling' | 'settings' | 'size' | 'driver' | 'observed'>,
  now: number,
): { current: ServiceSize; running: ServiceSize } {
  const wanted = getWantedSize(service, now);
  const current = {
    ...wanted,
    replicas: Math.min(wanted.replicas, DRIVERS[service.driver].maxReplicas ?? wanted.replicas),
  };
  const { memoryGb, replicas } = service.observed;
  // Not reported, or nothing runs.
  return { current, running: { memoryGb: memoryGb || current.memoryGb, replicas: replicas || current.replicas } };
}

/** The limits at a time: the settings in effect, and those of the organization's tier. `until` is when they may change. */
export function getSizeLimits(
  service: Pick<Service, 'scaling' | 'settings' | 'kind' | 'isPrimary' | 'driver'>,
  organization: Pick<Organization, 'tier' | 'isPaid'>,
  now: number,
): { limits: SizeLimits; until: number } {
  const { scaling, until } = getEffectiveScaling(service, now);
  const context = { organization, service };
  const memoryLimit = findLimit(listMemoryLimits(1), context);
  const replicaLimit = findLimit(REPLICA_LIMITS, context);
  const maxMemoryGb = Math.min(scaling.maxReplicaMemoryGb, memoryLimit?.maximum ?? LARGEST_GB);
  const maxReplicas = Math.min(
    getMaxReplicas(scaling),
    replicaLimit?.maximum ?? SCALING_LIMITS.numReplicas.maximum,
    SCALING_LIMITS.numReplicas.maximum,
    DRIVERS[service.driver].maxReplicas ?? SCALING_LIMITS.numReplicas.maximum,
  );
  const limits: SizeLimits = {
    mode: scaling.autoscalingMode ?? 'vertical',
    minMemoryGb: Math.min(scaling.minReplicaMemoryGb, maxMemoryGb),
    maxMemoryGb,
    minReplicas: Math.min(scaling.numReplicas, maxReplicas),
    maxReplicas,
  };
  return { limits: memoryLimit?.readOnly ? { ...limits, fixed: memoryLimit.message } : limits, until };
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);
