import type { Violation } from '../../../kernel/errors.ts';
import { getMaxReplicas, type Scaling, type Service, TOTAL_PER_REPLICA } from '../service.ts';
import type { AutoscalingMode } from '../service-settings.ts';
import { findLimit, isOutOfRange, listMemoryLimits, REPLICA_LIMITS, type ScalingContext } from './scaling-limits.ts';

/**
 * Omitted fields keep their value. Memory is given as totals or per replica, never as both. `numReplicas` sets
 * `minReplicas` and `maxReplicas` with the same value.
 */
export interface ScalingChange {
  autoscalingMode?: AutoscalingMode | undefined;
  numReplicas?: number | undefined;
  minReplicas?: number | undefined;
  maxReplicas?: number | undefined;
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
  const replicas = mergeReplicas(current, change);
  const scaling = mergeScaling(current, change, replicas);
  return { scaling, violations: scalingViolations(current, scaling, change, context, replicas) };
}

/**
 * The rules for a service declared in a fleet file. A file may declare the size of a service that the API cannot
 * resize (BASIC, development), so read-only limits do not apply.
 */
export const declaredScalingViolations = (
  { scaling, ...service }: Pick<Service, 'kind' | 'isPrimary' | 'scaling'>,
  organization: ScalingContext['organization'],
): Violation[] => scalingViolations(undefined, scaling, scaling, { organization, service });

/** `current` is undefined for a declared service, whose values are all new and per replica. */
function scalingViolations(
  current: Scaling | undefined,
  updated: Scaling,
  change: ScalingChange,
  context: ScalingContext,
  replicas = mergeReplicas(updated, change),
): Violation[] {
  return [
    ...replicaViolations(current, replicas, change, context),
    ...memoryViolations(current, updated, change, context),
    ...orderViolations(current, updated, change),
    ...modeViolations(current, updated, change),
  ];
}

/** The settings after a change that violates no rule. */
export function mergeScaling(
  current: Scaling,
  change: ScalingChange,
  replicas = mergeReplicas(current, change),
): Scaling {
  const scaling: Scaling = {
    numReplicas: replicas.min,
    minReplicaMemoryGb:
      toReplicaMemory(change.minReplicaMemoryGb, change.minTotalMemoryGb) ?? current.minReplicaMemoryGb,
    maxReplicaMemoryGb:
      toReplicaMemory(change.maxReplicaMemoryGb, change.maxTotalMemoryGb) ?? current.maxReplicaMemoryGb,
    idleScaling: change.idleScaling ?? current.idleScaling,
    idleTimeoutMinutes: change.idleTimeoutMinutes ?? current.idleTimeoutMinutes,
  };
  if (replicas.mode === 'horizontal') {
    scaling.autoscalingMode = 'horizontal';
    scaling.maxReplicas = replicas.max;
  }
  return scaling;
}

interface Replicas {
  mode: AutoscalingMode;
  min: number;
  max: number;
}

/** A service that returns to vertical mode keeps its minimum. */
function mergeReplicas(current: Scaling, change: ScalingChange): Replicas {
  const mode = change.autoscalingMode ?? current.autoscalingMode ?? 'vertical';
  const min = change.minReplicas ?? change.numReplicas ?? current.numReplicas;
  const isReturning = mode === 'vertical' && current.autoscalingMode === 'horizontal';
  const max = change.maxReplicas ?? change.numReplicas ?? (isReturning ? min : getMaxReplicas(current));
  return { mode, min, max };
}

function replicaViolations(
  current: Scaling | undefined,
  replicas: Replicas,
  change: ScalingChange,
  context: ScalingContext,
): Violation[] {
  const { min, max } = replicas;
  const { numReplicas } = change;
  const violations: Violation[] = [];
  const limit = findLimit(REPLICA_LIMITS, context);
  // numReplicas replaces the omitted bounds, so a violation of either names it, once.
  const bounds: { name: 'minReplicas' | 'maxReplicas' | 'numReplicas'; value: number; before: number | undefined }[] = [
    { name: 'minReplicas', value: min, before: current?.numReplicas },
    { name: 'maxReplicas', value: max, before: current && getMaxReplicas(current) },
  ];
  if (numReplicas !== undefined) bounds.push({ name: 'numReplicas', value: numReplicas, before: current?.numReplicas });
  for (const { name, value, before } of bounds) {
    const path = change[name] === undefined && numReplicas !== undefined ? 'numReplicas' : name;
    const isRejected =
      limit !== undefined && value !== before && ((limit.readOnly && current) || isOutOfRange(value, limit));
    if (isRejected && !violations.some((violation) => violation.path === path))
      violations.push({ path, rule: limit.message, value });
  }
  const isNamed = violations.some(({ path }) => path === 'numReplicas');
  // A declared numReplicas is the minimum.
  if (current && numReplicas !== undefined && !isNamed && (numReplicas !== min || numReplicas !== max)) {
    const rule = 'The value sets minReplicas and maxReplicas, so they must be left out or be equal to it';
    violations.push({ path: 'numReplicas', rule, value: numReplicas });
  }
  return violations.length > 0 ? violations : boundViolations(replicas, change);
}

