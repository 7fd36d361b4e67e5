import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cluster,
  clusterSets,
  conditions,
  installation,
  installationSets,
} from '../../../test/support/kubernetes-objects.ts';
import type { Observed } from '../../management/services/driver.ts';
import { type Installation, observeInstallation } from '../drivers/kubernetes/altinity.ts';
import { type ClickHouseCluster, observeCluster } from '../drivers/kubernetes/official.ts';
import type { StatefulSet } from '../drivers/kubernetes/resource.ts';
import { countRunningGb } from '../drivers/running-memory.ts';
import { checkClaims } from './checked-observation.ts';
import { createUsageMeter } from './usage-slice.ts';

const FOLDER = '../shared/data/kubernetes';
const GB_PER_UNIT = 8;

/** Independent of the driver: what each set says, summed up. */
const sumSets = (sets: readonly StatefulSet[]): number =>
  sets.reduce((sum, { spec, status, metadata }) => {
    const memory = spec.template.spec.containers[0]?.resources?.limits?.memory;
    const isReady =
      (spec.replicas ?? 1) === 1 &&
      status?.readyReplicas === 1 &&
      status.updatedReplicas === 1 &&
      status.observedGeneration === metadata.generation &&
      status.currentRevision === status.updateRevision;
    return isReady ? sum + Number(String(memory).replace('Gi', '')) : sum;
  }, 0);

/** The units of 8 GB that ten minutes of the observation are billed for. */
function bill(observed: Observed): number {
  const meter = createUsageMeter({ organizationId: 'o', serviceId: 's', dataWarehouseId: 'w' }, 0);
  const gb = countRunningGb(checkClaims(observed));
  meter.add({ gb, storedBytes: 0, backupBytes: 0 }, 0, 600_000, 600_000);
  return (meter.end()?.quantities.compute ?? 0) / 10;
}

const Sets = fc.record({
  shards: fc.integer({ min: 1, max: 12 }),
  replicas: fc.integer({ min: 1, max: 6 }),
  state: fc.constantFrom('Completed', 'InProgress', 'Aborted'),
  /** Of each replica, in the order of shards: a replica may be down, stopped or still have another size. */
  each: fc.array(
    fc.record({
      memory: fc.constantFrom(8, 16, 32),
      ready: fc.nat(4).map(Math.sign),
      replicas: fc.nat(8).map(Math.sign),
    }),
    { minLength: 72, maxLength: 72 },
  ),
  isUniform: fc.boolean(),
});

const toSets = (
  create: typeof installationSets,
  {
    shards,
    replicas,
    each,
    isUniform,
  }: { shards: number; replicas: number; each: { memory: number }[]; isUniform: boolean },
) =>
  Array.from({ length: shards * replicas }, (_, index) => {
    const { memory, ...options } = (isUniform ? { memory: 16 } : each[index]) as { memory: number };
    return { ...create(1, `${memory}Gi`, options)[0], name: index } as unknown as StatefulSet;
  });

describe('compute of a service on Kubernetes is that of all of its sets', () => {
  it('six sets of 16 GB are billed as six', () => {
    const resource = installation(2) as unknown as Installation;
    Object.assign(resource.spec.configuration?.clusters?.[0]?.layout ?? {}, { shardsCount: 3 });
    const observed = observeInstallation(resource, installationSets(6) as unknown as StatefulSet[]);
    expect(observed).toMatchObject({ state: 'running', replicas: 2, shards: 3, memoryGb: 16 });
    expect(bill(observed) * GB_PER_UNIT).toBe(96);
  });

  it('of the Altinity operator, in every state', () => {
    fc.assert(
      fc.property(Sets, (wanted) => {
        const resource = installation(wanted.replicas) as unknown as Installation;
        Object.assign(resource.spec.configuration?.clusters?.[0]?.layout ?? {}, { shardsCount: wanted.shards });
        Object.assign(resource.status ?? {}, { status: wanted.state });
        const sets = toSets(installationSets, wanted);
        const observed = observeInstallation(resource, sets);
        expect(observed.shards ?? 1).toBe(wanted.shards);
        expect(bill(observed) * GB_PER_UNIT).toBeCloseTo(sumSets(sets), 4);
      }),
    );
  });

  it('of the official operator, in every state', () => {
    fc.assert(
      fc.property(Sets, (wanted) => {
        const resource = cluster(wanted.replicas) as unknown as ClickHouseCluster;
        resource.spec.shards = wanted.shards;
        if (wanted.state !== 'Completed')
          Object.assign(resource.status ?? {}, { conditions: conditions({ Healthy: ['False', 'a replica is down'] }) });
        const sets = toSets(clusterSets, wanted);
        const observed = observeCluster(resource, sets);
        expect(observed.shards ?? 1).toBe(wanted.shards);
        expect(bill(observed) * GB_PER_UNIT).toBeCloseTo(sumSets(sets), 4);
      }),
    );
  });

  it.skipIf(!existsSync(FOLDER))('with recorded sets (skipped where ../shared/data/kubernetes is absent)', () => {
    const read = <T>(path: string): T => JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8'));
    const set = read<StatefulSet>('altinity/37-statefulset.json');
    const stopped = read<StatefulSet>('altinity/38-statefulset-stopped.json');
    const resource = read<Installation>('altinity/11-resized.json');
    expect(bill(observeInstallation(resource, [set, set, set])) * GB_PER_UNIT).toBeCloseTo(sumSets([set]) * 3, 4);
    expect(bill(observeInstallation(resource, [stopped, set]))).toBeCloseTo(sumSets([set]) / GB_PER_UNIT, 4);
    const official = read<StatefulSet>('official/28-statefulset.json');
    const sharded = read<ClickHouseCluster>('official/11-resized.json');
    sharded.spec.shards = 4;
    const sets = Array.from({ length: 12 }, () => official);
    const observed = observeCluster(sharded, sets);
    expect(observed).toMatchObject({ state: 'running', shards: 4, replicas: 3 });
    expect(bill(observed) * GB_PER_UNIT).toBeCloseTo(sumSets(sets), 4);
  });
});
