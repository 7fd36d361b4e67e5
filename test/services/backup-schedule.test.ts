import { expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { useReceiver } from '../support/receiver.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStore } from '../support/server.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

onEachStore('scheduled backups of an embedded service', (store) => {
  const settings = { endpointPorts: '0', rateLimit: 'off', webhookAllowPrivate: 'yes' };
  const server = useClockedServer(store, { settings, isShared: true });
  const receiver = useReceiver();
  const services = useServices({ call: (call) => server.call(call) });
  const { send } = services;
  const list = async (id: string): Promise<Json[]> => (await send('GET', `/${id}/backups`)).json.result;

  it('start at the start time of each day', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    const configuration = { backupStartTime: '03:30', backupRetentionPeriodInHours: 72 };
    expect((await send('PATCH', `/${id}/backupConfiguration`, configuration)).status).toBe(200);
    const start = Math.floor(server.now / DAY_MS) * DAY_MS + DAY_MS + 3.5 * 60 * MINUTE_MS;
    for (const day of [0, 1]) {
      await query(`INSERT INTO t VALUES (${day})`);
      server.now = start + day * DAY_MS - MINUTE_MS;
      await server.settleBackups();
      expect(await list(id)).toHaveLength(day);
      server.now = start + day * DAY_MS;
      await server.settleBackups();
      const [newest] = await list(id);
      expect(newest).toMatchObject({
        status: 'done',
        startedAt: new Date(server.now).toISOString().replace('.000', ''),
      });
    }
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
  });

  it('that are late can be alerted about', async () => {
    const send = async (path: string, body: object): Promise<Json> => {
      const response = await server.call({ method: 'POST', path, token: acme.writer, body });
      expect(response.status, response.text).toBe(200);
      return response.json.data;
    };
    const { id } = await services.create({ name: 'late one' });
    const body = JSON.stringify({ title: '{{title}}', body: '{{body}}' });
    const webhook = await send('/api/v2/webhooks', { name: 'hook', service: 'generic', url: receiver.url, body });
    const alert = await send('/api/v2/alerts', {
      name: 'late',
      source: 'condition',
      condition: 'service_backup_late_minutes',
      threshold: 30,
      thresholdType: 'above',
      interval: '5m',
      channel: { type: 'webhook', webhookId: webhook.id },
    });
    const evaluate = async (): Promise<Json> => {
      // The first pass only learns when the next evaluation is due.
      await server.evaluateAlerts();
      server.now += 5 * MINUTE_MS;
      await server.evaluateAlerts();
      const { json } = await server.call({ path: `/api/v2/alerts/${alert.id}`, token: acme.writer });
      return json.data;
    };
    expect(await evaluate()).toMatchObject({ state: 'OK' });
    server.now += DAY_MS + 40 * MINUTE_MS;
    expect(await evaluate()).toMatchObject({ state: 'ALERT' });
    expect(receiver.received.at(-1)?.body).toContain(id);
    await server.settleBackups();
    expect(await list(id)).toMatchObject([{ status: 'done' }]);
    expect(await evaluate()).toMatchObject({ state: 'OK' });
  });
});
