import type { Violation } from '../kernel/errors.ts';
import {
  findLimit,
  isOutOfRange,
  listMemoryLimits,
  matchesLimit,
  REPLICA_LIMITS,
  type ScalingContext,
} from './scaling-limits.ts';
import { type Scaling, type Service, TOTAL_PER_REPLICA } from './service.ts';

/** Omitted fields keep their value. Memory is given as totals or per replica, never as both. */
export interface ScalingChange {
  numReplicas?: number | undefined;
  minTotalMemoryGb?: number | undefined;
  maxTotalMemoryGb?: number | undefined;
  minReplicaMemoryGb?: number | undefined;
  maxReplicaMemoryGb?: number | undefined;
  idleScaling?: boolean | undefined;
  idleTimeoutMinutes?: number | undefined;
}

/** The settings after the change, and the rules that it violates. Ranges and steps are checked by the schema. */
export function applyScalingChange(
  current: Scaling,
  change: ScalingChange,
  context: ScalingContext,
): { scaling: Scaling; violations: Violation[] } {
  const scaling: Scaling = {
    numReplicas: change.numReplicas ?? current.numReplicas,
    minReplicaMemoryGb:
      toReplicaMemory(change.minReplicaMemoryGb, change.minTotalMemoryGb) ?? current.minReplicaMemoryGb,
    maxReplicaMemoryGb:
      toReplicaMemory(change.maxReplicaMemoryGb, change.maxTotalMemoryGb) ?? current.maxReplicaMemoryGb,
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
  const limit = findLimit(REPLICA_LIMITS, context);
  return limit && (limit.readOnly || isOutOfRange(numReplicas, limit))
    ? [{ path: 'numReplicas', rule: limit.message, value: numReplicas }]
    : [];
}

function memoryViolations(
  current: Scaling,
  updated: Scaling,
  change: ScalingChange,
  context: ScalingContext,
): Violation[] {
  return (['min', 'max'] as const).flatMap((bound) => {
    const replicaGb = updated[`${bound}ReplicaMemoryGb`];
    if (replicaGb === current[`${bound}ReplicaMemoryGb`]) return [];
    const isTotal = change[`${bound}TotalMemoryGb`] !== undefined;
    const value = toUnit(replicaGb, isTotal);
    const limit = findLimit(listMemoryLimits(isTotal ? TOTAL_PER_REPLICA : 1), context);
    return limit && (limit.readOnly || isOutOfRange(value, limit))
      ? [{ path: `${bound}${isTotal ? 'Total' : 'Replica'}MemoryGb`, rule: limit.message, value }]
      : [];
  });
}

/** Equal bounds fix the size. Stored bounds that are out of order do not block a change of other settings. */
function orderViolations(current: Scaling, updated: Scaling, change: ScalingChange): Violation[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = updated;
  if (min <= max || !isResized(current, updated)) return [];
  const isTotal = change.minTotalMemoryGb !== undefined || change.maxTotalMemoryGb !== undefined;
  const bound = min === current.minReplicaMemoryGb ? 'max' : 'min';
  const value = toUnit(bound === 'min' ? min : max, isTotal);
  const rule = `The minimum of ${toUnit(min, isTotal)} GB must not exceed the maximum of ${toUnit(max, isTotal)} GB`;
  return [{ path: `${bound}${isTotal ? 'Total' : 'Replica'}MemoryGb`, rule, value }];
}

/**
 * The rules for a service declared in a fleet file. A file may declare the size of a service that the API cannot
 * resize (BASIC, development), so read-only limits do not apply.
 */
export function declaredScalingViolations(
  { scaling, ...service }: Pick<Service, 'kind' | 'isPrimary' | 'scaling'>,
  organization: ScalingContext['organization'],
): Violation[] {
  const { numReplicas, minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = scaling;
  const context = { organization, service };
  const violations: Violation[] = [];
  const replicaLimit = findLimit(REPLICA_LIMITS, context);
  if (replicaLimit && isOutOfRange(numReplicas, replicaLimit))
    violations.push({ path: 'numReplicas', rule: replicaLimit.message, value: numReplicas });
  const memoryLimit = listMemoryLimits(1).find((limit) => !limit.readOnly && matchesLimit(limit, context));
  if (memoryLimit?.maximum !== undefined && isOutOfRange(max, memoryLimit)) {
    const { maximum } = memoryLimit;
    const rule = `A non-paid organization may have at most ${maximum} GB per replica, ${maximum * TOTAL_PER_REPLICA} GB in total`;
    violations.push({ path: 'maxReplicaMemoryGb', rule, value: max });
  }
  if (min > max) {
    const rule = `The minimum of ${min} GB per replica must not exceed the maximum of ${max} GB`;
    violations.push({ path: 'minReplicaMemoryGb', rule, value: min });
  }
  return violations;
}

const isResized = (current: Scaling, updated: Scaling): boolean =>
  updated.minReplicaMemoryGb !== current.minReplicaMemoryGb ||
  updated.maxReplicaMemoryGb !== current.maxReplicaMemoryGb;

const toUnit = (replicaGb: number, isTotal: boolean): number => (isTotal ? replicaGb * TOTAL_PER_REPLICA : replicaGb);

function toReplicaMemory(replicaGb: number | undefined, totalGb: number | undefined): number | undefined {
  return replicaGb ?? (totalGb === undefined ? undefined : totalGb / TOTAL_PER_REPLICA);
}
