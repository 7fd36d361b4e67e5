import { instanceReplicaScalingUpdateConstraints as constraints } from '../../../api/generated.ts';
import type { Session } from '../../../api/session.ts';
import type { Service } from '../../../api/types.ts';

/** Limits of a field for one service. */
export interface FieldLimits {
  min: number;
  max: number;
  step: number;
  /** The reason for a limit that is stricter than usual. */
  reason: string | undefined;
  /** The field cannot be changed. */
  isFixed: boolean;
}

export interface ScalingLimits {
  replicas: FieldLimits;
  /** Of one replica. */
  memory: FieldLimits;
}

/** From the `x-limits` extension of the OpenAPI document; all members of `when` must match. */
interface ConditionalLimit {
  readonly when: {
    readonly organizationTier?: string;
    readonly organizationPaid?: boolean;
    readonly serviceTier?: string;
    readonly isPrimary?: boolean;
  };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly readOnly?: boolean;
  readonly message: string;
}

export const MIN_IDLE_MINUTES = constraints.idleTimeoutMinutes.minimum;

/** A new service is the first of its warehouse. */
export const NEW_SERVICE = { tier: 'production', isPrimary: true } as const;

export function resolveLimits(
  service: Pick<Service, 'tier' | 'isPrimary'>,
  organization: Session['organization'],
): ScalingLimits {
  const { numReplicas, minReplicaMemoryGb, maxReplicaMemoryGb } = constraints;
  const { tier = 'production' } = service;
  const findLimit = (limits: readonly ConditionalLimit[]) =>
    limits.find(
      ({ when: { organizationTier, organizationPaid, serviceTier, isPrimary } }) =>
        (organizationTier ?? organization.tier) === organization.tier &&
        (organizationPaid ?? organization.paid) === organization.paid &&
        (serviceTier ?? tier) === tier &&
        (isPrimary ?? service.isPrimary) === service.isPrimary,
    );
  const toFieldLimits = (min: number, max: number, step: number, limit: ConditionalLimit | undefined): FieldLimits => {
    const limited = { min: limit?.minimum ?? min, max: limit?.maximum ?? max };
    const isFixed = limit?.readOnly === true || limited.min === limited.max;
    return { ...limited, step, isFixed, reason: limit?.message };
  };
  return {
    replicas: toFieldLimits(numReplicas.minimum, numReplicas.maximum, 1, findLimit(numReplicas.limits)),
    memory: toFieldLimits(
      minReplicaMemoryGb.minimum,
      maxReplicaMemoryGb.maximum,
      maxReplicaMemoryGb.multipleOf,
      findLimit(maxReplicaMemoryGb.limits),
    ),
  };
}
