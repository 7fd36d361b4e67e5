import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startKubernetesApi } from '../../../../test/support/kubernetes-api.ts';
import {
  cluster,
  clusterSets,
  conditions,
  crashingPod,
  installation,
  installationSets,
  NAMESPACE,
} from '../../../../test/support/kubernetes-objects.ts';
import type { Desired, DrivenService, KubernetesOptions } from '../../../management/services/driver.ts';
import type { Installation } from './altinity.ts';
import { createKubernetesDriver, type KubernetesDriver } from './kubernetes-driver.ts';
import type { ClickHouseCluster } from './official.ts';

const signal = new AbortController().signal;
const desired = (changes: Partial<Desired> = {}): Desired => ({
  generation: 7,
  state: 'running',
  replicas: 2,
  memoryGb: 16,
  ...changes,
});
const toService = (kubernetes: Partial<KubernetesOptions>): DrivenService => ({
  id: 'service',
  organizationId: 'organization',
  name: 'orders',
  kubernetes: { kind: 'ClickHouseInstallation', namespace: NAMESPACE, name: 'orders', ...kubernetes },
});

let api: Awaited<ReturnType<typeof startKubernetesApi>>;
let driver: KubernetesDriver;
let folder: string;
const writeKubeconfig = (server = api.url, token = api.access.token) =>
  writeFileSync(
    join(folder, 'kubeconfig'),
    JSON.stringify({
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'pilothouse' } }],
      clusters: [{ name: 'test', cluster: { server } }],
      users: [{ name: 'pilothouse', user: { token } }],
    }),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-kube-'));
  api = await startKubernetesApi();
  writeKubeconfig();
  driver = createKubernetesDriver({ kubeconfig: join(folder, 'kubeconfig'), log: { info: () => {} } });
});
afterEach(async () => {
  await driver.close();
  await api.close();
  rmSync(folder, { recursive: true });
});
const countPatches = () => api.received.filter(({ method }) => method === 'PATCH').length;

