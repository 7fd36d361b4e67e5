import type { Organization } from '../organizations/organization.ts';

export const SERVICE_KINDS = ['production', 'development'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

export const SERVICE_STATES = [
  'starting',
  'stopping',
  'terminating',
  'softdeleting',
  'awaking',
  'partially_running',
  'provisioning',
  'running',
  'stopped',
  'terminated',
  'softdeleted',
  'degraded',
  'failed',
  'idle',
] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/** What the scaling operations steer. Memory is per replica; a total is always three times that (decision S4). */
export interface Scaling {
  numReplicas: number;
  minReplicaMemoryGb: number;
  maxReplicaMemoryGb: number;
  idleScaling: boolean;
  idleTimeoutMinutes: number;
}

interface Endpoint {
  protocol: string;
  host: string;
  port: number;
  username?: string;
}

/** The part of the record that no rule reads. */
export interface ServiceDetails {
  provider?: string;
  region?: string;
  databaseVersion?: string;
  endpoints?: Endpoint[];
  ipAccessList?: { source: string; description?: string }[];
  isReadonly?: boolean;
  iamRole?: string;
  byocId?: string;
  privateEndpointIds?: string[];
  availablePrivateEndpointIds?: string[];
  encryptionKey?: string;
  encryptionAssumedRoleIdentifier?: string;
  encryptionRoleId?: string;
  hasTransparentDataEncryption?: boolean;
  transparentDataEncryptionKeyId?: string;
}

/** A database service: never a layer of this program. */
export interface Service {
  id: string;
  organizationId: string;
  name: string;
  kind: ServiceKind;
  state: ServiceState;
  dataWarehouseId: string;
  /** The first service of its warehouse. */
  isPrimary: boolean;
  scaling: Scaling;
  createdAt: number;
  details: ServiceDetails;
}

export const TOTAL_PER_REPLICA = 3;

/** What a new service gets where nobody says otherwise (decisions S2, S4, S5). */
export function defaultScaling({ tier }: Pick<Organization, 'tier'>, kind: ServiceKind): Scaling {
  const isSmall = tier === 'BASIC' || kind === 'development';
  return {
    numReplicas: tier === 'BASIC' ? 1 : 3,
    minReplicaMemoryGb: isSmall ? 8 : 16,
    maxReplicaMemoryGb: isSmall ? 8 : 120,
    idleScaling: true,
    idleTimeoutMinutes: 15,
  };
}
