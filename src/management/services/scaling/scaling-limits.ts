import type { Organization, Tier } from '../../organizations/organization.ts';
import { type ServiceKind, TOTAL_PER_REPLICA } from '../service.ts';

/** Total memory is set in steps of 12 GB, which is 4 GB per replica. */
const MEMORY_STEP_GB = 12;
const REPLICA_MEMORY_STEP_GB = MEMORY_STEP_GB / TOTAL_PER_REPLICA;

const MIN_REPLICA_MEMORY_GB = 8;
const MAX_REPLICA_MEMORY_GB = 356;
/** For an organization that does not pay. */
const MAX_UNPAID_REPLICA_MEMORY_GB = 120;
const MIN_PRIMARY_REPLICAS = 2;

/** The limits that apply to all organizations and services, as JSON Schema keywords. */
export const SCALING_LIMITS = {
  numReplicas: { minimum: 1, maximum: 20 },
  totalMemoryGb: {
    minimum: MIN_REPLICA_MEMORY_GB * TOTAL_PER_REPLICA,
    maximum: MAX_REPLICA_MEMORY_GB * TOTAL_PER_REPLICA,
    multipleOf: MEMORY_STEP_GB,
  },
  replicaMemoryGb: {
    minimum: MIN_REPLICA_MEMORY_GB,
    maximum: MAX_REPLICA_MEMORY_GB,
    multipleOf: REPLICA_MEMORY_STEP_GB,
  },
  idleTimeoutMinutes: { minimum: 5 },
} as const;

/** The properties of an organization and a service that limits depend on. */
export interface ScalingContext {
  organization: Pick<Organization, 'tier' | 'isPaid'>;
  service: { kind: ServiceKind; isPrimary: boolean };
}

/** A limit that applies if all members of `when` match. Published as `x-limits` in the OpenAPI document. */
interface ConditionalLimit {
  when: { organizationTier?: Tier; organizationPaid?: boolean; serviceTier?: ServiceKind; isPrimary?: boolean };
  minimum?: number;
  maximum?: number;
  /** The setting cannot be changed over the API. A fleet file may declare any value for it. */
  readOnly?: boolean;
  message: string;
}

const FIXED_SIZE: ConditionalLimit = {
  when: { serviceTier: 'development' },
  readOnly: true,
  message: 'The size of a development service cannot be changed',
};

/** The first match applies. */
export const REPLICA_LIMITS: readonly ConditionalLimit[] = [
  {
    when: { organizationTier: 'BASIC' },
    minimum: 1,
    maximum: 1,
    message: 'A service of a BASIC organization has exactly 1 replica',
  },
  FIXED_SIZE,
  {
    when: { isPrimary: true },
    minimum: MIN_PRIMARY_REPLICAS,
    message: `The first service of a warehouse must have at least ${MIN_PRIMARY_REPLICAS} replicas`,
  },
];

/** The first match applies. `replicas` is 1 for memory per replica, 3 for total memory. */
export function listMemoryLimits(replicas: number): ConditionalLimit[] {
  const maximum = MAX_UNPAID_REPLICA_MEMORY_GB * replicas;
  return [
    FIXED_SIZE,
    { when: { organizationTier: 'BASIC' }, readOnly: true, message: 'A BASIC organization cannot change memory' },
    {
      when: { organizationPaid: false },
      maximum,
      message: `The value must be at most ${maximum} for a non-paid organization`,
    },
  ];
}

const matchesLimit = ({ when }: ConditionalLimit, { organization, service }: ScalingContext): boolean =>
  (when.organizationTier ?? organization.tier) === organization.tier &&
  (when.organizationPaid ?? organization.isPaid) === organization.isPaid &&
  (when.serviceTier ?? service.kind) === service.kind &&
  (when.isPrimary ?? service.isPrimary) === service.isPrimary;

export const findLimit = (limits: readonly ConditionalLimit[], context: ScalingContext): ConditionalLimit | undefined =>
  limits.find((limit) => matchesLimit(limit, context));

export const isOutOfRange = (value: number, { minimum, maximum }: ConditionalLimit): boolean =>
  (minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum);
