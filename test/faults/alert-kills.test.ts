import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it, vi } from 'vitest';
import { createRandom } from '../../src/operations/demo/telemetry/random.ts';
import type { ApiResponse, Call, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { createIngestToken, sendLogs } from '../support/otlp-json.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { useReceiver } from '../support/receiver.ts';
import { onEachStoreInLongRuns, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';

// Starts processes, and waits for leases and deliveries of processes that were killed.
vi.setConfig({ testTimeout: 600_000 + ROUNDS * 120_000 });

const MINUTE = 60_000;
const SERVICES = ['api', 'web', 'jobs'];
/** 100 with `npm run faults -- --rounds 100`. */
const KILLS = isLongRun ? Math.min(ROUNDS, 100) : 2;
/** A kill may happen while alerts are evaluated, stored or delivered. */
const MAX_RUN_MS = 1500;

type Caller = (call: Call) => Promise<ApiResponse>;

async function post(call: Caller, path: string, body: unknown): Promise<Json> {
  const response = await call({ method: 'POST', path, token: acme.writer, body });
  expect(response.status, response.text).toBe(200);
  return response.json.data;
}

/** Counts the logs of each service, which has some in every minute of the next hours. */
async function createAlert(server: { url: string; call: Caller }, url: string): Promise<string> {
  const { token } = await createIngestToken(server, acme);
  const minute = Math.floor(Date.now() / MINUTE) * MINUTE;
  for (const service of SERVICES) {
    const times = Array.from({ length: 360 }, (_, index) => ({ body: 'x', at: minute + (index - 10) * MINUTE }));
    await sendLogs(server, token, service, times);
  }
  const body = JSON.stringify({ title: '{{title}}' });
  const hook = await post(server.call, '/api/v2/webhooks', { name: 'hook', service: 'generic', url, body });
  const search = await post(server.call, '/api/v2/saved-searches', { name: 'All', sourceId: 'logs' });
  const alert = await post(server.call, '/api/v2/alerts', {
    savedSearchId: search.id,
    groupBy: 'ServiceName',
    channel: { type: 'webhook', webhookId: hook.id },
    interval: '1m',
    threshold: QUIET,
    thresholdType: 'above',
    repeatMinutes: 0,
    evaluationDelaySeconds: 0,
  });
  return alert.id;
}

const [LOUD, QUIET] = [1, 1000];

/** Sets the threshold, and the last window as not evaluated: otherwise each change would take a minute. */
async function change(server: TestServer, id: string, threshold: number): Promise<void> {
  const [row] = await runSql(server, `SELECT document, status FROM alerts WHERE id = '${id}'`);
  const evaluatedUntil = Math.floor(Date.now() / MINUTE - 1) * MINUTE;
  const document = JSON.stringify({ ...JSON.parse(String(row?.document)), threshold });
  const status = JSON.stringify({ ...JSON.parse(String(row?.status)), evaluatedUntil });
  await runSql(
    server,
    `UPDATE alerts SET document = '${document}', status = '${status}', next_evaluation_at = 0 WHERE id = '${id}'`,
  );
}

interface Announced {
  group: string;
  kind: string;
}

/** What the receiver was told, once for each id, in the order of the first attempts. */
function listAnnounced(receiver: ReturnType<typeof useReceiver>): Map<string, Announced> {
  const announced = new Map<string, Announced>();
  for (const { headers, body } of receiver.received) {
    const { title } = JSON.parse(body);
    const [, kind = title, group = ''] = /^(Firing|Resolved): All \(ServiceName:(\w+)\)/.exec(title) ?? [];
    const id = String(headers['webhook-id']);
    expect([undefined, { group, kind }]).toContainEqual(announced.get(id));
    announced.set(id, { group, kind });
  }
  return announced;
}

/** Every change that was stored was announced once for each group, and in the order of the changes. */
async function expectExact(server: TestServer, id: string, receiver: ReturnType<typeof useReceiver>): Promise<number> {
  const listChanges = () =>
    runSql(
      server,
      `SELECT document FROM alert_evaluations WHERE alert_id = '${id}' AND is_change = 1 ORDER BY evaluated_at, window_end`,
    );
  const changes = await listChanges();
  const statuses = changes.map(({ document }) => JSON.parse(String(document)).status);
  expect(statuses).toEqual(statuses.map((_, index) => (index % 2 === 0 ? 'firing' : 'ok')));
  await until(
    async () => listAnnounced(receiver).size,
    (count) => count >= statuses.length * SERVICES.length,
    `${statuses.length} changes are not announced`,
  );
  const announced = [...listAnnounced(receiver).values()];
  for (const service of SERVICES) {
    const kinds = announced.filter(({ group }) => group === service).map(({ kind }) => kind);
    expect(kinds, service).toEqual(statuses.map((status) => (status === 'firing' ? 'Firing' : 'Resolved')));
  }
  return statuses.length;
}

onEachStoreInLongRuns(`kill -9 while alerts are evaluated, seed ${SEED}`, (store) => {
  const receiver = useReceiver();

  it('loses no change, and announces none twice under another id', async () => {
    const random = createRandom(SEED, store);
    const server = await startServer(store, { args: ['--telemetry', 'off', '--webhook-allow-private', 'yes'] });
    try {
      const id = await createAlert(server, receiver.url);
      for (let round = 0; round < KILLS; round++) {
        expect(await server.stop('SIGKILL')).toBe(null);
        await change(server, id, round % 2 === 0 ? LOUD : QUIET);
        await server.restart();
        await delay(random.whole(0, MAX_RUN_MS));
      }
      await server.stop('SIGKILL');
      await change(server, id, LOUD);
      await server.restart();
      await until(
        () => runSql(server, `SELECT status FROM alerts WHERE id = '${id}' AND next_evaluation_at > 0`),
        (rows) => rows.some(({ status }) => JSON.parse(String(status)).status === 'firing'),
        'the alert does not fire',
      );
      expect(await expectExact(server, id, receiver)).toBeGreaterThan(0);
    } finally {
      await server.remove();
    }
  });
});

describe.skipIf(inject('postgresUrl') === '')('two nodes that evaluate alerts', () => {
  const receiver = useReceiver();

  it('announce each change once, also when the one that evaluates is killed', async () => {
    const server = await startServer('postgres', {
      sharedEngine: true,
      inProcess: true,
      args: ['--telemetry', 'off', '--webhook-allow-private', 'yes'],
    });
    const nodes: Program[] = [];
    const start = async () => {
      const store = [
        '--data',
        join(server.directory, `node-${nodes.length}`),
        '--database-url',
        `${server.databaseUrl}`,
      ];
      const node = spawnProgram(['serve', '--port', '0', '--rate-limit', 'off', ...store, ...server.args]);
      nodes.push(node);
      if ((await node.firstLine) === undefined) expect.fail(node.stderr());
    };
    try {
      const id = await createAlert(server, receiver.url);
      await server.stop();
      await Promise.all([start(), start()]);
      let changes = 0;
      const changeState = async () => {
        await change(server, id, changes % 2 === 0 ? LOUD : QUIET);
        changes++;
      };
      const announce = () =>
        until(
          async () => listAnnounced(receiver).size,
          (count) => count >= changes * SERVICES.length,
          `change ${changes} is not announced`,
        );
      for (let round = 0; round < (isLongRun ? 10 : 2); round++) {
        await changeState();
        await announce();
      }
      expect(receiver.received).toHaveLength(changes * SERVICES.length);
      for (let kills = 0; kills < (isLongRun ? Math.min(ROUNDS, 20) : 1); kills++) {
        await changeState();
        const [lease] = await runSql(server, "SELECT pid FROM leases WHERE name = 'alerts'");
        const holder = nodes.find(({ pid }) => pid === Number(lease?.pid)) ?? expect.fail('no node has the lease');
        holder.kill('SIGKILL');
        await holder.ended;
        await start();
        await announce();
      }
      expect(await expectExact(server, id, receiver)).toBe(changes);
    } finally {
      for (const node of nodes) {
        node.kill('SIGKILL');
        await node.ended;
      }
      await server.remove();
    }
  });
});
