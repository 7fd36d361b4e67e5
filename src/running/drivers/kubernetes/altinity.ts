import { AppError } from '../../../kernel/errors.ts';
import {
  formatPlace,
  type KubernetesOptions,
  type Observed,
  type ObservedState,
} from '../../../management/services/driver.ts';
import { withRunningGb } from '../running-memory.ts';
import { type Change, checkSize, type DesiredResource, type Difference, setMemory, toPatchRequest } from './change.ts';
import { createPatch } from './json-patch.ts';
import { checkOwner, type Owner } from './owner.ts';
import { countReplicas, findDatabase } from './replicas.ts';
import { type Container, type Metadata, type StatefulSet, toResourceRequest } from './resource.ts';
import { formatTaskId, parseTaskId, type Task } from './task-id.ts';

/** The resource of the Altinity operator. */
export interface Installation {
  metadata: Metadata;
  spec: {
    stop?: string;
    taskID?: string;
    configuration?: { clusters?: Cluster[] };
    defaults?: { templates?: { podTemplate?: string } };
    templates?: { podTemplates?: { name: string; spec?: { containers?: Container[] } }[] };
  };
  status?: { status?: string; taskID?: string; error?: string; hosts?: number; hostsCompleted?: number };
}

interface Cluster {
  name: string;
  templates?: { podTemplate?: string };
  layout?: { replicasCount?: number; shardsCount?: number; replicas?: unknown[]; shards?: unknown[] };
}

/** The first attempt, and three more after the operator has aborted. */
const MAX_ATTEMPTS = 4;

const YES = ['1', 'true', 'yes', 'on', 'enable', 'enabled'];
const isStopped = ({ spec }: Installation): boolean => YES.includes((spec.stop ?? '').toLowerCase());

/** The old `Completed` stays for seconds after a change: the status counts only if it is that of the current task. */
const hasStatus = ({ spec, status }: Installation, wanted: string): boolean =>
  status?.status === wanted && (spec.taskID === undefined || status.taskID === spec.taskID);

export function observeInstallation(resource: Installation, sets: readonly StatefulSet[]): Observed {
  const { metadata, spec, status } = resource;
  const replicas = countReplicas(sets);
  const { shards } = countLayout(resource);
  const perShard = Math.floor((isStopped(resource) ? replicas.count : replicas.ready) / shards);
  const observed: Observed = {
    ...toState(resource, replicas),
    replicas: perShard,
    ...(shards > 1 && { shards }),
    ...(replicas.memoryGb !== undefined && { memoryGb: replicas.memoryGb }),
    evidence: {
      resourceVersion: metadata.resourceVersion,
      generation: metadata.generation,
      readyReplicas: replicas.ready,
      ...(spec.taskID !== undefined && { taskID: spec.taskID }),
      ...(status?.status !== undefined && { status: status.status }),
    },
  };
  return withRunningGb(observed, replicas.runningGb);
}

function toState(resource: Installation, replicas: ReturnType<typeof countReplicas>): StateAndReason {
  const { metadata, spec, status } = resource;
  const task = parseTaskId(spec.taskID);
  if (metadata.deletionTimestamp !== undefined)
    return { state: 'degraded', reason: 'The resource is being deleted, and the operator deletes its data with it' };
  if (status?.status === undefined)
    return { state: 'provisioning', reason: 'The operator has not reported a status yet' };
  if (hasStatus(resource, 'Aborted')) return { state: 'degraded', reason: formatAbort(task, status.error) };
  if (!hasStatus(resource, 'Completed')) return toTransition(resource, replicas.ready);
  if (isStopped(resource)) {
    if (replicas.wanted === 0 && replicas.pods === 0) return { state: task?.state === 'idle' ? 'idle' : 'stopped' };
    return { state: 'stopping', reason: `${replicas.pods} replicas are still running` };
  }
  const { shards, perShard } = countLayout(resource);
  const expected = shards * perShard;
  if (replicas.ready === replicas.wanted && replicas.ready >= expected) return { state: 'running' };
  return { state: 'degraded', reason: formatWaiting(replicas.waiting, replicas.ready, expected) };
}

export type StateAndReason = { state: ObservedState; reason?: string };

function toTransition({ spec, status, ...resource }: Installation, ready: number): StateAndReason {
  const hosts = status?.hosts ?? 0;
  const reason =
    status?.taskID === spec.taskID
      ? `The operator has updated ${status?.hostsCompleted ?? 0} of ${hosts} replicas`
      : 'The operator has not started to apply the change';
  if (isStopped({ spec, ...resource })) return { state: 'stopping', reason };
  return { state: ready > 0 ? 'resizing' : 'starting', reason };
}

