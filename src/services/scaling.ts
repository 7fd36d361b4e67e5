import type { Violation } from '../kernel/errors.ts';
import type { Organization } from '../organizations/organization.ts';
import { type Scaling, type ServiceKind, TOTAL_PER_REPLICA } from './service.ts';

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

/** What the rules look at besides the numbers themselves. */
export interface ScalingContext {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: { kind: ServiceKind; isPrimary: boolean };
}

export const MAX_UNPAID_REPLICA_GB = 120;
export const MIN_REPLICAS_OF_PRIMARY = 2;

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

function replicaViolations(
  current: Scaling,
  { numReplicas }: Scaling,
  { organization, service }: ScalingContext,
): Violation[] {
  if (numReplicas === current.numReplicas) return [];
  const broken = (rule: string) => [{ path: 'numReplicas', rule, value: numReplicas }];
  if (organization.tier === 'BASIC')
    return numReplicas === 1 ? [] : broken('A service of a BASIC organization has exactly 1 replica');
  if (service.kind === 'development') return broken('The size of a development service cannot be changed');
  if (service.isPrimary && numReplicas < MIN_REPLICAS_OF_PRIMARY) {
    return broken(`The first service of a warehouse must have at least ${MIN_REPLICAS_OF_PRIMARY} replicas`);
  }
  return [];
}

function memoryViolations(
  current: Scaling,
  wanted: Scaling,
  change: ScalingChange,
  { organization, service }: ScalingContext,
): Violation[] {
  if (!isResized(current, wanted)) return [];
  return (['min', 'max'] as const).flatMap((bound) => {
    const replicaGb = wanted[`${bound}ReplicaMemoryGb`];
    if (replicaGb === current[`${bound}ReplicaMemoryGb`]) return [];
    const isTotal = change[`${bound}TotalMemoryGb`] !== undefined;
    const path = isTotal ? `${bound}TotalMemoryGb` : `${bound}ReplicaMemoryGb`;
    const value = inUnit(replicaGb, isTotal);
    if (service.kind === 'development')
      return [{ path, rule: 'The size of a development service cannot be changed', value }];
    if (organization.tier === 'BASIC') return [{ path, rule: 'A BASIC organization cannot change memory', value }];
    if (!organization.isPaid && replicaGb > MAX_UNPAID_REPLICA_GB) {
      return [
        {
          path,
          rule: `The value must be at most ${inUnit(MAX_UNPAID_REPLICA_GB, isTotal)} for a non-paid organization`,
          value,
        },
      ];
    }
    return [];
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
