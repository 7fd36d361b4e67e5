import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { acme } from '../support/fleet.ts';
import { createIngestToken } from '../support/ingest.ts';
import { isLongRun } from '../support/long-run.ts';
import { toNanos, toRequest } from '../support/otlp-requests.ts';
import { isAlive, listChildren } from '../support/processes.ts';
import { query, useServices } from '../support/running-service.ts';
import { onEachStore, run, START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts and kills processes, and waits until a hanging one is replaced.
vi.setConfig({ testTimeout: 300_000 });

const organization = `/v1/organizations/${acme.id}`;
const WORKERS = ['--workers', '2'];

const readCommand = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};
const listWorkers = (pid: number): number[] =>
  listChildren(pid).filter((child) => /--workers/.test(readCommand(child)));
const listEngines = (pid: number): number[] => listChildren(pid).filter((child) => /listener/.test(readCommand(child)));

interface Answer {
  status: number | undefined;
  text: string;
}

interface Send {
  method?: string;
  body?: unknown;
  key?: typeof acme.admin;
  token?: string;
}

/** A client with one connection, which one worker serves. New connections go to the workers in turn. */
function openConnection(url: () => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = (path: string, { method = 'GET', body, key = acme.admin, token }: Send = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const authorization = token ? `Bearer ${token}` : `Basic ${btoa(`${key.keyId}:${key.keySecret}`)}`;
      const headers = {
        authorization,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const sent = request(`${url()}${path}`, { agent, method, headers }, (response) =>
        resolve(response.setEncoding('utf8')),
      );
      sent.once('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    async send(path: string, options?: Send): Promise<Answer> {
      const response = await open(path, options);
      let text = '';
      for await (const chunk of response) text += chunk;
      return { status: response.statusCode, text };
    },
    /** Returns what has arrived of a response that does not end. */
    async follow(path: string, options: Send): Promise<() => string> {
      const response = await open(path, options);
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', () => {});
      return () => text;
    },
    close: () => agent.destroy(),
  };
}

const readCounter = (metrics: string, series: string): number =>
  Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1] ?? 0,
  );

