import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { parseFleetFile } from '../../src/operations/fleet/file.ts';
import { BACKGROUND_JOBS, SERVICE_JOBS } from '../../src/server/background-jobs.ts';
import { type Server, startServer } from '../../src/server/server.ts';
import { loadConfig } from '../../src/server/settings/config.ts';
import { type ClickHouseServer, getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import { createClient, type Json } from '../support/client.ts';
import { closeIdleConnections } from '../support/connections.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createIngestToken, sendLogs } from '../support/otlp-json.ts';
import { createDatabase, MIGRATED } from '../support/postgres.ts';
import { useReceiver } from '../support/receiver.ts';
import { createTestClock, createWrongClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

// Starts a ClickHouse server, and two servers of ours for each case.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const ACTOR = { type: 'system' as const, id: 'test', details: 'test' };
const HOOKED = 'c7f0c1ad-5b0d-4f2b-9a57-2e1c9a2b6f10';
const organization = `/v1/organizations/${acme.id}`;

type Job = (typeof BACKGROUND_JOBS)[number] | (typeof SERVICE_JOBS)[number];

/** On libSQL, all processes have one clock: it is that of the store. */
describe.skipIf(inject('postgresUrl') === '')('two nodes with wrong clocks', () => {
  const START = '2026-11-17T10:00:30Z';
  const clock = createTestClock(START);
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-clocks-'));
  const receiver = useReceiver();
  const desired: { memoryGb: number; state: string }[] = [];
  /** Runs the service `HOOKED`, whatever is desired. */
  const runner = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (request.method === 'POST') desired.push(JSON.parse(body).desired);
    const { generation = 1, memoryGb = 16 } = request.method === 'POST' ? JSON.parse(body).desired : last();
    response.end(JSON.stringify({ generation, state: 'running', replicas: 2, memoryGb }));
  });
  const last = () => (desired.at(-1) ?? {}) as { generation?: number; memoryGb?: number };
  let engine: ClickHouseServer;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let sql: pg.Client;
  let node: Server | undefined;

  beforeAll(async () => {
    engine = await startClickHouseServer(join(directory, 'engine'));
    await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', resolve));
    database = await createDatabase(inject('postgresUrl'), { template: MIGRATED });
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
  });
  afterAll(async () => {
    await stop();
    await sql.end();
    await database.drop();
    await engine.close();
    runner.closeAllConnections();
    runner.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The next leader: the one before it has stopped. */
  async function lead(aheadMs: number): Promise<void> {
    await stop();
    const flags = {
      port: '0',
      dataDirectory: join(directory, 'data'),
      databaseUrl: database.url,
      clickhouseUrl: getWriterUrl(engine),
      rateLimit: 'off',
      endpointPorts: '0',
      webhookAllowPrivate: 'yes',
      auditRetentionDays: '30',
    };
    const loaded = loadConfig({ flags, environment: {}, readFile: () => '' });
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
    node = await startServer({
      config: loaded.config,
      clock: createWrongClock(clock, aheadMs),
      storeClock: clock,
      log: pino({ level: 'silent' }),
      access() {},
      consoleDirectory: join(directory, 'no-console'),
      async prepare({ fleet: fleets }) {
        const url = `http://127.0.0.1:${(runner.address() as AddressInfo).port}/`;
        const service = {
          id: HOOKED,
          name: 'hooked',
          driver: 'webhook',
          webhook: { url, secret: 'a-secret-of-16-or-more' },
          numReplicas: 2,
          minReplicaMemoryGb: 16,
          maxReplicaMemoryGb: 16,
          idleScaling: false,
        };
        const lastMonth = {
          date: '2026-10-05',
          entityType: 'service',
          entityId: acme.primary,
          metrics: { computeCHC: 500 },
        };
        const [first, ...others] = fleet.organizations;
        const changed = {
          ...first,
          services: [...(first?.services ?? []), service],
          usageCosts: [{ ...lastMonth, dataWarehouseId: acme.warehouse, entityName: 'analytics' }],
        };
        await fleets.apply(parseFleetFile(JSON.stringify({ organizations: [changed, ...others] })), ACTOR);
      },
    });
    await until(
      async () => node?.domains.evaluator.isEvaluating() && node.reconciliation.isRunning(HOOKED),
      Boolean,
      'the node does not lead',
    );
  }
  async function stop(): Promise<void> {
    if (node) closeIdleConnections();
    await node?.close();
    node = undefined;
  }
  const running = (): Server => node ?? expect.fail('no node runs');
  const client = createClient(running);
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const isManagement = path.startsWith('/v1');
    const response = await client({
      method,
      path,
      ...(isManagement ? { key: acme.admin } : { token: acme.writer }),
      ...(body && { body }),
    });
    expect(response.status, response.text).toBe(200);
    return isManagement ? response.json.result : response.json.data;
  };

  /** Every job runs now. */
  async function runJobs(): Promise<void> {
    const { domains, reconciliation } = running();
    await reconciliation.flushUsage();
    await reconciliation.settleBackups();
    await reconciliation.settleSizes();
    await domains.telemetryMetering.flush();
    await domains.rater.run();
    await domains.budgets.check();
    await domains.retention.run();
    await domains.evaluator.trigger();
    await domains.notifications.trigger();
  }

  let token = '';
  /** Rows that fire the alert, in the window that has begun: whichever node evaluates it later finds them. */
  async function fill(): Promise<void> {
    const logs = Array.from({ length: 3 }, () => ({ body: 'an error', at: clock.now() - 10 * SECOND }));
    await sendLogs({ url: running().url, call: client }, token, 'api', logs);
  }
  /** The window ends. */
  async function pass(): Promise<void> {
    clock.add(MINUTE);
    await runJobs();
  }

  /** What the store has: by table, the texts of its rows. */
  async function readStore(): Promise<Map<string, string[]>> {
    const { rows: tables } = await sql.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
    );
    const found = new Map<string, string[]>();
    // A schema has times of its own; a fleet document is what a person wrote.
    for (const { tablename } of tables)
      if (!['schema_migrations', 'fleet_documents', 'rate_windows'].includes(tablename))
        found.set(
          tablename,
          (await sql.query(`SELECT to_jsonb(t)::text AS row FROM "${tablename}" t`)).rows.map(({ row }) => row),
        );
    return found;
  }

  /** Times in a row, whatever column or document they are in: epoch milliseconds, date-times, days and months. */
  const findTimes = (row: string): number[] => [
    ...[...row.matchAll(/(?<![\d.a-f-])1[5-9]\d{11}(?![\d.])/g)].map(([text]) => Number(text)),
    ...[...row.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)].map(([text]) => Date.parse(text)),
    ...[...row.matchAll(/"(2\d{3}-\d\d-\d\d)(?=\\?")/g)].map(([, day = '']) => Date.parse(day) + DAY / 2),
  ];

  it('leave nothing in the store that is not of its time, send nothing twice, and charge no jump', async () => {
    await lead(0);
    ({ token } = await createIngestToken({ url: running().url, call: client }, acme));
    const hook = await call('POST', '/api/v2/webhooks', {
      name: 'hook',
      service: 'generic',
      url: receiver.url,
      body: JSON.stringify({ title: '{{title}}', eventId: '{{eventId}}' }),
    });
    const search = await call('POST', '/api/v2/saved-searches', { name: 'Errors', sourceId: 'logs', where: 'error' });
    const alert = await call('POST', '/api/v2/alerts', {
      savedSearchId: search.id,
      channel: { type: 'webhook', webhookId: hook.id },
      interval: '1m',
      threshold: 3,
      thresholdType: 'above',
    });
    await call('POST', `${organization}/budgets`, { name: 'Team', monthlyCHC: 100, webhook: { url: receiver.url } });
    const toHour = (ms: number) => new Date(clock.now() + ms).getUTCHours();
    await call('POST', `${organization}/services/${HOOKED}/scalingSchedule`, {
      entries: [
        {
          name: 'later',
          weekdays: [0, 1, 2, 3, 4, 5, 6],
          startHourUtc: toHour(3 * HOUR),
          endHourUtc: toHour(4 * HOUR),
          autoscalingMode: 'vertical',
          minReplicaMemoryGb: 32,
          maxReplicaMemoryGb: 32,
        },
      ],
    });
    const usage = { id: 'one', source: 'agent', entityType: 'service', entityId: acme.primary, meter: 'compute' };
    const send = (id: string) =>
      call('POST', `${organization}/usageEvents`, [
        { ...usage, id, time: new Date(clock.now() - HOUR).toISOString(), quantity: 1 },
      ] as never);
    await send('one');
    await fill();
    await pass();

    const before = await readStore();
    const [startedAt, resizes] = [clock.now(), desired.length];
    for (const aheadMs of [3 * HOUR, -3 * HOUR, 40 * DAY, -40 * DAY, 3 * HOUR, 0]) {
      await lead(aheadMs);
      await send(`event ${aheadMs} ${clock.now()}`);
      await fill();
      await pass();
      await fill();
      // Another process leads for a moment, while this one is suspended.
      await sql.query(`UPDATE leases SET holder = 'another process', host = 'elsewhere', token = token + 1`);
      clock.add(11 * SECOND);
      clock.add(MINUTE - 11 * SECOND);
      await until(
        async () => running().domains.evaluator.isEvaluating() && running().reconciliation.isRunning(HOOKED),
        Boolean,
        'the node does not lead again',
      );
      await runJobs();
    }
    const elapsedMs = clock.now() - startedAt;
    const after = await readStore();
    const evaluations: Json[] = await call('GET', `/api/v2/alerts/${alert.id}/evaluations?limit=100`);
    const messages = receiver.received.map(({ body }) => JSON.parse(body));
    const added = (table: string) => (after.get(table) ?? []).filter((row) => !before.get(table)?.includes(row));
    const removed = (table: string) => (before.get(table) ?? []).filter((row) => !after.get(table)?.includes(row));
    const cases: Record<Job, () => void | Promise<void>> = {
      alerts() {
        const ends = evaluations.map(({ windowEnd }) => Date.parse(windowEnd)).sort((a, b) => a - b);
        expect(ends.at(-1)).toBeLessThanOrEqual(clock.now());
        for (const [index, end] of ends.entries()) if (index > 0) expect(end - (ends[index - 1] ?? 0)).toBe(MINUTE);
        // The last minute has just ended.
        expect(ends.length).toBeGreaterThanOrEqual(elapsedMs / MINUTE - 1);
        expect(evaluations.some(({ skipped }) => skipped > 0)).toBe(false);
      },
      notifications: () =>
        expect(messages.filter(({ title }) => title).map(({ title }) => title.split(':')[0])).toEqual(['Firing']),
      // The spending of the month before is beyond the budget.
      budgets: () => expect(messages.filter(({ type }) => type === 'budget_threshold')).toEqual([]),
      rating: () => expect(added('usage_days').every((row) => JSON.parse(row).locked === 0)).toBe(true),
      retention: () => expect(removed('activities')).toEqual([]),
      'kept responses': () => expect(removed('idempotent_responses')).toEqual([]),
      // No call was refused; what a job stores for an hour that has not ended is found below.
      'counted activities': () =>
        expect(added('activities').filter((row) => row.includes('calls_refused'))).toEqual([]),
      'telemetry usage': () => expect(added('usage_days').length).toBeGreaterThan(0),
      // They run on: no node changes one because it takes over.
      services: () => expect(added('services')).toEqual([]),
      reconciliation: () =>
        expect(desired.slice(resizes).filter(({ memoryGb, state }) => memoryGb !== 16 || state !== 'running')).toEqual(
          [],
        ),
      async usage() {
        const rows = await running().domains.engine.query({
          sql: `SELECT toFloat64(sum(Quantity)) FROM pilothouse.usage_events FINAL WHERE EntityId = {id:String} AND Meter = 'compute' AND Source = 'pilothouse'`,
          parameters: { id: HOOKED },
        });
        // Twice 16 GB are four units.
        const minutes = Number(rows[0]?.[0]) / 4;
        expect(minutes).toBeGreaterThan(0);
        expect(minutes).toBeLessThanOrEqual((clock.now() - Date.parse(START)) / MINUTE + 0.001);
      },
      load: () => expect(added('service_load').length).toBeGreaterThan(0),
      // Nothing is decided without load; its tests run with a wrong clock.
      autoscaling: () => expect(added('autoscaling_decisions')).toEqual([]),
      // Made by no driver of this test; its tests run with a wrong clock.
      backups: () => expect(added('service_backups')).toEqual([]),
    };
    expect(Object.keys(cases).sort()).toEqual([...BACKGROUND_JOBS, ...SERVICE_JOBS].sort());
    const failures: string[] = [];
    for (const [job, check] of Object.entries(cases))
      await Promise.resolve()
        .then(check)
        .catch((error: Error) => failures.push(`${job}: ${error.message}`));
    // Whatever a job stores is of the time of the store: no hour before the first node, and no hour after now.
    const wrong = [...after.keys()].flatMap((table) =>
      added(table)
        .filter((row) =>
          findTimes(row).some((time) => {
            const isKnown = (before.get(table) ?? []).some((old) => findTimes(old).includes(time));
            return !isKnown && (time < Date.parse(START) - 2 * HOUR || time > clock.now() + 2 * HOUR);
          }),
        )
        .map((row) => `${table}: ${row.slice(0, 300)}`),
    );
    expect([...failures, ...wrong]).toEqual([]);
    // Now it ends: one message says so.
    await pass();
    await pass();
    const titles = receiver.received.map(({ body }) => JSON.parse(body).title).filter(Boolean);
    expect(titles.map((title: string) => title.split(':')[0])).toEqual(['Firing', 'Resolved']);
  });
});
