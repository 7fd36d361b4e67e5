import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStoreInLongRuns, startServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

const today = new Date().toISOString().slice(0, 10);
const spending = structuredClone(fleet) as { organizations: { usageCosts?: object[] }[] };
spending.organizations[0]?.usageCosts?.push({
  date: today,
  entityType: 'service',
  entityId: acme.primary,
  metrics: { computeCHC: 80 },
});

onEachStoreInLongRuns('kill -9 while a notification is sent', (store) => {
  it('sends it again with the same id, and says so', { timeout: 300_000 }, async () => {
    const ids: string[] = [];
    let isHanging = true;
    const receiver = createServer((request, response) => {
      ids.push(String(request.headers['webhook-id']));
      request.resume();
      if (!isHanging) response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const server = await startServer(store, { fleet: spending, args: ['--webhook-allow-private', 'yes'] });
    const list = async (): Promise<Json[]> =>
      (await server.call({ path: '/api/v2/notifications', token: acme.token })).json.data;
    try {
      const hook = { service: 'generic', name: 'hook', url };
      const path = '/api/v2/webhooks';
      const { id: webhookId } = (await server.call({ method: 'POST', path, token: acme.writer, body: hook })).json.data;
      const body = { monthlyCHC: 100, thresholds: [50], channels: [{ type: 'webhook', webhookId }] };
      await server.call({ method: 'POST', path: `/v1/organizations/${acme.id}/budgets`, key: acme.admin, body });
      await until(
        async () => ids.length,
        (count) => count === 1,
        'nothing was sent',
      );
      await server.stop('SIGKILL');
      isHanging = false;
      await server.restart();
      expect(await list()).toMatchObject([{ status: 'pending', attempts: 1, channelId: webhookId }]);
      // As if the minute had passed for which the killed process claimed it.
      await runSql(server, 'UPDATE notifications SET next_attempt_at = 0');
      const [delivered] = await until(
        list,
        ([notification]) => notification?.status === 'delivered',
        'it was not sent again',
      );
      expect(delivered).toMatchObject({ id: ids[0], attempts: 2, lastExchange: { status: 204 } });
      expect(ids).toEqual([ids[0], ids[0]]);
    } finally {
      await server.remove();
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});