describe('a ClickHouseInstallation of the Altinity operator', () => {
  const service = toService({
    url: 'http://clickhouse-orders.fleet.svc:8123',
    username: 'pilothouse',
    password: 'of-the-database',
  });
  const get = () => api.get<ReturnType<typeof installation> & Installation>('ClickHouseInstallation', 'orders');
  /** Writes what the operator does at the end of a task. */
  const finish = (status: string, error?: string) => {
    const resource = get();
    const { taskID } = resource.spec;
    api.put({ ...resource, status: { ...resource.status, status, taskID, ...(error && { error }) } });
  };
  const putSets = (...args: Parameters<typeof installationSets>) => {
    for (const set of installationSets(...args)) api.settle(set);
  };
  beforeEach(() => {
    api.put(installation());
    putSets(2);
  });

  it('is observed as the cluster has it, with its endpoint', async () => {
    const { resourceVersion } = get().metadata;
    expect(await driver.observe(service, signal)).toEqual({
      state: 'running',
      replicas: 2,
      memoryGb: 16,
      upstream: {
        host: 'clickhouse-orders.fleet.svc',
        port: 8123,
        headers: { 'X-ClickHouse-User': 'pilothouse', 'X-ClickHouse-Key': 'of-the-database' },
      },
      evidence: {
        kind: 'ClickHouseInstallation',
        namespace: NAMESPACE,
        name: 'orders',
        resourceVersion,
        generation: 1,
        readyReplicas: 2,
        taskID: 'create-1',
        status: 'Completed',
      },
    });
    await driver.converge(service, desired(), signal);
    expect(countPatches()).toBe(0);
  });

  it('is resized by a patch that tests what was read, and done only when the task is ours and the sets are ready', async () => {
    const { resourceVersion } = get().metadata;
    await driver.converge(service, desired({ replicas: 3, memoryGb: 32 }), signal);
    const taskID = `pilothouse-7-running-1-${resourceVersion}`;
    const resources = '/spec/templates/podTemplates/0/spec/containers/0/resources';
    expect(api.received.at(-1)).toMatchObject({
      query: { fieldManager: 'pilothouse' },
      body: [
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'test', path: '/spec/configuration/clusters/0/name', value: 'main' },
        { op: 'test', path: '/spec/templates/podTemplates/0/name', value: 'main' },
        { op: 'test', path: '/spec/templates/podTemplates/0/spec/containers/0/name', value: 'clickhouse' },
        { op: 'replace', path: `${resources}/requests/memory`, value: '32Gi' },
        { op: 'replace', path: `${resources}/limits/memory`, value: '32Gi' },
        { op: 'replace', path: '/spec/configuration/clusters/0/layout/replicasCount', value: 3 },
        { op: 'replace', path: '/spec/taskID', value: taskID },
      ],
    });
    // The old Completed is still there.
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'resizing', replicas: 2, memoryGb: 16 });
    await driver.converge(service, desired({ replicas: 3, memoryGb: 32 }), signal);
    expect(countPatches()).toBe(1);
    finish('Completed');
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'degraded',
      reason: '2 of 3 replicas are ready',
    });
    putSets(3, '32Gi');
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'running',
      replicas: 3,
      memoryGb: 32,
      evidence: { taskID },
    });
  });

  it('idles and stops by the member stop, keeps apart which of the two it was, and starts again', async () => {
    await driver.converge(service, desired({ state: 'idle' }), signal);
    expect(get().spec.stop).toBe('yes');
    expect((await driver.observe(service, signal)).state).toBe('stopping');
    finish('Completed');
    expect((await driver.observe(service, signal)).state).toBe('stopping');
    putSets(2, '16Gi', { replicas: 0 });
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'idle', replicas: 2, memoryGb: 16 });
    expect(await driver.observe(service, signal)).not.toHaveProperty('upstream');
    await driver.converge(service, desired({ generation: 8, state: 'stopped' }), signal);
    finish('Completed');
    expect((await driver.observe(service, signal)).state).toBe('stopped');
    await driver.converge(service, desired({ generation: 9 }), signal);
    expect(get().spec.stop).toBe('no');
    expect((await driver.observe(service, signal)).state).toBe('starting');
    finish('Completed');
    putSets(2);
    expect((await driver.observe(service, signal)).state).toBe('running');
  });

  it('is tried three more times after an abort, then stays degraded until the generation changes', async () => {
    const wanted = desired({ memoryGb: 32 });
    for (const attempt of [1, 2, 3, 4]) {
      await driver.converge(service, wanted, signal);
      expect(get().spec.taskID).toContain(`pilothouse-7-running-${attempt}-`);
      finish('Aborted', 'crud error - should abort');
    }
    await driver.converge(service, wanted, signal);
    expect(countPatches()).toBe(4);
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'degraded',
      reason: 'The operator aborted attempt 4 of 4: crud error - should abort',
    });
    await driver.converge(service, { ...wanted, generation: 8 }, signal);
    expect(get().spec.taskID).toContain('pilothouse-8-running-1-');
  });

  it('is degraded when Completed with a replica that crashes, and the pod says why', async () => {
    const [, second] = installationSets(2, '16Gi', { ready: 0 });
    if (second) api.settle(second);
    api.put(crashingPod('chi-orders-main-0-1-0', { 'clickhouse.altinity.com/chi': 'orders' }));
    const reason = '1 of 2 replicas are ready; not ready: chi-orders-main-0-1';
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'degraded',
      reason: `${reason} (chi-orders-main-0-1-0: CrashLoopBackOff)`,
      replicas: 1,
      upstream: { port: 8123 },
    });
    api.refused.rights.add('list pods');
    expect((await driver.observe(service, signal)).reason).toBe(reason);
  });

  it('is read again after a conflict, and the change of the other client stays', async () => {
    let others = 2;
    api.hooks.beforePatch = () => {
      if (others-- > 0) api.put({ ...get(), metadata: { ...get().metadata, labels: { other: `${others}` } } } as never);
    };
    await driver.converge(service, desired({ memoryGb: 32 }), signal);
    expect(countPatches()).toBe(3);
    expect(get().metadata).toMatchObject({ labels: { other: '0' } });
    others = Number.POSITIVE_INFINITY;
    await expect(driver.converge(service, desired({ memoryGb: 64 }), signal)).rejects.toMatchObject({
      code: 'conflict',
      message: 'ClickHouseInstallation fleet/orders changed during each of 5 attempts',
    });
    expect(countPatches()).toBe(8);
  });

  it('without memory in its StatefulSets has 0 GB, so that the requested size is applied', async () => {
    for (const set of installationSets(2)) {
      for (const container of set.spec.template.spec.containers) Object.assign(container, { resources: {} });
      api.settle(set);
    }
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'running', memoryGb: 0 });
  });

  it('shows a change made outside, and corrects it with a new task', async () => {
    await driver.converge(service, desired({ memoryGb: 32 }), signal);
    const first = get().spec.taskID;
    finish('Completed');
    putSets(2, '8Gi');
    const resource = get();
    resource.spec.configuration.clusters = [{ name: 'main', layout: { replicasCount: 1, shardsCount: 1 } }];
    api.put(resource);
    expect(await driver.observe(service, signal)).toMatchObject({ memoryGb: 8 });
    await driver.converge(service, desired({ memoryGb: 32 }), signal);
    expect(get().spec.configuration.clusters[0]?.layout.replicasCount).toBe(2);
    expect(get().spec.taskID).not.toBe(first);
  });

  it('a plan is a dry run: the patch, the differences, and nothing changes', async () => {
    const before = get();
    const plan = await driver.plan(service, desired({ replicas: 3, memoryGb: 32, state: 'stopped' }), signal);
    expect(plan).toMatchObject({
      resource: 'ClickHouseInstallation fleet/orders',
      differences: [
        { member: 'memoryGb', before: 16, after: 32 },
        { member: 'replicas', before: 2, after: 3 },
        { member: 'state', before: 'running', after: 'stopped' },
      ],
    });
    expect(api.received.at(-1)).toMatchObject({ query: { dryRun: 'All' }, body: plan.patches[0]?.patch });
    expect(get()).toEqual(before);
    expect(await driver.plan(service, desired(), signal)).toMatchObject({ differences: [], patches: [] });
  });

  it('never gets zero replicas', async () => {
    for (const replicas of [0, -1, 1.5])
      await expect(driver.converge(service, desired({ replicas }), signal)).rejects.toMatchObject({
        code: 'bad_request',
      });
    expect(countPatches()).toBe(0);
  });

  it('stays when the service is deleted', async () => {
    await driver.converge(service, desired({ state: 'deleted' }), signal);
    expect(await driver.observe(service, signal)).toEqual({ state: 'deleted' });
    expect(countPatches()).toBe(0);
    await driver.converge(service, desired(), signal);
    expect((await driver.observe(service, signal)).state).toBe('running');
  });

  it.each([
    ['two clusters', { configuration: { clusters: [{ name: 'a' }, { name: 'b' }] } }, 'one cluster and has 2'],
    ['no template', { templates: {} }, 'needs a pod template'],
    [
      'a layout by shard',
      { configuration: { clusters: [{ name: 'main', layout: { shards: [{ replicasCount: 2 }] } }] } },
      'lists shards or replicas one by one',
    ],
  ])('with %s cannot be resized', async (_, spec, message) => {
    const resource = installation();
    api.put({ ...resource, spec: { ...resource.spec, ...spec } });
    await expect(driver.converge(service, desired({ memoryGb: 32 }), signal)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(message),
    });
  });

  it('gets resources where its template has none', async () => {
    const resource = installation();
    const [template] = resource.spec.templates.podTemplates;
    if (template) template.spec.containers = [{ name: 'clickhouse', image: 'x' } as never];
    api.put(resource);
    await driver.converge(service, desired({ memoryGb: 1.5 }), signal);
    expect(get().spec.templates.podTemplates[0]?.spec.containers[0]?.resources).toEqual({
      requests: { memory: '1536Mi' },
      limits: { memory: '1536Mi' },
    });
  });

  it('of an operator without tasks is refused', async () => {
    api.unknownPaths.add('/spec/taskID');
    await expect(driver.plan(service, desired({ memoryGb: 32 }), signal)).rejects.toMatchObject({
      code: 'conflict',
      message: 'The operator is too old: its resource has no spec.taskID; install a newer one',
    });
  });
});

