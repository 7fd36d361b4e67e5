import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createLargeCache } from '../../../kernel/memo.ts';
import {
  type Desired,
  type DrivenService,
  type Driver,
  formatPlace,
  type KubernetesOptions,
  type Observed,
} from '../../../management/services/driver.ts';
import { type IgnoredQueries, listUse } from '../database-use.ts';
import { findUpstream } from '../upstream.ts';
import { changeInstallation, type Installation, observeInstallation } from './altinity.ts';
import type { ApiRequest } from './api-request.ts';
import { formatApiPath } from './api-request.ts';
import type { Change, DesiredResource, Difference } from './change.ts';
import { openKubernetesClient } from './client.ts';
import { type ClickHouseCluster, canScale, changeCluster, observeCluster } from './official.ts';
import { findForeignOwner, type Owner } from './owner.ts';
import { countReplicas } from './replicas.ts';
import { type Pod, type StatefulSet, toListRequest, toResourceRequest } from './resource.ts';

interface Options {
  /** The path of a kubeconfig; without it, the account of the pod that the control plane runs in. */
  kubeconfig?: string | undefined;
  serviceAccountDirectory?: string | undefined;
  /** The id of the store, which marks the resources that it changes. Without it, none are marked or checked. */
  readControlPlaneId?: (() => Promise<string>) | undefined;
  /** Queries at the databases that do not keep a service from idling. */
  ignored?: IgnoredQueries | undefined;
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
/** 200 shards of 20 replicas. */
const MAX_SETS = 4000;

const IGNORED_BY_DEFAULT: IgnoredQueries = { ignoredAgents: [], ignoredStatements: [] };

/** The cluster of the configuration that an operator writes, and the users of its own that it creates. */
const DATABASES: Record<
  KubernetesOptions['kind'],
  (resource: Resource) => { cluster: string | undefined; ownUsers: string[] }
> = {
  ClickHouseInstallation: (resource) => ({
    cluster: (resource as Installation).spec.configuration?.clusters?.[0]?.name,
    ownUsers: ['clickhouse_operator'],
  }),
  ClickHouseCluster: () => ({ cluster: 'default', ownUsers: ['operator'] }),
};

export function createKubernetesDriver({
  log,
  readControlPlaneId,
  ignored = IGNORED_BY_DEFAULT,
  ...access
}: Options): KubernetesDriver {
  const client = openKubernetesClient(access);
  let controlPlaneId: string | undefined;
  /** Services that were deleted in the control plane. Their resources belong to the cluster and stay as they are. */
  const released = createLargeCache<string, true>(MAX_SERVICES);

  async function findOwner({ id: serviceId }: DrivenService): Promise<Owner | undefined> {
    controlPlaneId ??= await readControlPlaneId?.();
    return controlPlaneId === undefined ? undefined : { controlPlaneId, serviceId };
  }

  const readResource = (options: KubernetesOptions, signal: AbortSignal) =>
    client.read<Resource>(toResourceRequest(options, 'get'), signal);

  /** Only sets that the resource owns: labels alone can be on anything. */
  async function listSets(
    options: KubernetesOptions,
    { metadata }: Resource,
    signal: AbortSignal,
  ): Promise<StatefulSet[]> {
    const items: StatefulSet[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const request = toListRequest(options, 'statefulsets', next);
      const page: { items: StatefulSet[]; metadata?: { continue?: string } } = await client.read(request, signal);
      items.push(...page.items);
      next = page.metadata?.continue || undefined;
      // A sum of some of them would be billed as that of all.
      if (next !== undefined && items.length >= MAX_SETS)
        throw new AppError('conflict', `${formatPlace(options)} has more than ${MAX_SETS} StatefulSets`);
    }
    return items.filter((set) => set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  }

  async function findChange(service: DrivenService, desired: DesiredResource, signal: AbortSignal): Promise<Change> {
    const options = getOptions(service);
    const owner = await findOwner(service);
    const resource = await readResource(options, signal);
    if (options.kind === 'ClickHouseInstallation')
      return changeInstallation(resource as Installation, options, desired, owner);
    const sets = canScale(resource, options) ? await listSets(options, resource, signal) : [];
    return changeCluster(resource as ClickHouseCluster, sets, options, desired, owner);
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

  async function applyWithRetries(
    service: DrivenService,
    desired: DesiredResource,
    signal: AbortSignal,
    isDryRun: boolean,
  ): Promise<Change> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const change = await findChange(service, desired, signal);
      if (await apply(change, signal, isDryRun)) return change;
    }
    throw new AppError(
      'conflict',
      `${formatPlace(getOptions(service))} changed during each of ${MAX_CONFLICTS} attempts`,
    );
  }

  /** Why replicas do not start, from their pods. The account may lack the right to list them. */
  async function explainPods(options: KubernetesOptions, signal: AbortSignal): Promise<string | undefined> {
    const { items } = await client
      .read<{ items: Pod[] }>(toListRequest(options, 'pods'), signal)
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
      const options = getOptions(service);
      try {
        const resource = await readResource(options, signal);
        const obstacle = findForeignOwner(resource, options, await findOwner(service));
        if (obstacle !== undefined) return { state: 'degraded', reason: obstacle, evidence: toEvidence(options) };
        const sets = await listSets(options, resource, signal);
        const observed =
          options.kind === 'ClickHouseInstallation'
            ? observeInstallation(resource as Installation, sets)
            : observeCluster(resource as ClickHouseCluster, sets);
        const pods = observed.state === 'degraded' ? await explainPods(options, signal) : undefined;
        return complete(observed, options, pods);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        return { state: 'degraded', reason: error.message, evidence: toEvidence(options) };
      }
    },

    async listUse(service, timeoutMs, signal) {
      const options = getOptions(service);
      const upstream = findUpstream(options);
      if (!upstream) throw new AppError('conflict', 'the service has no kubernetes.url');
      const resource = await readResource(options, signal);
      const { wanted, waiting } = countReplicas(await listSets(options, resource, signal));
      if (waiting.length > 0) throw new AppError('conflict', `replicas are not ready: ${waiting.join(', ')}`);
      const { cluster, ownUsers } = DATABASES[options.kind](resource);
      return listUse({ upstream, replicas: wanted, cluster, timeoutMs, ignored, ownUsers }, signal);
    },

    async converge(service, desired, signal) {
      if (desired.state === 'deleted') {
        released.set(service.id, true);
        return;
      }
      released.delete(service.id);
      const options = getOptions(service);
      const { requests, differences } = await applyWithRetries(service, desired as DesiredResource, signal, false);
      const { generation } = desired;
      if (requests.length > 0)
        log.info({ serviceId: service.id, ...toEvidence(options), generation, differences }, 'resource patched');
    },

    async plan(service, desired, signal) {
      const options = getOptions(service);
      const isRelease = desired.state === 'deleted';
      const { requests, differences } = isRelease
        ? { requests: [], differences: [] }
        : await applyWithRetries(service, desired as DesiredResource, signal, true);
      return {
        resource: formatPlace(options),
        differences,
        patches: requests.map((request) => ({ path: formatApiPath(request), patch: request.patch?.body })),
      };
    },

    async close() {
      client.close();
    },
  };
}

