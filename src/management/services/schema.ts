import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { SORTED_PAGE_PARAMETERS } from '../../kernel/schemas/page-schema.ts';
import { type Clock, isoSeconds, isoTime } from '../../kernel/time/clock.ts';
import { IpAccessEntry } from '../keys/schema.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { DRIVER_NAMES, DRIVERS, type Observation, SERVICE_STATES } from './driver.ts';
import { AutoscalingMode, CurrentScaling, toCurrentScaling } from './scaling/current-scaling.ts';
import type { ScalingChange } from './scaling/scaling.ts';
import { listMemoryLimits, REPLICA_LIMITS, SCALING_LIMITS } from './scaling/scaling-limits.ts';
import { getWantedSize } from './scaling/schedule.ts';
import { ScalingScheduleRecord, toScheduleRecord } from './scaling/schedule-schema.ts';
import { getMaxReplicas, type Scaling, SERVICE_KINDS, type Service, TOTAL_PER_REPLICA } from './service.ts';
import { observe } from './simulated.ts';
import { TagFilter } from './tag-filter.ts';
import { PUBLIC_DEFAULTS } from './unsupported.ts';

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
  description:
    '2 to 20 for the first service of a warehouse; exactly 1 in a BASIC organization. Of each shard: a service with several shards has as many in all of them',
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

export const ReplicaBound = (bound: 'minimum' | 'maximum') =>
  Type.Integer({
    ...SCALING_LIMITS.numReplicas,
    description: `The ${bound} number of replicas; minimum and maximum differ in horizontal mode only`,
    'x-limits': REPLICA_LIMITS,
  });
export const ReplicaScalingBody = NamedObject('ServiceReplicaScalingPatchRequest', {
  autoscalingMode: Type.Optional(AutoscalingMode),
  idleScaling: Type.Optional(IdleScaling),
  idleTimeoutMinutes: Type.Optional(IdleTimeoutMinutes),
  maxReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('maximum')),
  maxReplicas: Type.Optional(ReplicaBound('maximum')),
  minReplicaMemoryGb: Type.Optional(ReplicaMemoryGb('minimum')),
  minReplicas: Type.Optional(ReplicaBound('minimum')),
  numReplicas: Type.Optional(NumReplicas),
});

/** Members of the other scaling operation, such as totals, are ignored (decision B4). */
export const toReplicaScalingChange = (body: Static<typeof ReplicaScalingBody>): ScalingChange => ({
  autoscalingMode: body.autoscalingMode,
  idleScaling: body.idleScaling,
  idleTimeoutMinutes: body.idleTimeoutMinutes,
  maxReplicaMemoryGb: body.maxReplicaMemoryGb,
  maxReplicas: body.maxReplicas,
  minReplicaMemoryGb: body.minReplicaMemoryGb,
  minReplicas: body.minReplicas,
  numReplicas: body.numReplicas,
});

const text = () => Type.Optional(Type.String());

const Endpoint = NamedObject('ServiceEndpoint', {
  host: Type.String(),
  port: Type.Number(),
  protocol: Type.String(),
  username: text(),
});

const time = () => Type.String({ format: 'date-time' });

const ServiceStatus = NamedObject(
  'ServiceStatus',
  {
    state: Type.String({ description: 'As state, but resizing while the size changes' }),
    since: time(),
    reason: text(),
    desiredState: Type.Enum(['running', 'idle', 'stopped']),
    generation: Type.Integer({ description: 'Counts the changes of the service' }),
    observedGeneration: Type.Integer({ description: 'The last generation that the driver has reached' }),
    requested: Type.Object({ replicas: Type.Integer(), replicaMemoryGb: Type.Number() }),
    observed: Type.Object({ replicas: Type.Optional(Type.Integer()), replicaMemoryGb: Type.Optional(Type.Number()) }),
    maxReplicas: Type.Optional(
      Type.Integer({
        description: 'The driver runs, and costs are for, at most this many replicas; absent if it has no limit',
      }),
    ),
    inFlight: Type.Optional(
      Type.Object(
        { generation: Type.Integer(), attempt: Type.Integer(), since: time() },
        { description: 'The change in progress' },
      ),
    ),
    drift: Type.Optional(
      Type.Object({ since: time(), text: Type.String() }, { description: 'Changes made outside Pilothouse' }),
    ),
    evidence: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description: 'What the observation is based on, such as a process id or a resource version',
      }),
    ),
  },
  { description: 'The desired state, the observed state (none for a simulated service) and the change in progress' },
);

