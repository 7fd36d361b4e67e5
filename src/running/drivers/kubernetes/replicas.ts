import { parseBytes, toMemoryGb } from './quantity.ts';
import type { Container, StatefulSet } from './resource.ts';

/** What the StatefulSets of a service say. */
export interface Replicas {
  /** The sets, each of which is a replica of a shard. */
  count: number;
  /** Replicas that run the current template and are ready. */
  ready: number;
  /** Sets that are meant to run. */
  wanted: number;
  /** Pods that exist, ready or not. */
  pods: number;
  /** Names of the sets that are meant to run and are not ready. */
  waiting: string[];
  /** Of the smallest replica; 0 if one has no limit and no request. Left out if there is no replica. */
  memoryGb?: number;
  /** The memory of all that are ready: replicas have different sizes while they are replaced one by one. */
  runningGb: number;
}

export function countReplicas(sets: readonly StatefulSet[]): Replicas {
  const wanted = sets.filter(isWanted);
  const memory = sets.map(findMemoryBytes);
  const ready = wanted.filter(isReady);
  return {
    count: sets.length,
    ready: ready.length,
    wanted: wanted.length,
    pods: sets.reduce((sum, { status }) => sum + (status?.replicas ?? 0), 0),
    waiting: wanted.filter((set) => !isReady(set)).map(({ metadata }) => metadata.name),
    ...(memory.length > 0 && { memoryGb: toMemoryGb(memory.reduce((least, bytes) => Math.min(least, bytes))) }),
    runningGb: toMemoryGb(ready.reduce((sum, set) => sum + findMemoryBytes(set), 0)),
  };
}

const isWanted = ({ spec }: StatefulSet): boolean => (spec.replicas ?? 1) > 0;

/** The status of an older generation says nothing about the current one. */
function isReady({ metadata, spec, status = {} }: StatefulSet): boolean {
  const replicas = spec.replicas ?? 1;
  return (
    status.observedGeneration === metadata.generation &&
    (status.readyReplicas ?? 0) >= replicas &&
    (status.updatedReplicas ?? 0) >= replicas &&
    status.currentRevision === status.updateRevision
  );
}

/** Of one replica; 0 without a limit and a request. */
function findMemoryBytes({ spec }: StatefulSet): number {
  const { containers } = spec.template.spec;
  const { limits = {}, requests = {} } = containers[findDatabase(containers)]?.resources ?? {};
  return parseBytes(limits.memory ?? requests.memory) ?? 0;
}

const DATABASE_CONTAINERS = ['clickhouse', 'clickhouse-server', 'clickhouse-pod'];

/** The index of the container with the database: the one with a usual name, or the first. */
export const findDatabase = (containers: readonly Container[]): number =>
  Math.max(
    containers.findIndex(({ name }) => DATABASE_CONTAINERS.includes(name)),
    0,
  );
