import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

interface Delivered {
  generation: number;
  state: string;
  replicas: number;
  memoryGb: number;
}

interface Status {
  generation: number;
  observedGeneration: number;
  requested: { replicaMemoryGb: number };
  observed: { replicaMemoryGb: number };
}

const id = 'a1b1a7b2-64a4-4a32-9fd4-0f2f5b6f3d11';

/** A receiver that reports what was delivered last, or what was changed outside since then. */
function useReceiver() {
  const receiver = { url: '', status: undefined as Delivered | undefined };
  let server: Server;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      if (request.method === 'POST') {
        const { desired } = JSON.parse(body) as { desired: Delivered };
        receiver.status = desired;
      }
      response.writeHead(receiver.status ? 200 : 404).end(JSON.stringify(receiver.status ?? {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}

onEachStoreInLongRuns('a size that was changed outside', (store) => {
  for (const drift of ['correct', 'adopt'] as const)
    it(`is an activity, and is ${drift === 'correct' ? 'corrected' : 'adopted'} with --drift ${drift}`, async () => {
      const { server, receiver } = setups[drift];
      const path = `/v1/organizations/${acme.id}/services/${id}`;
      const read = async () => (await server.call({ path, key: acme.admin })).json.result;
      // A change over the API makes the reconciler look at the service at once, not only once a minute.
      const touch = (value: string) =>
        server.call({
          method: 'PATCH',
          path,
          key: acme.admin,
          body: { tags: { add: [{ key: 'touched', value }] } },
        });
      const [first, ...others] = fleet.organizations;
      const service = {
        id,
        name: 'hooked',
        driver: 'webhook',
        webhook: { url: receiver.url, secret: 'a-secret-of-16-or-more' },
      };
      const sizes = { numReplicas: 3, minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 };
      const organization = { ...first, services: [...(first?.services ?? []), { ...service, ...sizes }] };
      await getServerStore(server).plan({ organizations: [organization, ...others] });
      await touch('first');
      const before = await until(
        read,
        ({ status }) => status.state === 'running' && !status.inFlight,
        'the service does not run',
      );
      expect(before.status.observed).toEqual({ replicaMemoryGb: 16, replicas: 3 });

      receiver.status = { ...(receiver.status as Delivered), memoryGb: 32 };
      await touch('second');
      const expected = drift === 'correct' ? 16 : 32;
      const isReached = (status: Status) =>
        status.requested.replicaMemoryGb === expected &&
        status.observed.replicaMemoryGb === expected &&
        status.observedGeneration === status.generation;
      const after = await until(
        read,
        ({ status }) => status.generation > before.status.generation && isReached(status),
        'the drift is still there',
      );
      expect(after.status).toMatchObject({ requested: { replicaMemoryGb: expected, replicas: 3 } });
      expect(after.status).not.toHaveProperty('drift');
      // The receiver is asked to undo the change, or nothing.
      expect(receiver.status).toMatchObject({ state: 'running', memoryGb: expected, replicas: 3 });

      const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
      const types = activities.json.result.map(({ activityType }: { activityType: string }) => activityType);
      expect(types.includes('service_drift')).toBe(drift === 'correct');
      const adopted = activities.json.result.find(
        (one: { activityType: string }) => one.activityType === 'service_resize',
      );
      if (drift === 'adopt') expect(JSON.stringify(adopted)).toContain('Adopted: ');
      else expect(adopted).toBeUndefined();
    });

  const setups = Object.fromEntries(
    (['correct', 'adopt'] as const).map((drift) => [
      drift,
      {
        server: useServer(store, { args: ['--webhook-allow-private', 'yes', '--drift', drift] }),
        receiver: useReceiver(),
      },
    ]),
  ) as Record<'correct' | 'adopt', { server: ReturnType<typeof useServer>; receiver: ReturnType<typeof useReceiver> }>;
});
