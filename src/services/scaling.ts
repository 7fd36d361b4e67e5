import type { Violation } from '../kernel/errors.ts';
import {
  findViolatedLimit,
  REPLICA_LIMITS,
  REPLICA_MEMORY_LIMITS,
  type ScalingContext,
  TOTAL_MEMORY_LIMITS,
} from './scaling-limits.ts';
import { type Scaling, TOTAL_PER_REPLICA } from './service.ts';

/** Fields left out keep their value. Memory comes as totals or per replica, never as both. */
export interface ScalingChange {
  numReplicas?: number | undefined;
  minTotalMemoryGb?: number | undefined;
  maxTotalMemoryGb?: number | undefined;
  minReplicaMemoryGb?: number | undefined;
  maxReplicaMemoryGb?: number | undefined;
  idleScaling?: boolean | undefined;
  idleTimeoutMinutes?: number | undefined;
}

/** The settings after the change, or everything that is wrong with it. Ranges and steps are the schema's work. */
export function rescaled(
  current: Scaling,
  change: ScalingChange,
  context: ScalingContext,
): { scaling: Scaling; violations: Violation[] } {
  const scaling: Scaling = {
    numReplicas: change.numReplicas ?? current.numReplicas,
    minReplicaMemoryGb: replicaMemory(change.minReplicaMemoryGb, change.minTotalMemoryGb) ?? current.minReplicaMemoryGb,
    maxReplicaMemoryGb: replicaMemory(change.maxReplicaMemoryGb, change.maxTotalMemoryGb) ?? current.maxReplicaMemoryGb,
    idleScaling: change.idleScaling ?? current.idleScaling,
    idleTimeoutMinutes: change.idleTimeoutMinutes ?? current.idleTimeoutMinutes,
  };
  const violations = [
    ...replicaViolations(current, scaling, context),
    ...memoryViolations(current, scaling, change, context),
    ...orderViolations(current, scaling, change),
  ];
  return { scaling, violations };
}

function replicaViolations(current: Scaling, { numReplicas }: Scaling, context: ScalingContext): Violation[] {
  if (numReplicas === current.numReplicas) return [];
  const rule = findViolatedLimit(REPLICA_LIMITS, numReplicas, context);
  return rule === undefined ? [] : [{ path: 'numReplicas', rule, value: numReplicas }];
}

function memoryViolations(
  current: Scaling,
  wanted: Scaling,
  change: ScalingChange,
  context: ScalingContext,
): Violation[] {
  return (['min', 'max'] as const).flatMap((bound) => {
    const replicaGb = wanted[`${bound}ReplicaMemoryGb`];
    if (replicaGb === current[`${bound}ReplicaMemoryGb`]) return [];
    const isTotal = change[`${bound}TotalMemoryGb`] !== undefined;
    const value = inUnit(replicaGb, isTotal);
    const rule = findViolatedLimit(isTotal ? TOTAL_MEMORY_LIMITS : REPLICA_MEMORY_LIMITS, value, context);
    const path = isTotal ? `${bound}TotalMemoryGb` : `${bound}ReplicaMemoryGb`;
    return rule === undefined ? [] : [{ path, rule, value }];
  });
}

/** Equal is fine: that pins the size. Stored settings that are out of order do not spoil a change of something else. */
function orderViolations(current: Scaling, wanted: Scaling, change: ScalingChange): Violation[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = wanted;
  if (min <= max || !isResized(current, wanted)) return [];
  const isTotal = change.minTotalMemoryGb !== undefined || change.maxTotalMemoryGb !== undefined;
  const bound = min === current.minReplicaMemoryGb ? 'max' : 'min';
  const value = inUnit(bound === 'min' ? min : max, isTotal);
  const rule = `The minimum of ${inUnit(min, isTotal)} GB must not exceed the maximum of ${inUnit(max, isTotal)} GB`;
  return [{ path: `${bound}${isTotal ? 'Total' : 'Replica'}MemoryGb`, rule, value }];
}

const isResized = (current: Scaling, wanted: Scaling): boolean =>
  wanted.minReplicaMemoryGb !== current.minReplicaMemoryGb || wanted.maxReplicaMemoryGb !== current.maxReplicaMemoryGb;

const inUnit = (replicaGb: number, isTotal: boolean): number => (isTotal ? replicaGb * TOTAL_PER_REPLICA : replicaGb);

function replicaMemory(replicaGb: number | undefined, totalGb: number | undefined): number | undefined {
  return replicaGb ?? (totalGb === undefined ? undefined : totalGb / TOTAL_PER_REPLICA);
}