const Tag = NamedObject('ResourceTagsV1', { key: Type.String(), value: text() });

export const ServiceRecord = NamedObject('Service', {
  autoscalingMode: AutoscalingMode,
  availablePrivateEndpointIds: Type.Optional(Type.Array(Type.String())),
  byocId: text(),
  clickhouseVersion: text(),
  currentScaling: CurrentScaling,
  databaseVersion: text(),
  createdAt: Type.String({ format: 'date-time' }),
  dataWarehouseId: Type.String(),
  encryptionAssumedRoleIdentifier: text(),
  encryptionKey: text(),
  encryptionRoleId: text(),
  endpoints: Type.Optional(
    Type.Array(Endpoint, {
      description:
        'Where clients connect: http or https, and native or nativesecure for the native protocol. Also of a service that is idle or stopped, because the address stays the same; see state',
    }),
  ),
  enableCoreDumps: Type.Boolean({ description: 'Always false: services write no core dumps' }),
  driver: Type.Enum([...DRIVER_NAMES], {
    description: 'What runs the service. A simulated service has no process; its state follows the commands',
  }),
  hasTransparentDataEncryption: Type.Optional(Type.Boolean()),
  iamRole: text(),
  id: Type.String({ format: 'uuid' }),
  idleScaling: Type.Boolean(),
  idleTimeoutMinutes: Type.Number(),
  ipAccessList: Type.Optional(Type.Array(IpAccessEntry)),
  isPrimary: Type.Boolean(),
  isReadonly: Type.Optional(Type.Boolean()),
  maxReplicaMemoryGb: Type.Number(),
  maxReplicas: Type.Optional(Type.Number({ description: 'In horizontal mode only' })),
  maxTotalMemoryGb: Type.Number(),
  minReplicaMemoryGb: Type.Number(),
  minReplicas: Type.Optional(Type.Number({ description: 'In horizontal mode only' })),
  minTotalMemoryGb: Type.Number(),
  name: Type.String(),
  numReplicas: Type.Number({ description: 'In horizontal mode the minimum' }),
  privateEndpointIds: Type.Optional(Type.Array(Type.String())),
  profile: Type.String({ description: 'Always the standard ratio of CPU and memory' }),
  provider: text(),
  region: text(),
  releaseChannel: Type.String({ description: 'There is one' }),
  replicaMemoryGb: Type.Optional(Type.Number({ description: 'In horizontal mode only' })),
  scalingSchedule: Type.Optional(ScalingScheduleRecord),
  shards: Type.Optional(
    Type.Integer({
      minimum: 2,
      description:
        'The shards that the driver runs; absent for one. Numbers of replicas are those of each shard, and memory is that of one replica: compute is billed for shards × replicas × memory',
    }),
  ),
  state: Type.Enum([...SERVICE_STATES], { description: 'As the driver reported it' }),
  status: Type.Optional(ServiceStatus),
  tags: Type.Optional(Type.Array(Tag)),
  tier: Type.Optional(
    Type.Enum([...SERVICE_KINDS], {
      description: 'Called kind in the fleet file; absent if the service was created without a tier (production)',
    }),
  ),
  transparentDataEncryptionKeyId: text(),
});

