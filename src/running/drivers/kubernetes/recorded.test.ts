import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clusterSets, installationSets } from '../../../../test/support/kubernetes-objects.ts';
import { type Installation, observeInstallation } from './altinity.ts';
import { isConflict, toApiError } from './api-errors.ts';
import { type ClickHouseCluster, observeCluster } from './official.ts';
import { countReplicas } from './replicas.ts';
import type { StatefulSet } from './resource.ts';

/** Objects and answers of real operators and a real API server, next to the repository of the project's authors. */
const FOLDER = '../shared/data/kubernetes';
const read = <T>(path: string): T => JSON.parse(readFileSync(`${FOLDER}/${path}`, 'utf8'));

describe.skipIf(!existsSync(FOLDER))('recorded objects (skipped where ../shared/data/kubernetes is absent)', () => {
  const sets = installationSets(3);
  const stopped = installationSets(3, '32Gi', { replicas: 0 });

  it.each([
    ['01-created', [], 'provisioning'],
    ['02-finalizer-added', [], 'provisioning'],
    ['03-create-in-progress', [], 'starting'],
    ['05-create-in-progress-all-hosts', sets.slice(0, 2), 'resizing'],
    ['06-completed', sets.slice(0, 2), 'running'],
    ['07-resize-accepted-status-stale', sets.slice(0, 2), 'resizing'],
    ['10-resize-in-progress-3-of-3', sets, 'resizing'],
    ['11-resized', sets, 'running'],
    ['13-stop-accepted-status-stale', sets, 'stopping'],
    ['14-stop-in-progress', sets, 'stopping'],
    ['15-stopped', stopped, 'stopped'],
    ['16-start-accepted-status-stale', stopped, 'starting'],
    ['18-started', sets, 'running'],
    ['20-overlap-next-task-accepted', sets, 'resizing'],
    ['23-overlap-result', stopped, 'stopped'],
    ['24-start-failing-in-progress', sets.slice(0, 1), 'resizing'],
    ['25-start-aborted', sets.slice(0, 1), 'degraded'],
    ['26-retry-result', [...sets.slice(0, 2), ...installationSets(1, '32Gi', { ready: 0 })], 'degraded'],
    ['27-deleting', sets, 'degraded'],
  ])('Altinity %s', (file, replicas, state) => {
    expect(observeInstallation(read<Installation>(`altinity/${file}.json`), replicas).state).toBe(state);
  });

  const two = clusterSets(2);
  const three = clusterSets(3);
  it.each([
    ['01-created', [], 'provisioning'],
    ['02-first-status', [], 'provisioning'],
    ['03-create-in-progress', [], 'starting'],
    ['05-create-ready-not-healthy', two.slice(0, 1), 'resizing'],
    ['06-ready', two, 'running'],
    ['07-resize-accepted-status-stale', two, 'resizing'],
    ['09-resize-in-progress-rolling', three, 'resizing'],
    ['10-resize-in-progress-all-ready', three, 'resizing'],
    ['11-resized', three, 'running'],
    ['12-sets-scaled-to-zero', clusterSets(3, '32Gi', { replicas: 0 }), 'stopped'],
    ['13-sets-scaled-back', three, 'running'],
    ['14-replica-crash-loops', two, 'degraded'],
    ['15-recovered', three, 'running'],
    ['16-keeper-missing', [], 'degraded'],
    ['17-schema-sync-fails', two, 'running'],
    ['18-scale-down-in-progress', three, 'resizing'],
    ['19-scaled-down', two, 'running'],
    ['20-replicas-zero-means-three', three, 'running'],
  ])('official %s', (file, replicas, state) => {
    expect(observeCluster(read<ClickHouseCluster>(`official/${file}.json`), replicas).state).toBe(state);
  });

  it('StatefulSets', () => {
    const count = (file: string) => countReplicas([read<StatefulSet>(file)]);
    expect(count('altinity/37-statefulset.json')).toMatchObject({ ready: 1, wanted: 1, memoryGb: expect.any(Number) });
    expect(count('altinity/38-statefulset-stopped.json')).toMatchObject({ ready: 0, wanted: 0, pods: 0, memoryGb: 32 });
    expect(count('official/28-statefulset.json')).toMatchObject({ ready: 1, wanted: 1, memoryGb: 32 });
    expect(count('official/29-statefulset-scaled-to-zero.json')).toMatchObject({ ready: 0, wanted: 0 });
  });

  interface Exchange {
    response: { status: number; body: object };
  }
  const place = { group: 'clickhouse.altinity.com', version: 'v1', namespace: 'fleet', name: 'orders' };
  const request = { verb: 'patch', resource: 'clickhouseinstallations', ...place } as const;

  it.each([
    ['19-409-stale-patch', true],
    ['21-409-apply-conflict-official', true],
    ['23-409-already-exists', false],
    ['25-422-jsonpatch-test', true],
    ['27-422-jsonpatch-path', true],
    ['28-422-schema-altinity', false],
    ['29-422-schema-official', false],
  ])('%s is a conflict: %j', (file, expected) => {
    const { response } = read<Exchange>(`api/${file}.json`);
    expect(isConflict(response.status, response.body)).toBe(expected);
  });

  it.each([
    ['28-422-schema-altinity', 'conflict', 'spec.stop: Unsupported value: "maybe"'],
    ['34-404-object', 'not_found', 'fleet/orders does not exist'],
    ['40-404-kind', 'not_found', 'install the operator'],
    [
      '42-403-patch',
      'unavailable',
      'is not allowed to patch clickhouseinstallations.clickhouse.altinity.com fleet/orders',
    ],
    ['46-401', 'unavailable', 'rejects the credentials'],
  ])('%s is explained', (file, code, message) => {
    const { response } = read<Exchange>(`api/${file}.json`);
    const body = Array.isArray(response.body) ? response.body.join('\n') : JSON.stringify(response.body);
    const error = toApiError(request, response.status, body);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
  });
});