function getOptions({ kubernetes }: DrivenService): KubernetesOptions {
  if (!kubernetes)
    throw new AppError('conflict', 'The service has no Kubernetes resource; declare it in the fleet file');
  return kubernetes;
}

const toEvidence = ({ kind, namespace, name }: KubernetesOptions) => ({ kind, namespace, name });

function complete(observed: Observed, options: KubernetesOptions, pods: string | undefined): Observed {
  const hasReplica = Number(observed.evidence?.readyReplicas) > 0;
  const isServing = hasReplica && ['running', 'resizing', 'degraded'].includes(observed.state);
  const upstream = isServing ? findUpstream(options) : undefined;
  return {
    ...observed,
    ...(pods !== undefined && { reason: `${observed.reason} (${pods})` }),
    ...(upstream && { upstream }),
    evidence: { ...toEvidence(options), ...observed.evidence },
  };
}

/** An old operator has no `taskID` in its schema, and the API server drops unknown members: the end would never be seen. */
function requireTaskId({ patch }: ApiRequest, { spec }: Resource): void {
  const operations = Array.isArray(patch?.body) ? (patch.body as { path: string; value: unknown }[]) : [];
  const sent = operations.find(({ path }) => path === '/spec/taskID');
  if (sent && (spec as Installation['spec']).taskID !== sent.value)
    throw new AppError('conflict', 'The operator is too old: its resource has no spec.taskID; install a newer one');
}