function boundViolations({ mode, min, max }: Replicas, change: ScalingChange): Violation[] {
  if (min > max) {
    const path = change.minReplicas === undefined ? 'maxReplicas' : 'minReplicas';
    const rule = `The minimum of ${min} replicas must not exceed the maximum of ${max}`;
    return [{ path, rule, value: change[path] }];
  }
  if (mode === 'vertical' && min !== max) {
    const path = change.maxReplicas === undefined ? 'minReplicas' : 'maxReplicas';
    const rule = 'minReplicas and maxReplicas must be equal unless autoscalingMode is horizontal';
    return [{ path, rule, value: change[path] }];
  }
  return [];
}

/** The autoscaler changes either the size of the replicas or their number. */
function modeViolations(current: Scaling | undefined, updated: Scaling, change: ScalingChange): Violation[] {
  const { autoscalingMode, minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = updated;
  if (autoscalingMode !== 'horizontal' || min === max || min > max) return [];
  const isTotal = isGivenAsTotal(change);
  const name = `${change.minReplicaMemoryGb === undefined && change.minTotalMemoryGb === undefined ? 'max' : 'min'}${isTotal ? 'Total' : 'Replica'}MemoryGb`;
  const isSized = isResized(current, updated);
  const rule = `The size of a replica is fixed in horizontal mode: the minimum of ${toUnit(min, isTotal)} GB and the maximum of ${toUnit(max, isTotal)} GB must be equal`;
  return [
    isSized
      ? { path: name, rule, value: change[name as keyof ScalingChange] }
      : { path: 'autoscalingMode', rule, value: autoscalingMode },
  ];
}

const isGivenAsTotal = (change: ScalingChange): boolean =>
  change.minTotalMemoryGb !== undefined || change.maxTotalMemoryGb !== undefined;

function memoryViolations(
  current: Scaling | undefined,
  updated: Scaling,
  change: ScalingChange,
  context: ScalingContext,
): Violation[] {
  return (['min', 'max'] as const).flatMap((bound) => {
    const replicaGb = updated[`${bound}ReplicaMemoryGb`];
    if (replicaGb === current?.[`${bound}ReplicaMemoryGb`]) return [];
    const isTotal = change[`${bound}TotalMemoryGb`] !== undefined;
    const value = toUnit(replicaGb, isTotal);
    const limits = listMemoryLimits(isTotal ? TOTAL_PER_REPLICA : 1).filter(({ readOnly }) => current || !readOnly);
    const limit = findLimit(limits, context);
    if (!limit || !(limit.readOnly || isOutOfRange(value, limit))) return [];
    // A file may have totals.
    const declared = `A non-paid organization may have at most ${limit.maximum} GB per replica, ${toUnit(limit.maximum ?? 0, true)} GB in total`;
    const rule = current ? limit.message : declared;
    return [{ path: `${bound}${isTotal ? 'Total' : 'Replica'}MemoryGb`, rule, value }];
  });
}

/** Equal bounds fix the size. Stored bounds that are out of order do not block a change of other settings. */
function orderViolations(current: Scaling | undefined, updated: Scaling, change: ScalingChange): Violation[] {
  const { minReplicaMemoryGb: min, maxReplicaMemoryGb: max } = updated;
  if (min <= max || !isResized(current, updated)) return [];
  const isTotal = isGivenAsTotal(change);
  const bound = min === current?.minReplicaMemoryGb ? 'max' : 'min';
  const value = toUnit(bound === 'min' ? min : max, isTotal);
  const rule = `The minimum of ${toUnit(min, isTotal)} ${current ? 'GB' : 'GB per replica'} must not exceed the maximum of ${toUnit(max, isTotal)} GB`;
  return [{ path: `${bound}${isTotal ? 'Total' : 'Replica'}MemoryGb`, rule, value }];
}

const isResized = (current: Scaling | undefined, updated: Scaling): boolean =>
  updated.minReplicaMemoryGb !== current?.minReplicaMemoryGb ||
  updated.maxReplicaMemoryGb !== current?.maxReplicaMemoryGb;

const toUnit = (replicaGb: number, isTotal: boolean): number => (isTotal ? replicaGb * TOTAL_PER_REPLICA : replicaGb);

function toReplicaMemory(replicaGb: number | undefined, totalGb: number | undefined): number | undefined {
  return replicaGb ?? (totalGb === undefined ? undefined : totalGb / TOTAL_PER_REPLICA);
}
