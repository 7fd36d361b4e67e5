import type { Organization } from '../organizations/organization.ts';
import type { DesiredState, DriverName, Observation } from './driver.ts';
import type { ServiceSettings } from './service-settings.ts';

export const SERVICE_KINDS = ['production', 'development'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

/** The settings that the scaling operations change. Memory is per replica (decision S4). */
export interface Scaling {
  /** In horizontal mode the minimum. */
  numReplicas: number;
  minReplicaMemoryGb: number;
  maxReplicaMemoryGb: number;
  idleScaling: boolean;
  idleTimeoutMinutes: number;
  /** Left out in vertical mode. */
  autoscalingMode?: 'horizontal';
  /** In horizontal mode only. */
  maxReplicas?: number;
}

interface Endpoint {
  protocol: string;
  host: string;
  port: number;
  username?: string;
}

export interface IpAccess {
  source: string;
  description?: string;
}

export interface Tag {
  key: string;
  value?: string;
}

/** Fields of the record that no rule depends on. */
export interface ServiceDetails {
  provider?: string;
  region?: string;
  databaseVersion?: string;
  endpoints?: Endpoint[];
  ipAccessList?: IpAccess[];
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

export interface ServiceSize {
  /** Of one replica. */
  memoryGb: number;
  replicas: number;
}

/** A database service. Everything except `observed` is desired state. */
export interface Service {
  id: string;
  organizationId: string;
  name: string;
  kind: ServiceKind;
  /** Created without a tier, so the record shows none: Terraform would report a difference. */
  isTierOmitted?: boolean;
  driver: DriverName;
  desiredState: DesiredState;
  /** Counts the changes of a service that is not simulated. */
  generation: number;
  /** The last generation that the driver has reached. */
  settledGeneration: number;
  /** The size within the limits of `scaling` that autoscaling chose; the minimum if it is absent. */
  size?: ServiceSize;
  dataWarehouseId: string;
  /** The first service of its warehouse. */
  isPrimary: boolean;
  scaling: Scaling;
  createdAt: number;
  details: ServiceDetails;
  settings?: ServiceSettings;
  /** What the driver reported. */
  observed: Observation;
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

/** The shards that were observed. A driver that reports none runs one. */
export const getShards = ({ observed }: Pick<Service, 'observed'>): number => observed.shards ?? 1;

/** The number of replicas at most. */
export const getMaxReplicas = ({ numReplicas, maxReplicas }: Scaling): number => maxReplicas ?? numReplicas;