export function toServiceRecord(service: Readonly<Service>, clock: Pick<Clock, 'now'>): Static<typeof ServiceRecord> {
  const now = clock.now();
  const { id, name, kind, isTierOmitted, driver, dataWarehouseId, isPrimary, scaling, createdAt, details } = service;
  const { autoscalingMode = 'vertical', ...sizes } = scaling;
  // Spreads are last: V8 is about 50 times slower for members that follow a spread.
  return {
    id,
    name,
    createdAt: isoSeconds(createdAt),
    dataWarehouseId,
    isPrimary,
    minTotalMemoryGb: scaling.minReplicaMemoryGb * TOTAL_PER_REPLICA,
    maxTotalMemoryGb: scaling.maxReplicaMemoryGb * TOTAL_PER_REPLICA,
    state: observe(service, now).state,
    driver,
    autoscalingMode,
    currentScaling: toCurrentScaling(service, now),
    ...PUBLIC_DEFAULTS,
    ...(isTierOmitted ? undefined : { tier: kind }),
    ...(details.databaseVersion === undefined ? undefined : { clickhouseVersion: details.databaseVersion }),
    ...(service.settings?.scalingSchedule ? { scalingSchedule: toScheduleRecord(service, now) } : undefined),
    ...(autoscalingMode === 'horizontal' ? toHorizontalFields(scaling) : undefined),
    ...sizes,
    ...details,
    // After the details: a declared endpoint does not replace the one that was observed.
    ...toObservedFields(service, now),
  };
}

const SIMULATED = 'Simulated: no process runs, and the state follows the commands';

function toObservedFields(service: Readonly<Service>, now: number) {
  const { driver, desiredState, generation, settledGeneration } = service;
  const { isReconciled, maxReplicas } = DRIVERS[driver];
  const {
    state,
    since,
    isResizing,
    replicas,
    memoryGb,
    shards,
    version,
    evidence,
    endpoint,
    inFlight,
    drift,
    ...observed
  } = observe(service, now);
  const reason = observed.reason ?? (isReconciled ? undefined : SIMULATED);
  const wanted = getWantedSize(service, now);
  const status: Static<typeof ServiceStatus> = {
    state: isResizing ? 'resizing' : state,
    since: isoTime(since),
    desiredState,
    generation,
    observedGeneration: settledGeneration,
    requested: { replicas: wanted.replicas, replicaMemoryGb: wanted.memoryGb },
    observed: {
      ...(replicas === undefined ? undefined : { replicas }),
      ...(memoryGb === undefined ? undefined : { replicaMemoryGb: memoryGb }),
    },
    ...(maxReplicas === undefined ? undefined : { maxReplicas }),
    ...(reason === undefined ? undefined : { reason }),
    ...(inFlight ? { inFlight: { ...inFlight, since: isoTime(inFlight.since) } } : undefined),
    ...(drift ? { drift: { ...drift, since: isoTime(drift.since) } } : undefined),
    ...(evidence ? { evidence } : undefined),
  };
  return {
    status,
    ...(shards === undefined ? undefined : { shards }),
    ...(version === undefined ? undefined : { clickhouseVersion: version, databaseVersion: version }),
    ...(endpoint ? { endpoints: listEndpoints(endpoint) } : undefined),
  };
}

/** With TLS the names are those of the public interface, which has no others. */
function listEndpoints({ protocol, host, port, nativePort }: NonNullable<Observation['endpoint']>) {
  const native = protocol === 'https' ? 'nativesecure' : 'native';
  return [
    { protocol: protocol ?? 'http', host, port, username: 'default' },
    ...(nativePort === undefined ? [] : [{ protocol: native, host, port: nativePort, username: 'default' }]),
  ];
}

const toHorizontalFields = (scaling: Scaling) => ({
  minReplicas: scaling.numReplicas,
  maxReplicas: getMaxReplicas(scaling),
  replicaMemoryGb: scaling.minReplicaMemoryGb,
});
