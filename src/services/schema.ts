import Type, { type Static } from 'typebox';
import { isoSeconds } from '../kernel/clock.ts';
import { NamedObject } from '../kernel/named-object.ts';
import { SORTED_PAGE_PARAMETERS } from '../kernel/page-schema.ts';
import { IpAccessEntry } from '../keys/schema.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { listMemoryLimits, REPLICA_LIMITS, SCALING_LIMITS } from './scaling-limits.ts';
import { SERVICE_KINDS, SERVICE_STATES, type Service, TOTAL_PER_REPLICA } from './service.ts';
import { TagFilter } from './tag-filter.ts';

export const ServicePath = Type.Object({
  ...OrganizationPath.properties,
  serviceId: Type.String({ format: 'uuid', description: 'Case-insensitive' }),
});

const MAX_LISTED_IDS = 100;

export const ServiceListQuery = Type.Object(
  {
    ...SORTED_PAGE_PARAMETERS,
    filter: TagFilter,
    id: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), { maxItems: MAX_LISTED_IDS, description: 'Only these services' }),
    ),
  },
  { additionalProperties: false },
);

export const NumReplicas = Type.Integer({
  ...SCALING_LIMITS.numReplicas,
  description: '2 to 20 for the first service of a warehouse; exactly 1 in a BASIC organization',
  'x-limits': REPLICA_LIMITS,
});
export const IdleScaling = Type.Boolean({ description: 'true lets the service scale to zero when idle' });
export const IdleTimeoutMinutes = Type.Number({
  ...SCALING_LIMITS.idleTimeoutMinutes,
  description: 'Minutes without queries before the service may idle',
});
// Integers: `multipleOf` alone accepts 36.00000000001.
export const TotalMemoryGb = (bound: 'minimum' | 'maximum') =>
  Type.Integer({
    ...SCALING_LIMITS.totalMemoryGb,
    deprecated: true,
    description: `Deprecated: the ${bound} memory of three replicas in GB; only for production services, at most 360 for a non-paid organization`,
    'x-limits': listMemoryLimits(TOTAL_PER_REPLICA),
    'x-replicas': TOTAL_PER_REPLICA,
  });
export const ReplicaMemoryGb = (bound: 'minimum' | 'maximum') =>
  Type.Integer({
    ...SCALING_LIMITS.replicaMemoryGb,
    description: `The ${bound} memory of one replica in GB; only for production services, at most 120 for a non-paid organization`,
    'x-limits': listMemoryLimits(1),
  });

export const ScalingBody = NamedObject('ServiceScalingPatchRequest', {
  idleScaling: Type.Optional(IdleScaling),
  idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
  maxTotalMemoryGb: Type.Optional(TotalMemoryGb('maximum')),
  minTotalMemoryGb: Type.Optional(TotalMemoryGb('minimum')),
  numReplicas: Type.Optional(NumReplicas),
});

export const ReplicaScalingBody = NamedObject('ServiceReplicaScalingPatchRequest', {
  autoscalingMode: Type.Optional(Type.Enum(['vertical'], { description: 'The only mode' })),
  idleScaling: Type.Optional(IdleScaling),
  idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
  maxReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('maximum')),
  minReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('minimum')),
  numReplicas: Type.Optional(NumReplicas),
});

const text = () => Type.Optional(Type.String());

const Endpoint = NamedObject('ServiceEndpoint', {
  host: Type.String(),
  port: Type.Number(),
  protocol: Type.String(),
  username: text(),
});

/** The service record of the public interface. */
export const ServiceRecord = NamedObject('ServiceScalingPatchResponse', {
  availablePrivateEndpointIds: Type.Optional(Type.Array(Type.String())),
  byocId: text(),
  databaseVersion: text(),
  createdAt: Type.String({ format: 'date-time' }),
  dataWarehouseId: Type.String(),
  encryptionAssumedRoleIdentifier: text(),
  encryptionKey: text(),
  encryptionRoleId: text(),
  endpoints: Type.Optional(Type.Array(Endpoint)),
  hasTransparentDataEncryption: Type.Optional(Type.Boolean()),
  iamRole: text(),
  id: Type.String({ format: 'uuid' }),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
  ipAccessList: Type.Optional(Type.Array(IpAccessEntry)),
  isPrimary: Type.Boolean(),
  isReadonly: Type.Optional(Type.Boolean()),
  maxReplicaMemoryGb: Type.Number(),
  maxTotalMemoryGb: Type.Number(),
  minReplicaMemoryGb: Type.Number(),
  minTotalMemoryGb: Type.Number(),
  name: Type.String(),
  numReplicas: Type.Number(),
  privateEndpointIds: Type.Optional(Type.Array(Type.String())),
  tags: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: text() }))),
  transparentDataEncryptionKeyId: text(),
});

const CurrentScaling = NamedObject('CurrentScaling', {
  numReplicas: Type.Number(),
  minReplicaMemoryGb: Type.Number(),
  maxReplicaMemoryGb: Type.Number(),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
});

/** The service record with the additional fields of our read operations. */
export const ExtendedServiceRecord = NamedObject('Service', {
  ...ServiceRecord.properties,
  state: Type.Enum([...SERVICE_STATES]),
  tier: Type.Enum([...SERVICE_KINDS], { description: 'Called kind in the fleet file' }),
  provider: text(),
  region: text(),
  autoscalingMode: Type.Enum(['vertical']),
  currentScaling: CurrentScaling,
});

export function toExtendedRecord(service: Service): Static<typeof ExtendedServiceRecord> {
  const { id, name, kind, state, dataWarehouseId, isPrimary, scaling, createdAt, details } = service;
  // Spreads are last: V8 is about 50 times slower for members that follow a spread.
  return {
    id,
    name,
    createdAt: isoSeconds(createdAt),
    dataWarehouseId,
    isPrimary,
    minTotalMemoryGb: scaling.minReplicaMemoryGb * TOTAL_PER_REPLICA,
    maxTotalMemoryGb: scaling.maxReplicaMemoryGb * TOTAL_PER_REPLICA,
    state,
    tier: kind,
    autoscalingMode: 'vertical',
    currentScaling: scaling,
    ...scaling,
    ...details,
  };
}
