import { expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStore, useServer } from '../support/server.ts';

const SERVICES = 12;
const ROUNDS = 4;
const MISSING = '00000000-0000-4000-8000-000000000000';

onEachStore('many changes of an organization at the same time', (store) => {
  const server = useServer(store, { sharedEngine: true });
  const base = `/v1/organizations/${acme.id}`;
  const scale = (id: string, body: object, target: Pick<typeof server, 'call'> = server) =>
    target.call({ method: 'PATCH', path: `${base}/services/${id}/replicaScaling`, key: acme.admin, body });
  const read = async (id: string) =>
    (await server.call({ path: `${base}/services/${id}`, key: acme.admin })).json.result;
  const create = async (index: number): Promise<string> => {
    const body = { name: `service-${index}`, provider: 'aws', region: 'eu-west-1' };
    const response = await server.call({ method: 'POST', path: `${base}/services`, key: acme.admin, body });
    return response.json.result.service.id;
  };
  const countActivities = async () =>
    (await server.call({ path: `${base}/activities`, key: acme.admin })).json.result.length;

  const verifyAudit = async () => {
    const verified = await getServerStore(server).run('audit', 'verify', '--org', acme.id);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  };

  it('all take effect, each with its activity, and a failed one fails alone', async () => {
    const ids = await Promise.all(Array.from({ length: SERVICES }, (_, index) => create(index)));
    const before = await countActivities();
    const responses = await Promise.all(
      ids.flatMap((id, index) => [
        scale(id, { numReplicas: 4 + (index % 3) }),
        scale(id, { idleTimeoutMinutes: 20 + index }),
        scale(id, { numReplicas: 4 + (index % 3) }),
        // Rejected: the values are out of order, and the service does not exist.
        ...(index % 4 === 0
          ? [scale(id, { minReplicaMemoryGb: 120, maxReplicaMemoryGb: 16 }), scale(MISSING, {})]
          : []),
      ]),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(SERVICES * 3);
    expect(statuses.filter((status) => status === 400)).toHaveLength(SERVICES / 4);
    expect(statuses.filter((status) => status === 404)).toHaveLength(SERVICES / 4);
    for (const [index, id] of ids.entries())
      expect(await read(id)).toMatchObject({ numReplicas: 4 + (index % 3), idleTimeoutMinutes: 20 + index });
    // The repeated change changes nothing.
    expect(await countActivities()).toBe(before + SERVICES * 2);
    await verifyAudit();
  });

  it('no change is lost if two servers change the same services', async () => {
    const second = await startSecondServer(server);
    try {
      const ids = await Promise.all(Array.from({ length: SERVICES }, (_, index) => create(index)));
      for (let round = 1; round <= ROUNDS; round++) {
        const responses = await Promise.all(
          ids.flatMap((id) => [
            scale(id, { numReplicas: 4 + round }),
            scale(id, { idleTimeoutMinutes: 20 + round }, second),
          ]),
        );
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
        for (const id of ids)
          expect(await read(id)).toMatchObject({ numReplicas: 4 + round, idleTimeoutMinutes: 20 + round });
      }
      await verifyAudit();
    } finally {
      await second.stop();
    }
  });
});
