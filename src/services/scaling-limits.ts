import type { Organization } from '../organizations/organization.ts';
import { type ServiceKind, TOTAL_PER_REPLICA } from './service.ts';

export const MAX_UNPAID_REPLICA_GB = 120;
export const MIN_REPLICAS_OF_PRIMARY = 2;

/** The organization and service that a limit depends on. */
export interface ScalingContext {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: { kind: ServiceKind; isPrimary: boolean };
}

/** A limit for some organizations or services. The OpenAPI document publishes it as `x-limits`, which the console reads. */
interface ConditionalLimit {
  /** In the terms of the API; all members must match. */
  when: {
    organizationTier?: Organization['tier'];
    organizationPaid?: boolean;
    serviceTier?: ServiceKind;
    isPrimary?: boolean;
  };
  minimum?: number;
  maximum?: number;
  /** The field cannot be changed at all. */
  readOnly?: true;
  message: string;
}

const DEVELOPMENT: ConditionalLimit = {
  when: { serviceTier: 'development' },
  readOnly: true,
  message: 'The size of a development service cannot be changed',
};

/** In order: the first limit that matches applies. */
export const REPLICA_LIMITS: readonly ConditionalLimit[] = [
  {
    when: { organizationTier: 'BASIC' },
    minimum: 1,
    maximum: 1,
    message: 'A service of a BASIC organization has exactly 1 replica',
  },
  DEVELOPMENT,
  {
    when: { isPrimary: true },
    minimum: MIN_REPLICAS_OF_PRIMARY,
    message: `The first service of a warehouse must have at least ${MIN_REPLICAS_OF_PRIMARY} replicas`,
  },
];

/** In order: the first limit that matches applies. In GB per replica, or in GB in total. */
const memoryLimits = (maximum: number): readonly ConditionalLimit[] => [
  DEVELOPMENT,
  {
    when: { organizationTier: 'BASIC' },
    readOnly: true,
    message: 'A BASIC organization cannot change memory',
  },
  {
    when: { organizationPaid: false },
    maximum,
    message: `The value must be at most ${maximum} for a non-paid organization`,
  },
];
export const REPLICA_MEMORY_LIMITS = memoryLimits(MAX_UNPAID_REPLICA_GB);
export const TOTAL_MEMORY_LIMITS = memoryLimits(MAX_UNPAID_REPLICA_GB * TOTAL_PER_REPLICA);

/** The message of the limit that a changed value violates. */
export function findViolatedLimit(
  limits: readonly ConditionalLimit[],
  value: number,
  { organization, service }: ScalingContext,
): string | undefined {
  const limit = limits.find(
    ({ when: { organizationTier, organizationPaid, serviceTier, isPrimary } }) =>
      (organizationTier ?? organization.tier) === organization.tier &&
      (organizationPaid ?? organization.isPaid) === organization.isPaid &&
      (serviceTier ?? service.kind) === service.kind &&
      (isPrimary ?? service.isPrimary) === service.isPrimary,
  );
  if (!limit) return undefined;
  const { minimum = -Infinity, maximum = Infinity, readOnly } = limit;
  return readOnly || value < minimum || value > maximum ? limit.message : undefined;
}