const formatAbort = (task: Task | undefined, error = 'it gives no reason'): string =>
  task === undefined
    ? `The operator aborted: ${error}`
    : `The operator aborted attempt ${task.attempt} of ${MAX_ATTEMPTS}: ${error}`;

export const formatWaiting = (waiting: readonly string[], ready: number, expected: number): string =>
  waiting.length > 0
    ? `${ready} of ${expected} replicas are ready; not ready: ${waiting.join(', ')}`
    : `${ready} of ${expected} replicas are ready`;

/** `stop` keeps the data. The operator has no other way to run without replicas: it accepts zero, and so we never send it. */
export function changeInstallation(
  resource: Installation,
  options: KubernetesOptions,
  desired: DesiredResource,
  owner?: Owner,
): Change {
  checkSize(desired);
  checkOwner(resource, options, owner);
  const { spec, metadata } = resource;
  const { cluster, template, container } = getSize(resource, options);
  const templatePath = ['spec', 'templates', 'podTemplates', template];
  const containerPath = [...templatePath, 'spec', 'containers', container];
  const patch = createPatch(resource);
  patch.test('metadata', 'resourceVersion');
  patch.test('spec', 'configuration', 'clusters', 0, 'name');
  patch.test(...templatePath, 'name');
  patch.test(...containerPath, 'name');

  const differences: Difference[] = setMemory(patch, resource, containerPath, desired.memoryGb);
  const before = cluster.layout?.replicasCount ?? 1;
  if (before !== desired.replicas) {
    patch.set(['spec', 'configuration', 'clusters', 0, 'layout', 'replicasCount'], desired.replicas);
    differences.push({ member: 'replicas', before, after: desired.replicas });
  }
  const task = parseTaskId(spec.taskID);
  const state = !isStopped(resource) ? 'running' : task?.state === 'idle' ? 'idle' : 'stopped';
  if (state !== desired.state) {
    if (isStopped(resource) !== (desired.state !== 'running'))
      patch.set(['spec', 'stop'], desired.state === 'running' ? 'no' : 'yes');
    differences.push({ member: 'state', before: state, after: desired.state });
  }
  const attempt = findAttempt(resource, task, desired, differences.length > 0);
  if (attempt === undefined) return { requests: [], differences: [] };
  const { generation, state: wanted } = desired;
  const next: Task = { generation, state: wanted, attempt, controlPlaneId: owner?.controlPlaneId };
  patch.set(['spec', 'taskID'], formatTaskId(next, metadata.resourceVersion));
  return { requests: [toPatchRequest(toResourceRequest(options, 'patch'), patch.operations)], differences };
}

/** Undefined if there is nothing to do: the resource is as desired, or it was tried often enough. */
function findAttempt(
  resource: Installation,
  task: Task | undefined,
  desired: DesiredResource,
  isDifferent: boolean,
): number | undefined {
  if (isDifferent) return 1;
  if (!hasStatus(resource, 'Aborted')) return undefined;
  if (task?.generation !== desired.generation) return 1;
  return task.attempt < MAX_ATTEMPTS ? task.attempt + 1 : undefined;
}

/** As the first cluster says. A layout may also list its shards and replicas one by one. */
function countLayout({ spec }: Installation): { shards: number; perShard: number } {
  const { shardsCount, shards, replicasCount, replicas } = spec.configuration?.clusters?.[0]?.layout ?? {};
  return {
    shards: Math.max(shardsCount ?? shards?.length ?? 1, 1),
    perShard: Math.max(replicasCount ?? replicas?.length ?? 1, 1),
  };
}

/** Where the size of an installation is. Layouts that cannot be changed as a whole are refused. */
function getSize(resource: Installation, options: KubernetesOptions) {
  const { spec } = resource;
  const refuse = (reason: string): never => {
    throw new AppError('conflict', `${formatPlace(options)} cannot be resized: ${reason}`);
  };
  const clusters = spec.configuration?.clusters ?? [];
  const [cluster] = clusters;
  if (!cluster || clusters.length > 1) return refuse(`it must have one cluster and has ${clusters.length}`);
  if (cluster.layout?.shards?.length || cluster.layout?.replicas?.length)
    return refuse('its layout lists shards or replicas one by one; use shardsCount and replicasCount');
  const name = cluster.templates?.podTemplate ?? spec.defaults?.templates?.podTemplate;
  const templates = spec.templates?.podTemplates ?? [];
  const template = templates.findIndex((candidate) => candidate.name === name);
  const containers = templates[template]?.spec?.containers ?? [];
  if (containers.length === 0)
    return refuse('it needs a pod template with a container, named in spec.defaults.templates.podTemplate');
  return { cluster, template, container: findDatabase(containers) };
}
