import { AppError } from '../../../kernel/errors.ts';
import { formatPlace, type KubernetesOptions, type Observed } from '../../../management/services/driver.ts';
import { withRunningGb } from '../running-memory.ts';
import { formatWaiting, type StateAndReason } from './altinity.ts';
import { type Change, checkSize, type DesiredResource, type Difference, setMemory, toPatchRequest } from './change.ts';
import { createPatch } from './json-patch.ts';
import { checkOwner, formatOwner, OWNER_ANNOTATION, type Owner } from './owner.ts';
import { countReplicas, type Replicas } from './replicas.ts';
import { type Metadata, type StatefulSet, toResourceRequest } from './resource.ts';

/** The resource of the official operator. */
export interface ClickHouseCluster {
  metadata: Metadata;
  spec: { taskID?: never; replicas?: number; shards?: number; containerTemplate?: object };
  status?: {
    observedGeneration?: number;
    currentRevision?: string;
    updateRevision?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

/** Whether the sets were scaled to zero to idle or to stop. On the resource, where the operator does not read it. */
const STATE_ANNOTATION = 'pilothouse.dev/state';

/** All of them: `Ready` alone is True in the middle of a change and with a replica that crashes. */
const REQUIRED_CONDITIONS = ['ReconcileSucceeded', 'Healthy', 'ClusterSizeAligned', 'ConfigurationInSync', 'Ready'];
/** Those that do not become True again without a change. */
const FAILURE_CONDITIONS = ['ReconcileSucceeded', 'ReplicaStartupSucceeded', 'SpecValid'];

/** The operator runs three where the resource says 0 or nothing. */
const DEFAULT_REPLICAS = 3;

export function observeCluster(resource: ClickHouseCluster, sets: readonly StatefulSet[]): Observed {
  const { metadata, status } = resource;
  const replicas = countReplicas(sets);
  const state = toState(resource, replicas);
  const isAsleep = state.state === 'idle' || state.state === 'stopped';
  const shards = countShards(resource);
  const observed: Observed = {
    ...state,
    // A cluster that is scaled to zero keeps its size until it runs again, so its size is not known.
    ...(!isAsleep && { replicas: Math.floor(replicas.ready / shards) }),
    ...(!isAsleep && replicas.memoryGb !== undefined && { memoryGb: replicas.memoryGb }),
    ...(shards > 1 && { shards }),
    evidence: {
      resourceVersion: metadata.resourceVersion,
      generation: metadata.generation,
      readyReplicas: replicas.ready,
      ...(status?.observedGeneration !== undefined && { observedGeneration: status.observedGeneration }),
    },
  };
  return withRunningGb(observed, replicas.runningGb);
}

function toState(resource: ClickHouseCluster, replicas: Replicas): StateAndReason {
  const { metadata, spec, status = {} } = resource;
  const { observedGeneration, conditions = [], currentRevision, updateRevision } = status;
  if (metadata.deletionTimestamp !== undefined) return { state: 'degraded', reason: 'The resource is being deleted' };
  const asleep = toSleepState(resource, replicas);
  if (asleep) return asleep;
  if (observedGeneration === undefined) return { state: 'provisioning', reason: formatConditions(conditions) };
  const isCurrent = observedGeneration === metadata.generation;
  const failed = conditions.filter(({ type, status }) => FAILURE_CONDITIONS.includes(type) && status === 'False');
  if (isCurrent && failed.length > 0) return { state: 'degraded', reason: formatConditions(failed) };
  const missing = REQUIRED_CONDITIONS.filter(
    (wanted) => !conditions.some(({ type, status }) => type === wanted && status === 'True'),
  );
  const isDone = isCurrent && missing.length === 0 && currentRevision === updateRevision;
  if (!isDone) {
    const reason = isCurrent
      ? formatConditions(conditions.filter(({ type }) => missing.includes(type)))
      : 'The operator has not started to apply the change';
    return { state: replicas.ready > 0 ? 'resizing' : 'starting', reason };
  }
  const expected = (spec.replicas || DEFAULT_REPLICAS) * countShards(resource);
  if (replicas.waiting.length === 0 && replicas.ready >= expected) return { state: 'running' };
  return { state: 'degraded', reason: formatWaiting(replicas.waiting, replicas.ready, expected) };
}

const countShards = ({ spec }: ClickHouseCluster): number => Math.max(spec.shards ?? 1, 1);

/** Undefined if the cluster is to run. */
function toSleepState(resource: ClickHouseCluster, { count, wanted, pods }: Replicas): StateAndReason | undefined {
  const asleep = findSleep(resource);
  if (count > 0 && wanted === 0) {
    if (pods > 0) return { state: 'stopping', reason: `${pods} replicas are still running` };
    return asleep
      ? { state: asleep }
      : { state: 'stopped', reason: 'Its StatefulSets were scaled to zero outside Pilothouse' };
  }
  return asleep && { state: 'stopping', reason: `${wanted} replicas are not scaled to zero yet` };
}

function findSleep({ metadata }: Pick<ClickHouseCluster, 'metadata'>): 'idle' | 'stopped' | undefined {
  const state = metadata.annotations?.[STATE_ANNOTATION];
  return state === 'idle' || state === 'stopped' ? state : undefined;
}

const formatConditions = (conditions: readonly { type: string; reason?: string; message?: string }[]): string =>
  conditions.map(({ type, reason, message }) => `${type}: ${message || reason}`).join('; ') ||
  'The operator has not reported a status yet';

/** Whether the sets may be scaled: always back up, if they were scaled to zero when the options allowed it. */
export const canScale = (resource: Pick<ClickHouseCluster, 'metadata'>, options: KubernetesOptions): boolean =>
  options.canIdle === true || findSleep(resource) !== undefined;

/**
 * `sets` are those that may be scaled. The size is changed in the resource. To idle or stop, its StatefulSets are scaled to zero, if the options allow it:
 * the resource itself has no such state, and with zero replicas the operator runs three.
 */
export function changeCluster(
  resource: ClickHouseCluster,
  sets: readonly StatefulSet[],
  options: KubernetesOptions,
  desired: DesiredResource,
  owner?: Owner,
): Change {
  checkSize(desired);
  checkOwner(resource, options, owner);
  const isAwake = desired.state === 'running';
  if (!isAwake && !options.canIdle)
    throw new AppError(
      'conflict',
      `${formatPlace(options)} cannot be stopped: its operator has no such state. With kubernetes.canIdle: true in the fleet file, its StatefulSets are scaled to zero`,
    );
  const patch = createPatch(resource);
  patch.test('metadata', 'resourceVersion');
  const tests = patch.operations.length;
  // The operator waits for replicas that do not run, so the size changes when the service runs again.
  const differences: Difference[] = isAwake
    ? [
        ...setMemory(patch, resource, ['spec', 'containerTemplate'], desired.memoryGb),
        ...setReplicas(patch, resource, desired),
      ]
    : [];
  const before = findSleep(resource) ?? 'running';
  if (before !== desired.state) {
    patch.set(['metadata', 'annotations', STATE_ANNOTATION], desired.state);
    differences.push({ member: 'state', before, after: desired.state });
  }
  const isChanged = patch.operations.length > tests;
  if (isChanged && owner) patch.set(['metadata', 'annotations', OWNER_ANNOTATION], formatOwner(owner));
  return {
    requests: [
      ...(isChanged ? [toPatchRequest(toResourceRequest(options, 'patch'), patch.operations)] : []),
      ...sets.flatMap((set) => toScaleRequests(set, options, isAwake ? 1 : 0)),
    ],
    differences,
  };
}

function setReplicas(
  patch: ReturnType<typeof createPatch>,
  { spec }: ClickHouseCluster,
  { replicas }: DesiredResource,
): Difference[] {
  const before = spec.replicas ?? DEFAULT_REPLICAS;
  if (before === replicas) return [];
  patch.set(['spec', 'replicas'], replicas);
  return [{ member: 'replicas', before, after: replicas }];
}

/** A merge patch: a scale of zero has no member that a JSON Patch could test. A changed set is a conflict by its version. */
function toScaleRequests({ metadata, spec }: StatefulSet, { namespace }: KubernetesOptions, replicas: 0 | 1) {
  if ((spec.replicas ?? 1) === replicas) return [];
  const { name, resourceVersion } = metadata;
  return [
    {
      ...({ verb: 'patch', group: 'apps', version: 'v1', namespace } as const),
      ...{ resource: 'statefulsets', name, subresource: 'scale', query: { fieldManager: 'pilothouse' } },
      patch: {
        contentType: 'application/merge-patch+json' as const,
        body: { metadata: { resourceVersion }, spec: { replicas } },
      },
    },
  ];
}
