import { SCALING_LIMITS } from '../../../management/services/scaling/scaling-limits.ts';
import type { ServiceSize } from '../../../management/services/service.ts';
import { findLarger, findSmaller, type SizeLimits } from '../sizes.ts';

/** The settings that a replay compares. */
export const VARIANTS = ['current', 'narrower', 'wider', 'off at minimum', 'off at maximum'] as const;
export type Variant = (typeof VARIANTS)[number];

const { minimum: SMALLEST_GB, maximum: LARGEST_GB } = SCALING_LIMITS.replicaMemoryGb;
const { minimum: FEWEST, maximum: MOST } = SCALING_LIMITS.numReplicas;

/** The limits of a variant: each bound one step further in or out, or one size. */
export function toVariant(limits: SizeLimits, variant: Variant): SizeLimits {
  switch (variant) {
    case 'current':
      return limits;
    case 'narrower':
      return limits.mode === 'horizontal' ? moveReplicas(limits, 1) : narrowMemory(limits);
    case 'wider':
      return limits.mode === 'horizontal' ? moveReplicas(limits, -1) : widenMemory(limits);
    case 'off at minimum':
      return { ...limits, maxMemoryGb: limits.minMemoryGb, maxReplicas: limits.minReplicas };
    case 'off at maximum':
      return { ...limits, minMemoryGb: limits.maxMemoryGb, minReplicas: limits.maxReplicas };
  }
}

export const getSmallest = ({ minMemoryGb, minReplicas }: SizeLimits): ServiceSize => ({
  memoryGb: minMemoryGb,
  replicas: minReplicas,
});

function narrowMemory(limits: SizeLimits): SizeLimits {
  const minMemoryGb = findLarger(limits.minMemoryGb, limits) ?? limits.minMemoryGb;
  const maxMemoryGb = findSmaller(limits.maxMemoryGb, limits) ?? limits.maxMemoryGb;
  return minMemoryGb <= maxMemoryGb ? { ...limits, minMemoryGb, maxMemoryGb } : limits;
}

function widenMemory(limits: SizeLimits): SizeLimits {
  const all = { ...limits, minMemoryGb: SMALLEST_GB, maxMemoryGb: LARGEST_GB };
  return {
    ...limits,
    minMemoryGb: findSmaller(limits.minMemoryGb, all) ?? limits.minMemoryGb,
    maxMemoryGb: findLarger(limits.maxMemoryGb, all) ?? limits.maxMemoryGb,
  };
}

function moveReplicas(limits: SizeLimits, inwards: 1 | -1): SizeLimits {
  const minReplicas = Math.max(FEWEST, limits.minReplicas + inwards);
  const maxReplicas = Math.min(MOST, limits.maxReplicas - inwards);
  return minReplicas <= maxReplicas ? { ...limits, minReplicas, maxReplicas } : limits;
}
