import Type, { type Static } from 'typebox';
import { isoSeconds } from '../kernel/clock.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { REPLICA_LIMITS, REPLICA_MEMORY_LIMITS, TOTAL_MEMORY_LIMITS } from './scaling-limits.ts';
import { SERVICE_KINDS, SERVICE_STATES, type Service, TOTAL_PER_REPLICA } from './service.ts';

export const ServicePath = Type.Object({
  ...OrganizationPath.properties,
  serviceId: Type.String({ format: 'uuid', description: 'The service; letter case does not matter' }),
});

export const NumReplicas = Type.Integer({
  minimum: 1,
  maximum: 20,
  description: '2 to 20 for the first service of a warehouse; exactly 1 in a BASIC organization',
  'x-limits': REPLICA_LIMITS,
});
export const IdleScaling = Type.Boolean({ description: 'true lets the service scale to zero while idle' });
export const IdleTimeoutMinutes = Type.Number({
  minimum: 5,
  description: 'Minutes without work before the service may idle',
});
const total = (bound: string) =>
  `Deprecated: the ${bound} memory of three replicas in GB; only for production services, at most 360 unless the organization pays`;
const replica = (bound: string) =>
  `The ${bound} memory of one replica in GB; only for production services, at most 120 unless the organization pays`;
// Integers: `multipleOf` alone lets 36.00000000001 pass, which one store refuses and the other keeps.
export const TotalMemoryGb = (bound: 'minimum' | 'maximum') =>
  Type.Integer({
    minimum: 24,
    maximum: 1068,
    multipleOf: 12,
    deprecated: true,
    description: total(bound),
    'x-limits': TOTAL_MEMORY_LIMITS,
    'x-replicas': TOTAL_PER_REPLICA,
  });
export const ReplicaMemoryGb = (bound: 'minimum' | 'maximum') =>
  Type.Integer({
    minimum: 8,
    maximum: 356,
    multipleOf: 4,
    description: replica(bound),
    'x-limits': REPLICA_MEMORY_LIMITS,
  });

export const ScalingBody = Type.Object({
  idleScaling: Type.Optional(IdleScaling),
  idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
  maxTotalMemoryGb: Type.Optional(TotalMemoryGb('maximum')),
  minTotalMemoryGb: Type.Optional(TotalMemoryGb('minimum')),
  numReplicas: Type.Optional(NumReplicas),
});

export const ReplicaScalingBody = Type.Object({
  autoscalingMode: Type.Optional(Type.Enum(['vertical'], { description: 'The only mode there is' })),
  idleScaling: Type.Optional(IdleScaling),
  idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
  maxReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('maximum')),
  minReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('minimum')),
  numReplicas: Type.Optional(NumReplicas),
});

const text = () => Type.Optional(Type.String());

/** The service record of the interface, field for field. */
export const ServiceRecord = Type.Object({
  availablePrivateEndpointIds: Type.Optional(Type.Array(Type.String())),
  byocId: text(),
  databaseVersion: text(),
  createdAt: Type.String({ format: 'date-time' }),
  dataWarehouseId: Type.String(),
  encryptionAssumedRoleIdentifier: text(),
  encryptionKey: text(),
  encryptionRoleId: text(),
  endpoints: Type.Optional(
    Type.Array(Type.Object({ host: Type.String(), port: Type.Number(), protocol: Type.String(), username: text() })),
  ),
  hasTransparentDataEncryption: Type.Optional(Type.Boolean()),
  iamRole: text(),
  id: Type.String({ format: 'uuid' }),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
  ipAccessList: Type.Optional(Type.Array(Type.Object({ source: Type.String(), description: text() }))),
  isPrimary: Type.Boolean(),
  isReadonly: Type.Optional(Type.Boolean()),
  maxReplicaMemoryGb: Type.Number(),
  maxTotalMemoryGb: Type.Number(),
  minReplicaMemoryGb: Type.Number(),
  minTotalMemoryGb: Type.Number(),
  name: Type.String(),
  numReplicas: Type.Number(),
  privateEndpointIds: Type.Optional(Type.Array(Type.String())),
  transparentDataEncryptionKeyId: text(),
});

const CurrentScaling = Type.Object({
  numReplicas: Type.Number(),
  minReplicaMemoryGb: Type.Number(),
  maxReplicaMemoryGb: Type.Number(),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
});

/** What the operations around it show as well. */
export const ExtendedServiceRecord = Type.Object({
  ...ServiceRecord.properties,
  state: Type.Enum([...SERVICE_STATES]),
  tier: Type.Enum([...SERVICE_KINDS], { description: 'What the fleet file calls kind' }),
  provider: text(),
  region: text(),
  autoscalingMode: Type.Enum(['vertical']),
  currentScaling: CurrentScaling,
});

export function extendedRecord(service: Service): Static<typeof ExtendedServiceRecord> {
  const { id, name, kind, state, dataWarehouseId, isPrimary, scaling, createdAt, details } = service;
  // The spreads stand last: V8 takes fifty times as long for members that follow a spread.
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
