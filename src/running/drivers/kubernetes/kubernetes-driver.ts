import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import type { Desired, DrivenService, Driver, Observed } from '../../../management/services/driver.ts';
import { findUpstream } from '../upstream.ts';
import { changeInstallation, type Installation, observeInstallation } from './altinity.ts';
import type { ApiRequest } from './api-request.ts';
import { formatApiPath } from './api-request.ts';
import type { Change, DesiredResource, Difference, Settings } from './change.ts';
import { openKubernetesClient } from './client.ts';
import { type ClickHouseCluster, canScale, changeCluster, observeCluster } from './official.ts';
import { formatPlace, type Pod, type StatefulSet, toListRequest, toResourceRequest } from './resource.ts';

interface Options {
  /** The path of a kubeconfig; without it, the account of the pod that the control plane runs in. */
  kubeconfig?: string | undefined;
  serviceAccountDirectory?: string | undefined;
  log: Pick<Logger, 'info'>;
}

/** What `converge` would change, accepted by the API server in a dry run. */
interface KubernetesPlan {
  resource: string;
  differences: Difference[];
  /** The requests, in order. A JSON Patch is a list, a merge patch an object. */
  patches: { path: string; patch: unknown }[];
}

export interface KubernetesDriver extends Driver {
  plan(service: DrivenService, desired: Desired, signal: AbortSignal): Promise<KubernetesPlan>;
}

type Resource = Installation | ClickHouseCluster;

/** How often a change is planned again because the object had changed in the meantime. */
const MAX_CONFLICTS = 5;
const MAX_SERVICES = 100_000;

export function createKubernetesDriver({ log, ...access }: Options): KubernetesDriver {
  const client = openKubernetesClient(access);
  /** Services that were deleted in the control plane. Their resources belong to the cluster and stay as they are. */
  const released = new LRUCache<string, true>({ max: MAX_SERVICES });

  const readResource = (settings: Settings, signal: AbortSignal) =>
    client.read<Resource>(toResourceRequest(settings, 'get'), signal);

  /** Only sets that the resource owns: labels alone can be on anything. */
  async function listSets(settings: Settings, { metadata }: Resource, signal: AbortSignal): Promise<StatefulSet[]> {
    const { items } = await client.read<{ items: StatefulSet[] }>(toListRequest(settings, 'statefulsets'), signal);
    return items.filter((set) => set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  }

  async function findChange(settings: Settings, desired: DesiredResource, signal: AbortSignal): Promise<Change> {
    const resource = await readResource(settings, signal);
    if (settings.kind === 'ClickHouseInstallation')
      return changeInstallation(resource as Installation, settings, desired);
    const sets = canScale(resource, settings) ? await listSets(settings, resource, signal) : [];
    return changeCluster(resource as ClickHouseCluster, sets, settings, desired);
  }

  /** False if an object had changed since it was read. */
  async function apply({ requests }: Change, signal: AbortSignal, isDryRun = false): Promise<boolean> {
    for (const request of requests) {
      const query = { ...request.query, ...(isDryRun && { dryRun: 'All' }) };
      const changed = await client.patch<Resource>({ ...request, query }, signal);
      if (changed === undefined) return false;
      requireTaskId(request, changed);
    }
    return true;
  }

  async function applyAgain(
    settings: Settings,
    desired: DesiredResource,
    signal: AbortSignal,
    isDryRun: boolean,
  ): Promise<Change> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const change = await findChange(settings, desired, signal);
      if (await apply(change, signal, isDryRun)) return change;
    }
    throw new AppError('conflict', `${formatPlace(settings)} changed during each of ${MAX_CONFLICTS} attempts`);
  }

  /** Why replicas do not start, from their pods. The account may lack the right to list them. */
  async function explainPods(settings: Settings, signal: AbortSignal): Promise<string | undefined> {
    const { items } = await client
      .read<{ items: Pod[] }>(toListRequest(settings, 'pods'), signal)
      .catch(() => ({ items: [] }));
    const reasons = items.flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).flatMap(({ state }) =>
        state?.waiting?.reason === undefined ? [] : [`${metadata.name}: ${state.waiting.reason}`],
      ),
    );
    return reasons.length > 0 ? reasons.join(', ') : undefined;
  }

  return {
    // Operators restart one replica at a time; a service with one replica is interrupted for minutes, too long to wait.
    isInterruptedByResize: false,
    canIdle: (service) => service.kubernetes?.kind === 'ClickHouseInstallation' || service.kubernetes?.canIdle === true,

    async observe(service, signal) {
      if (released.has(service.id)) return { state: 'deleted' };
      const settings = getSettings(service);
      try {
        const resource = await readResource(settings, signal);
        const sets = await listSets(settings, resource, signal);
        const observed =
          settings.kind === 'ClickHouseInstallation'
            ? observeInstallation(resource as Installation, sets)
            : observeCluster(resource as ClickHouseCluster, sets);
        const pods = observed.state === 'degraded' ? await explainPods(settings, signal) : undefined;
        return complete(observed, settings, pods);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        return { state: 'degraded', reason: error.message, evidence: toEvidence(settings) };
      }
    },

    async converge(service, desired, signal) {
      if (desired.state === 'deleted') {
        released.set(service.id, true);
        return;
      }
      released.delete(service.id);
      const settings = getSettings(service);
      const { requests, differences } = await applyAgain(settings, desired as DesiredResource, signal, false);
      const { generation } = desired;
      if (requests.length > 0)
        log.info({ serviceId: service.id, ...toEvidence(settings), generation, differences }, 'resource patched');
    },

    async plan(service, desired, signal) {
      const settings = getSettings(service);
      const isRelease = desired.state === 'deleted';
      const { requests, differences } = isRelease
        ? { requests: [], differences: [] }
        : await applyAgain(settings, desired as DesiredResource, signal, true);
      return {
        resource: formatPlace(settings),
        differences,
        patches: requests.map((request) => ({ path: formatApiPath(request), patch: request.patch?.body })),
      };
    },

    async close() {
      client.close();
    },
  };
}

function getSettings({ kubernetes }: DrivenService): Settings {
  if (!kubernetes)
    throw new AppError('conflict', 'The service has no Kubernetes resource; declare it in the fleet file');
  return kubernetes;
}

const toEvidence = ({ kind, namespace, name }: Settings) => ({ kind, namespace, name });

function complete(observed: Observed, settings: Settings, pods: string | undefined): Observed {
  const hasReplica = Number(observed.evidence?.readyReplicas) > 0;
  const isServing = hasReplica && ['running', 'resizing', 'degraded'].includes(observed.state);
  const upstream = isServing ? findUpstream(settings) : undefined;
  return {
    ...observed,
    ...(pods !== undefined && { reason: `${observed.reason} (${pods})` }),
    ...(upstream && { upstream }),
    evidence: { ...toEvidence(settings), ...observed.evidence },
  };
}

/** An old operator has no `taskID` in its schema, and the API server drops unknown members: the end would never be seen. */
function requireTaskId({ patch }: ApiRequest, { spec }: Resource): void {
  const operations = Array.isArray(patch?.body) ? (patch.body as { path: string; value: unknown }[]) : [];
  const sent = operations.find(({ path }) => path === '/spec/taskID');
  if (sent && (spec as Installation['spec']).taskID !== sent.value)
    throw new AppError('conflict', 'The operator is too old: its resource has no spec.taskID; install a newer one');
}