onEachStore('several worker processes', (store) => {
  /** About the processes; the store makes no difference. */
  const onOneStore = it.runIf(store === 'libsql' || isLongRun);
  let server: TestServer;
  const connections = [0, 1].map(() => openConnection(() => server.url));
  const [first, second] = connections as [ReturnType<typeof openConnection>, ReturnType<typeof openConnection>];
  const sendAll = (path: string, options?: Send) => Promise.all(connections.map(({ send }) => send(path, options)));
  const readMetrics = async () => (await first.send('/metrics')).text;

  beforeAll(async () => {
    server = await startServer(store, {
      inProcess: false,
      args: [...WORKERS, '--log-level', 'warn', '--endpoint-ports', '0'],
    });
    // One after the other, so that each worker gets one connection.
    for (const { send } of connections) expect((await send('/healthz')).status).toBe(200);
  }, START_LIMIT_MS);
  afterAll(async () => {
    for (const { close } of connections) close();
    await server.remove();
  });

  it('share one port, and have one set of metrics', async () => {
    expect(listWorkers(server.pid)).toHaveLength(2);
    const series = 'pilothouse_requests_total{operation="organizationGet",status="200"}';
    const before = readCounter(await readMetrics(), series);
    for (let round = 0; round < 5; round++)
      for (const { status } of await sendAll(organization)) expect(status).toBe(200);
    for (const text of (await sendAll('/metrics')).map((answer) => answer.text)) {
      expect(readCounter(text, series)).toBe(before + 10);
      expect(readCounter(text, 'pilothouse_engine_owner')).toBe(1);
      expect(readCounter(text, 'process_start_time_seconds')).toBeGreaterThan(1e9);
      expect(text.match(/^# TYPE pilothouse_request_seconds histogram$/gm)).toHaveLength(1);
    }
  });

  it('K9: reject a disabled key from the next request on, and see each change at once', async () => {
    const keys = JSON.parse((await first.send(`${organization}/keys`)).text).result;
    const { id } = keys.find(({ name }: { name: string }) => name === 'developer');
    for (const state of ['disabled', 'enabled', 'disabled', 'enabled']) {
      await first.send(`${organization}/keys/${id}`, { method: 'PATCH', body: { state } });
      expect((await second.send(organization, { key: acme.developer })).status).toBe(state === 'enabled' ? 200 : 401);
    }
    for (let numReplicas = 3; numReplicas < 9; numReplicas++) {
      const path = `${organization}/services/${acme.primary}`;
      const [changing, reading] = numReplicas % 2 === 0 ? [first, second] : [second, first];
      expect((await changing.send(`${path}/scaling`, { method: 'PATCH', body: { numReplicas } })).status).toBe(200);
      expect(JSON.parse((await reading.send(path)).text).result.numReplicas).toBe(numReplicas);
    }
  });

  it('use one engine, and count each usage event once', async () => {
    const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    const body = Array.from({ length: 10 }, (_, index) => ({
      id: `worker ${index}`,
      source: 'workers',
      time: `${day}T10:00:00Z`,
      entityType: 'service',
      entityId: acme.primary,
      meter: 'compute',
      quantity: 60,
    }));
    const sent = await sendAll(`${organization}/usageEvents`, { method: 'POST', body });
    const results = sent.map(({ text }) => JSON.parse(text).result);
    expect(results.map(({ accepted }) => accepted).sort()).toEqual([0, 10]);
    expect(results.map(({ duplicates }) => duplicates).sort()).toEqual([0, 10]);
    expect(listEngines(server.pid)).toHaveLength(1);
    expect(listWorkers(server.pid).flatMap(listEngines)).toEqual([]);
    const expected = calculateCostMicros('compute', '600', '0.2985') / 1e6;
    const readCosts = async () =>
      (await sendAll(`${organization}/usageCost?from_date=${day}&to_date=${day}`)).map(
        ({ text }) =>
          JSON.parse(text).result.costs.find(({ entityId }: { entityId: string }) => entityId === acme.primary)?.metrics
            .computeCHC,
      );
    await until(
      readCosts,
      (costs) => costs.every((cost) => cost === expected),
      'the usage is not rated on all workers',
    );
  });

  onOneStore('show a row that one of them accepted in the live tails of all', async () => {
    const token = await createIngestToken(server.url, acme);
    const watching = [0, 1].map(() => openConnection(() => server.url));
    const tails: (() => string)[] = [];
    for (const { send, follow } of watching) {
      await send('/healthz');
      const body = { sourceId: 'logs', select: 'Body' };
      tails.push(await follow('/api/v2/search/tail', { method: 'POST', token: acme.token, body }));
    }
    const record = { timeUnixNano: toNanos(Date.now()), body: { stringValue: 'accepted by one' } };
    const sent = await first.send('/v1/logs', { method: 'POST', token, body: toRequest('logs', [record]) });
    expect(sent.status, sent.text).toBe(200);
    await until(
      async () => tails.map((read) => read()),
      (texts) => texts.every((text) => text.includes('accepted by one')),
      'the row does not arrive',
    );
    for (const { close } of watching) close();
  });

  onOneStore('ask the primary process about services and warnings', async () => {
    for (const { status, text } of await sendAll(`${organization}/services/${acme.primary}/idle`)) {
      expect(status).toBe(200);
      expect(JSON.parse(text).result.blockers.length).toBeGreaterThan(0);
    }
    for (const { text } of await sendAll(`${organization}/usageWarnings`)) expect(JSON.parse(text).result).toEqual([]);
    for (const { text } of await sendAll('/readyz')) expect(JSON.parse(text)).toEqual({ status: 'ready' });
  });

  onOneStore('are replaced when they are killed, while the others serve', async () => {
    const [killed] = listWorkers(server.pid);
    process.kill(killed ?? 0, 'SIGKILL');
    const outcomes = await Promise.all(connections.map(({ send }) => send(organization).catch(() => undefined)));
    expect(outcomes.filter((answer) => answer?.status === 200)).not.toEqual([]);
    await until(
      async () => listWorkers(server.pid),
      (workers) => workers.length === 2 && !workers.includes(killed ?? 0),
      'the worker is not replaced',
    );
    for (const { status } of await sendAll(organization)) expect(status).toBe(200);
    await until(
      async () => server.log().includes('a worker process ended with SIGKILL'),
      (isLogged) => isLogged,
      'the log does not say it',
    );
  });

  onOneStore('are replaced when they hang, and /readyz says so meanwhile', async () => {
    const [stopped] = listWorkers(server.pid);
    if (stopped === undefined) expect.fail('there is no worker');
    process.kill(stopped, 'SIGSTOP');
    // New connections go to the workers in turn: an answer is from one that runs.
    const opened = [0, 1, 2, 3].map(() => openConnection(() => server.url));
    const readReady = () => Promise.any(opened.map(({ send }) => send('/readyz')));
    const message = `The worker process ${stopped} does not respond; it is being replaced`;
    await until(
      async () => {
        // For some seconds, which a slow machine may miss; src/server/workers/probes.test.ts has the order.
        const { status, text } = await readReady();
        if (status !== 200) expect(JSON.parse(text)).toEqual({ status: 'not ready', message });
        return listWorkers(server.pid);
      },
      (workers) => workers.length === 2 && !workers.includes(stopped),
      'the worker is not replaced',
    );
    await until(readReady, ({ status }) => status === 200, 'the server is not ready');
    expect(server.log()).toContain('a worker process did not respond and was ended with SIGKILL');
    for (const { close } of opened) close();
  });

  onOneStore('get the engine again after it was killed', async () => {
    const [engine] = listEngines(server.pid);
    process.kill(engine ?? 0, 'SIGKILL');
    for (const [index, { send }] of connections.entries()) {
      const body = [
        {
          id: `again ${index}`,
          source: 'workers',
          time: new Date().toISOString(),
          entityType: 'service',
          entityId: acme.primary,
          meter: 'compute',
          quantity: 1,
        },
      ];
      await until(
        () => send(`${organization}/usageEvents`, { method: 'POST', body }),
        ({ status }) => status === 200,
        'the engine is not used again',
      );
    }
    expect(listEngines(server.pid)).toHaveLength(1);
  });

  it('run statements by role, cancel them and serve the query endpoint, whichever gets the request', async () => {
    const { id } = await useServices(server).create();
    const service = `${organization}/services/${id}`;
    const runAll = (body: object) => sendAll(`${service}/sql/read`, { method: 'POST', body });
    for (const { status, text } of await runAll({ sql: 'SELECT 1 AS x' }))
      expect([status, text]).toEqual([200, expect.stringMatching(/"row":\[1\][\s\S]*"end"/)]);

    const queryId = newUuid();
    const endless = { sql: 'SELECT max(number) FROM system.numbers_mt', queryId };
    const stopped = first.send(`${service}/sql/read`, { method: 'POST', body: endless });
    await until(
      async () => (await second.send(`${service}/sql/queries/${queryId}`, { method: 'DELETE' })).status,
      (status) => status === 200,
      'the statement cannot be cancelled',
    );
    expect((await stopped).text).toMatch(/"exception":\{"code":394/);

    const [key] = JSON.parse((await first.send(`${organization}/keys`)).text).result.filter(
      ({ name }: { name: string }) => name === 'admin',
    );
    const endpoint = { roles: ['sql_console_read_only'], openApiKeys: [key.id] };
    await first.send(`${service}/serviceQueryEndpoint`, { method: 'POST', body: endpoint });
    const answers = await sendAll(`/service/${id}/run`, { method: 'POST', body: { sql: 'SELECT 1 AS x' } });
    expect(answers).toEqual([0, 1].map(() => ({ status: 200, text: '{"x":1}\n' })));
    // Each statement is recorded once.
    await until(
      async () => JSON.parse((await first.send(`${service}/sql/history`)).text).result.length,
      (count) => count === 5,
      'the history lacks statements',
    );
  });

  // The last one: the address is past its limit afterwards.
  it('B7: count guesses at the API together with those at the endpoint of a service', async () => {
    const { url } = await useServices(server).create();
    const statuses: number[] = [];
    const startedAt = performance.now();
    for (let batch = 0; batch < 8; batch++) {
      const answers = Array.from({ length: 25 }, (_, index) => [
        query(url, `guess-${batch}-${index}`, 'SELECT 1'),
        server.call({ path: '/api/v2/dashboards', token: `guess-${batch}-${index}` }),
      ]);
      for (const { status } of await Promise.all(answers.flat())) statuses.push(status);
    }
    const checked = statuses.filter((status) => status === 401).length;
    // On a machine under load, a minute may end and another one begin.
    const minutes = 1 + Math.floor((performance.now() - startedAt) / 60_000);
    expect(checked).toBeLessThanOrEqual(300 * minutes);
    // Each process leaves at most one share of six unused.
    expect(checked).toBeGreaterThanOrEqual(300 - 3 * 6);
    if (minutes === 1) expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});

describe('worker processes of one server', () => {
  let server: TestServer;
  beforeAll(async () => {
    const args = [...WORKERS, '--log-level', 'warn', '--rate-limit', '100/600s', '--dashboard-port', '0'];
    server = await startServer('libsql', { inProcess: false, args });
  }, START_LIMIT_MS);
  afterAll(() => server.remove());

  it('share the port of the dashboard interface too', async () => {
    expect(server.dashboardUrl).not.toBe(server.url);
    for (let request = 0; request < 2; request++) {
      const response = await fetch(`${server.dashboardUrl}/api/v2/dashboards`, { headers: { connection: 'close' } });
      expect(response.status).toBe(401);
    }
  });

  it('change their log level together', async () => {
    const toggle = (changes: number) => {
      process.kill(server.pid, 'SIGUSR2');
      return until(
        async () => server.log().split('log level changed').length - 1,
        (count) => count === changes,
        'not all processes changed their level',
      );
    };
    // The primary process and both workers, on and off.
    await toggle(3);
    await toggle(6);
  });

  it('keep one rate limit together', async () => {
    const connections = [0, 1].map(() => openConnection(() => server.url));
    for (const { send } of connections) await send('/healthz');
    let allowed = 0;
    for (let request = 0; request < 150; request++)
      for (const { send } of connections)
        if ((await send(organization, { key: acme.developer })).status === 200) allowed++;
    for (const { close } of connections) close();
    expect(allowed).toBeGreaterThanOrEqual(96);
    expect(allowed).toBeLessThanOrEqual(100);
  });

  it('complete their requests when the server stops, and leave no process behind', async () => {
    const processes = [...listWorkers(server.pid), ...listEngines(server.pid)];
    const connections = [0, 1].map(() => openConnection(() => server.url));
    for (const { send } of connections) await send('/healthz');
    const answers = Promise.all(connections.map(({ send }) => send(organization)));
    expect(await server.stop('SIGTERM')).toBe(0);
    for (const { status } of await answers) expect(status).toBe(200);
    for (const { close } of connections) close();
    expect(processes.filter(isAlive)).toEqual([]);
    await server.restart();
  });

  it('end with the primary process if it is killed', async () => {
    const processes = [...listWorkers(server.pid), ...listEngines(server.pid)];
    await server.stop('SIGKILL');
    await until(
      async () => processes.filter(isAlive),
      (alive) => alive.length === 0,
      'processes remain',
    );
    await server.restart();
    expect((await server.call({ path: organization, key: acme.admin })).status).toBe(200);
  });
});

describe('a server with several workers that cannot start', () => {
  it('says why, once', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const failure = await run(['serve', '--port', String(port), '--data', directory, ...WORKERS]).catch(
      (error: Error) => error.message,
    );
    holder.close();
    rmSync(directory, { recursive: true, force: true });
    expect(failure).toContain(`Port ${port} is in use by another program`);
    expect(String(failure).split('is in use').length).toBe(2);
  });
});
