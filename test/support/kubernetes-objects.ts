/** Small objects with the members that the real operators wrote (Altinity 0.25.6, ClickHouse of February 2026). */

interface SetOptions {
  owner: string;
  labels: Record<string, string>;
  container: string;
  memory: string;
  replicas?: number;
  ready?: number;
}

export const NAMESPACE = 'fleet';
const resources = (memory: string) => ({ limits: { cpu: '4', memory }, requests: { cpu: '4', memory } });

/** One replica, ready unless told otherwise. */
function statefulSet(name: string, { owner, labels, container, memory, replicas = 1, ready = 1 }: SetOptions) {
  const running = Math.min(replicas, ready);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: NAMESPACE,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      labels,
      ownerReferences: [{ uid: owner, controller: true }],
    },
    spec: { replicas, template: { spec: { containers: [{ name: container, resources: resources(memory) }] } } },
    status: {
      observedGeneration: 1,
      replicas,
      readyReplicas: running,
      updatedReplicas: running,
      currentRevision: `${name}-a`,
      updateRevision: `${name}-a`,
    },
  };
}

export const installation = (replicasCount = 2, memory = '16Gi') => ({
  apiVersion: 'clickhouse.altinity.com/v1',
  kind: 'ClickHouseInstallation',
  metadata: {
    name: 'orders',
    namespace: NAMESPACE,
    uid: 'uid-of-orders',
    resourceVersion: '1',
    generation: 1,
  },
  spec: {
    configuration: { clusters: [{ name: 'main', layout: { replicasCount, shardsCount: 1 } }] },
    defaults: { templates: { dataVolumeClaimTemplate: 'data', podTemplate: 'main' } },
    taskID: 'create-1',
    templates: {
      podTemplates: [
        {
          name: 'main',
          spec: {
            containers: [
              { name: 'clickhouse', image: 'clickhouse/clickhouse-server:26.8', resources: resources(memory) },
            ],
          },
        },
      ],
    },
  },
  status: {
    'chop-version': '0.25.6',
    hosts: replicasCount,
    status: 'Completed',
    taskID: 'create-1',
    taskIDsCompleted: ['create-1'],
    taskIDsStarted: ['create-1'],
  },
});

export const installationSets = (count: number, memory = '16Gi', options: Partial<SetOptions> = {}) =>
  Array.from({ length: count }, (_, index) =>
    statefulSet(`chi-orders-main-0-${index}`, {
      owner: 'uid-of-orders',
      labels: { 'clickhouse.altinity.com/chi': 'orders' },
      container: 'clickhouse',
      memory,
      ...options,
    }),
  );

export const conditions = (changes: Record<string, [status: string, message: string]> = {}) =>
  [
    'SpecValid',
    'ReplicaStartupSucceeded',
    'Healthy',
    'ConfigurationInSync',
    'ClusterSizeAligned',
    'Ready',
    'SchemaInSync',
    'ReconcileSucceeded',
  ].map((type) => {
    const [status, message] = changes[type] ?? ['True', ''];
    return { type, status, reason: `${type}Reason`, message };
  });

export const cluster = (replicas = 2, memory = '16Gi') => ({
  apiVersion: 'clickhouse.com/v1alpha1',
  kind: 'ClickHouseCluster',
  metadata: {
    name: 'events',
    namespace: NAMESPACE,
    uid: 'uid-of-events',
    resourceVersion: '1',
    generation: 1,
  },
  spec: {
    containerTemplate: { resources: resources(memory) },
    keeperClusterRef: { name: 'events' },
    replicas,
    shards: 1,
  },
  status: {
    conditions: conditions(),
    currentRevision: 'a',
    updateRevision: 'a',
    observedGeneration: 1,
    readyReplicas: replicas,
  },
});

export const clusterSets = (count: number, memory = '16Gi', options: Partial<SetOptions> = {}) =>
  Array.from({ length: count }, (_, index) =>
    statefulSet(`events-clickhouse-0-${index}`, {
      owner: 'uid-of-events',
      labels: { app: 'events-clickhouse' },
      container: 'clickhouse-server',
      memory,
      ...options,
    }),
  );

export const crashingPod = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: NAMESPACE, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1, labels },
  status: {
    phase: 'Running',
    containerStatuses: [{ name: 'clickhouse', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
  },
});
