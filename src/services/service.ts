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

/** The settings that the scaling operations change. Memory is per replica (decision S4). */
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

interface Tag {
  key: string;
  value?: string;
}

/** Fields of the record that no rule depends on. */
export interface ServiceDetails {
  provider?: string;
  region?: string;
  databaseVersion?: string;
  endpoints?: Endpoint[];
  ipAccessList?: { source: string; description?: string }[];
  tags?: Tag[];
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

/** A database service. */
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

/** Total memory is always three times the memory of one replica, regardless of the number of replicas (decision S4). */
export const TOTAL_PER_REPLICA = 3;

/** The settings of a new service (decisions S2, S4, S5). */
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
