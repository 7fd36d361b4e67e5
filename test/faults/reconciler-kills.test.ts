import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { sendSignal } from '../support/processes.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStoreInLongRuns, startServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

const id = '6de48484-c180-4164-a5bd-81c39c70f477';
const path = `/v1/organizations/${acme.id}/services/${id}`;

/** What runs the service: it reports what was delivered last. Deliveries wait while it is busy. */
const receiver = { isBusy: false, waiting: 0, delivered: [] as Json[] };
const http = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  if (request.method === 'GET') {
    const last = receiver.delivered.at(-1);
    response.writeHead(last ? 200 : 404).end(JSON.stringify(last));
    return;
  }
  // Never answered: the sender is killed first.
  if (receiver.isBusy) receiver.waiting++;
  else {
    receiver.delivered.push(JSON.parse(body).desired);
    response.writeHead(204).end();
  }
});
beforeAll(() => new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  http.closeAllConnections();
  http.close();
});

const createFleet = () => {
  const [first, ...others] = fleet.organizations;
  const webhook = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    secret: 'secret-of-the-receiver',
  };
  const service = { id, name: 'hooked', driver: 'webhook', webhook, numReplicas: 3 };
  return { organizations: [{ ...first, services: [...(first?.services ?? []), service] }, ...others] };
};

onEachStoreInLongRuns('a node killed while it reconciles a service', (store) => {
  // A node sees that a process of its own machine has ended. The lease of another machine must expire.
  it.each(isLongRun ? ['this machine', 'another machine'] : ['this machine'])(
    'of %s: another node completes the change, once, and nothing is lost',
    { timeout: 600_000 },
    async (place) => {
      Object.assign(receiver, { isBusy: false, waiting: 0, delivered: [] });
      const args = ['--webhook-allow-private', 'yes'];
      const first = await startServer(store, { fleet: createFleet(), args, sharedEngine: true });
      const second = await startSecondServer(first);
      const readService = async () => (await second.call({ path, key: acme.admin })).json.result;
      const untilSettled = (replicas: number) =>
        until(
          readService,
          ({ state, status }) =>
            state === 'running' && status.inFlight === undefined && receiver.delivered.at(-1)?.replicas === replicas,
          `the service does not have ${replicas} replicas`,
        );
      try {
        await untilSettled(3);
        const [lease] = await runSql(first, "SELECT pid FROM leases WHERE name = 'services'");
        expect(Number(lease?.pid)).toBe(first.pid);
        if (place === 'another machine')
          await runSql(first, "UPDATE leases SET host = 'elsewhere' WHERE name = 'services'");
        receiver.isBusy = true;
        const body = { numReplicas: 5 };
        await second.call({ method: 'PATCH', path: `${path}/scaling`, key: acme.admin, body });
        await until(
          async () => receiver.waiting,
          (count) => count > 0,
          'the change is not delivered',
        );
        sendSignal(first.pid, 'SIGKILL');
        receiver.isBusy = false;
        const { generation } = (await untilSettled(5)).status;
        expect(receiver.delivered.map(({ replicas }) => replicas)).toEqual([3, 5]);
        expect(receiver.delivered.at(-1)?.generation).toBe(generation);
        const { json } = await second.call({
          path: `/v1/organizations/${acme.id}/activities?resource_id=${id}`,
          key: acme.admin,
        });
        const types: string[] = json.result.map(({ type }: Json) => type);
        expect(types.filter((type) => type === 'service_update_autoscaling_replicas')).toHaveLength(1);
      } finally {
        await second.stop();
        await first.remove();
      }
    },
  );
});