describe('a ClickHouseCluster of the official operator', () => {
  const service = toService({ kind: 'ClickHouseCluster', name: 'events' });
  const idling = toService({ kind: 'ClickHouseCluster', name: 'events', canIdle: true });
  const get = () => api.get<ReturnType<typeof cluster> & ClickHouseCluster>('ClickHouseCluster', 'events');
  const putStatus = (status: object) => api.put({ ...get(), status: { ...get().status, ...status } });
  const putSets = (...args: Parameters<typeof clusterSets>) => {
    for (const set of clusterSets(...args)) api.settle(set);
  };
  beforeEach(() => {
    api.put(cluster());
    putSets(2);
  });

  it('is resized, and done only with the generation, all conditions, the revision and the sets', async () => {
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'running', replicas: 2, memoryGb: 16 });
    await driver.converge(service, desired({ replicas: 3, memoryGb: 32 }), signal);
    expect(get().spec).toMatchObject({
      replicas: 3,
      containerTemplate: { resources: { limits: { cpu: '4', memory: '32Gi' }, requests: { memory: '32Gi' } } },
    });
    const states = async () => (await driver.observe(service, signal)).state;
    expect(await states()).toBe('resizing');
    putStatus({ observedGeneration: 2, conditions: conditions({ ConfigurationInSync: ['False', 'pending updates'] }) });
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'resizing',
      reason: 'ConfigurationInSync: pending updates',
    });
    putStatus({ conditions: conditions(), updateRevision: 'b' });
    expect(await states()).toBe('resizing');
    putStatus({ currentRevision: 'b' });
    expect(await states()).toBe('degraded');
    putSets(3, '32Gi');
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'running', replicas: 3, memoryGb: 32 });
  });

  it('is degraded while a replica crashes, although Ready is True', async () => {
    putStatus({
      conditions: conditions({
        ReplicaStartupSucceeded: ['False', 'Replicas has startup errors: [(0:1)]'],
        Healthy: ['False', 'Not ready replicas: [(0:1)]'],
      }),
    });
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'degraded',
      reason: 'ReplicaStartupSucceeded: Replicas has startup errors: [(0:1)]',
    });
  });

  it('neither idles nor stops unless the settings allow it', async () => {
    expect([driver.canIdle(service), driver.canIdle(idling)]).toEqual([false, true]);
    for (const state of ['idle', 'stopped'] as const)
      await expect(driver.converge(service, desired({ state }), signal)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('kubernetes.canIdle: true'),
      });
    expect(countPatches()).toBe(0);
  });

  it('idles by its sets, never by its replicas, and runs again', async () => {
    await driver.converge(idling, desired({ state: 'idle', memoryGb: 32 }), signal);
    expect(get().spec.replicas).toBe(2);
    expect(api.get<{ spec: object }>('StatefulSet', 'events-clickhouse-0-1').spec).toMatchObject({ replicas: 0 });
    expect((await driver.observe(idling, signal)).state).toBe('stopping');
    putSets(2, '16Gi', { replicas: 0 });
    const { resourceVersion, generation } = get().metadata;
    expect(await driver.observe(idling, signal)).toEqual({
      state: 'idle',
      evidence: {
        kind: 'ClickHouseCluster',
        namespace: NAMESPACE,
        name: 'events',
        resourceVersion,
        generation,
        readyReplicas: 0,
        observedGeneration: 1,
      },
    });
    // Also when the settings no longer allow it.
    await driver.converge(service, desired(), signal);
    expect(api.get<{ spec: object }>('StatefulSet', 'events-clickhouse-0-0').spec).toMatchObject({ replicas: 1 });
    putSets(2);
    expect((await driver.observe(service, signal)).state).toBe('running');
  });

  it('shows three replicas where its resource says zero', async () => {
    api.settle(cluster(0));
    putSets(3);
    expect(await driver.observe(service, signal)).toMatchObject({ state: 'running', replicas: 3 });
  });

  it('that the operator has not seen is provisioning', async () => {
    const { status: _, ...created } = cluster();
    api.put(created);
    for (const set of clusterSets(2)) api.remove('StatefulSet', set.metadata.name);
    expect((await driver.observe(service, signal)).state).toBe('provisioning');
  });
});

describe('an API server that rejects or fails requests', () => {
  const service = toService({});

  it('a missing object and a missing resource definition are reasons', async () => {
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'degraded',
      reason: 'clickhouseinstallations.clickhouse.altinity.com fleet/orders does not exist',
    });
    api.refused.kinds.add('ClickHouseInstallation');
    expect((await driver.observe(service, signal)).reason).toBe(
      'The Kubernetes cluster has no clickhouseinstallations.clickhouse.altinity.com/v1; install the operator and its custom resource definitions',
    );
    await expect(driver.converge(service, desired(), signal)).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['patch', 'clickhouseinstallations', 'patch clickhouseinstallations.clickhouse.altinity.com fleet/orders'],
    ['list', 'statefulsets', 'list statefulsets.apps in the namespace fleet'],
  ])('a missing right to %s %s is named', async (verb, resource, text) => {
    api.put(installation());
    api.refused.rights.add(`${verb} ${resource}`);
    const call =
      verb === 'list' ? driver.observe(service, signal) : driver.converge(service, desired({ memoryGb: 8 }), signal);
    await expect(call).rejects.toMatchObject({
      code: 'unavailable',
      message: `The Kubernetes account is not allowed to ${text} (403); deploy/kubernetes/rbac.yaml has the rules it needs`,
    });
  });

  it('rejected credentials, a broken kubeconfig and a vanished server are named, and a repaired kubeconfig is used', async () => {
    api.put(installation());
    const fail = (message: string) =>
      expect(driver.observe(service, signal)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(message),
      });
    writeKubeconfig(api.url, 'a-wrong-token');
    await fail('The Kubernetes API server rejects the credentials (401)');
    writeFileSync(join(folder, 'kubeconfig'), 'users: [');
    await fail('The kubeconfig cannot be used: it cannot be read: line 1');
    rmSync(join(folder, 'kubeconfig'));
    await fail('The kubeconfig cannot be used: it cannot be read (ENOENT)');
    writeKubeconfig();
    expect((await driver.observe(service, signal)).state).toBe('degraded');
    writeKubeconfig('http://127.0.0.1:1');
    await fail('The Kubernetes API server 127.0.0.1:1 cannot be reached: ECONNREFUSED');
    await expect(driver.observe(service, AbortSignal.abort())).rejects.toMatchObject({
      message: 'The call of the Kubernetes API server was canceled',
    });
  });

  it('a service without a resource is refused', async () => {
    const { kubernetes: _, ...bare } = service;
    await expect(driver.observe(bare, signal)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('two control planes with the same resource', () => {
  const create = (controlPlaneId: string) =>
    createKubernetesDriver({
      kubeconfig: join(folder, 'kubeconfig'),
      readControlPlaneId: async () => controlPlaneId,
      log: { info: () => {} },
    });
  const [ours, theirs] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
  const put = (kind: KubernetesOptions['kind']) => {
    api.put(kind === 'ClickHouseCluster' ? cluster() : installation());
    for (const set of kind === 'ClickHouseCluster' ? clusterSets(2) : installationSets(2)) api.settle(set);
    return toService({ kind, name: kind === 'ClickHouseCluster' ? 'events' : 'orders', canIdle: true });
  };

  it.each(['ClickHouseInstallation', 'ClickHouseCluster'] as const)(
    'the first that changes a %s drives it; the other one changes nothing and says so',
    async (kind) => {
      const service = put(kind);
      const [first, second] = [create(ours), create(theirs)];
      // Nothing to change, so neither has marked it.
      for (const one of [first, second]) {
        await one.converge(service, desired(), signal);
        expect((await one.observe(service, signal)).state).toBe('running');
      }
      await first.converge(service, desired({ memoryGb: 32 }), signal);
      const patches = countPatches();
      for (const state of ['running', 'idle', 'stopped'] as const)
        await expect(second.converge(service, desired({ state, memoryGb: 64 }), signal)).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringContaining(`is driven by another control plane, ${ours}`),
        });
      expect(await second.observe(service, signal)).toEqual({
        state: 'degraded',
        reason: expect.stringContaining('is driven by another control plane'),
        evidence: { kind, namespace: NAMESPACE, name: service.kubernetes?.name },
      });
      await second.converge(service, { ...desired(), state: 'deleted' }, signal);
      expect(countPatches()).toBe(patches);
      expect((await first.observe(service, signal)).reason ?? '').not.toContain('another control plane');
      await first.converge(service, desired({ generation: 8, memoryGb: 48 }), signal);
      expect(countPatches()).toBe(patches + 1);
      // An administrator hands it over.
      const resource = api.get<ReturnType<typeof installation>>(kind, service.kubernetes?.name ?? '');
      const annotations = { 'pilothouse.dev/owner': `${theirs}/${service.id}` };
      api.put({ ...resource, metadata: { ...resource.metadata, ...{ annotations } } });
      await second.converge(service, desired({ generation: 9, memoryGb: 64 }), signal);
      await expect(first.converge(service, desired({ memoryGb: 16 }), signal)).rejects.toThrow('another control plane');
      await Promise.all([first.close(), second.close()]);
    },
  );
});

describe('a service with shards', () => {
  it('is that of all pages of its sets, and a change is for all shards', async () => {
    api.pageSize.sets = 2;
    const resource = installation(2);
    const [first] = resource.spec.configuration.clusters;
    if (first) first.layout.shardsCount = 3;
    api.put(resource);
    for (const set of installationSets(6)) api.settle(set);
    const service = toService({});
    expect(await driver.observe(service, signal)).toMatchObject({
      state: 'running',
      shards: 3,
      replicas: 2,
      memoryGb: 16,
    });
    expect(api.received.filter(({ path }) => path.endsWith('statefulsets'))).toHaveLength(3);
    await driver.converge(service, desired({ replicas: 4 }), signal);
    const after = api.get<ReturnType<typeof installation>>('ClickHouseInstallation', 'orders');
    expect(after.spec.configuration.clusters[0]?.layout).toEqual({ replicasCount: 4, shardsCount: 3 });
  });

  it('with more sets than can be counted is refused, not billed for some of them', async () => {
    api.pageSize.sets = 1;
    api.pageSize.isEndless = true;
    api.put(installation(2));
    for (const set of installationSets(2)) api.settle(set);
    await expect(driver.observe(toService({}), signal)).rejects.toThrow('more than 4000 StatefulSets');
  });
});
