import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, type Json } from '../support/cli.ts';
import { type Demo, startDemo } from '../support/demo.ts';
import { runInProcess } from '../support/in-process.ts';
import { OWN_SECRETS_KEY } from '../support/secrets-key.ts';
import { START_LIMIT_MS } from '../support/server.ts';
import { until } from '../support/until.ts';
import { testDemoConsole } from './demo-console.ts';
import { testDemoTelemetry } from './demo-telemetry.ts';

/** The printed curl commands by title. */
function parseCommands(welcome: string): Map<string, string> {
  const joined = welcome.replaceAll(/\\\n\s*/g, '');
  return new Map(
    [...joined.matchAll(/^ {2}(\S.*)\n {4}(curl .*)$/gm)].map(([, title = '', line = '']) => [title, line]),
  );
}

const execute = promisify(execFile);

/** Runs a command in a shell, as a user would. */
async function runText(command: string | undefined): Promise<string> {
  const { stdout } = await execute('sh', ['-c', command?.replace('curl ', 'curl -sS --fail-with-body ') ?? 'exit 64']);
  return stdout.trim();
}

const runCommand = async (command: string | undefined): Promise<Json> => JSON.parse(await runText(command));

/** Uses a port of this machine, unless another program does already. */
const occupyPort = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });

const dayBefore = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);

const SERVICE_FIELDS = [
  'availablePrivateEndpointIds',
  'byocId',
  'createdAt',
  'dataWarehouseId',
  'databaseVersion',
  'encryptionAssumedRoleIdentifier',
  'encryptionKey',
  'encryptionRoleId',
  'endpoints',
  'hasTransparentDataEncryption',
  'iamRole',
  'id',
  'idleScaling',
  'idleTimeoutMinutes',
  'ipAccessList',
  'isPrimary',
  'isReadonly',
  'maxReplicaMemoryGb',
  'maxTotalMemoryGb',
  'minReplicaMemoryGb',
  'minTotalMemoryGb',
  'name',
  'numReplicas',
  'privateEndpointIds',
  'transparentDataEncryptionKeyId',
];

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
const data = join(directory, 'data');
let demo: Demo;
let first: Demo;

afterAll(async () => {
  await demo.stop();
  rmSync(directory, { recursive: true, force: true });
});

describe('demo', () => {
  let commands: Map<string, string>;
  const start = async (args?: string[]) => {
    demo = await startDemo(data, undefined, args);
    commands = parseCommands(demo.welcome);
  };
  /** Reads another path with the admin's credentials. */
  const read = (path: string) => {
    const [, base, credentials] =
      /^(?=.*(http\S+\/organizations\/[^/]+)\/keys)(?=.*(-u \S+))/.exec(commands.get('Create key') ?? '') ?? [];
    return runCommand(`curl ${credentials} '${base}${path}'`);
  };

  /** The costs of 90 complete days, without `locked`. */
  const readPastCosts = async (): Promise<Json[]> => {
    const spans = [0, 30, 60].map(
      (back) => `from_date=${dayBefore(back + 29)}&to_date=${dayBefore(Math.max(1, back))}`,
    );
    const responses = await Promise.all(spans.map((span) => read(`/usageCost?${span}`)));
    return responses.flatMap(({ result }) => result.costs.map(({ locked: _, ...record }: Json) => record));
  };
  let firstCosts: Json[];

  beforeAll(async () => {
    await start();
    first = demo;
    firstCosts = await readPastCosts();
  }, START_LIMIT_MS);

  it('prints the URLs, the credentials, a query and one curl command for each of the five operations', () => {
    expect(demo.welcome).toMatch(
      /Management API +http:\/\/127\.0\.0\.1:\d+\/v1\n +Dashboard API +http:\/\/127\.0\.0\.1:\d+\/api\/v2\n +API reference +http:\/\/127\.0\.0\.1:\d+\/docs\n +OpenTelemetry +http:\/\/127\.0\.0\.1:\d+ +\(token demo-ingest-token, gRPC on port \d+\)\n/,
    );
    expect(demo.welcome).toMatch(
      /Organization +b3a6f9d2-5c41-4e8a-9d27-0f1e2d3c4b5a\n +Admin key +DemoAdminKey00000001 : demo-admin-secret\n/,
    );
    expect(demo.welcome).toMatch(
      /Dashboard token +demo-dashboard-token +\(read-only\)\n +Dashboard token +demo-dashboard-writer +\(read-write\)\n/,
    );
    expect([...commands.keys()]).toEqual([
      'Query a service',
      'Update service scaling',
      'Create key',
      'Get organization usage cost',
      'List dashboards',
      'Get dashboard',
      'Send a log',
    ]);
  });

  it('each curl command works as printed', async () => {
    expect(await runText(commands.get('Query a service'))).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    const scaled = await runCommand(commands.get('Update service scaling'));
    expect(scaled).toMatchObject({
      status: 200,
      result: { minTotalMemoryGb: 48, maxTotalMemoryGb: 96, numReplicas: 3 },
    });
    const created = await runCommand(commands.get('Create key'));
    expect(created).toMatchObject({
      status: 200,
      result: { key: { name: 'ci', roles: ['developer'] }, keySecret: expect.stringMatching(/^phs_/) },
    });
    const cost = await runCommand(commands.get('Get organization usage cost'));
    expect(new Set(cost.result.costs.map(({ date }: Json) => date)).size).toBe(7);
    expect(cost.result.grandTotalCHC).toBeGreaterThan(0);
    const list = await runCommand(commands.get('List dashboards'));
    const one = await runCommand(commands.get('Get dashboard'));
    expect(list.data.map(({ name }: Json) => name)).toEqual([
      'Service health',
      'Pilothouse',
      'Logs explorer',
      'Fleet overview',
    ]);
    expect(list.data.at(-1)).toEqual(one.data);
    const sentAt = Date.now();
    expect(await runCommand(commands.get('Send a log'))).toEqual({});
    const [dashboards = ''] = /http\S+(?=\/api\/v2)/.exec(demo.welcome) ?? [];
    const response = await fetch(`${dashboards}/api/v2/charts/series`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-dashboard-token', 'content-type': 'application/json' },
      body: JSON.stringify({
        startTime: sentAt - 60_000,
        endTime: Date.now() + 60_000,
        series: [{ sourceId: 'logs', aggFn: 'count', where: 'ServiceName:hello', groupBy: ['SeverityText', 'Body'] }],
      }),
    });
    const { data: rows } = (await response.json()) as Json;
    expect(rows).toEqual([expect.objectContaining({ group: ['INFO', 'Hello from curl'], 'series_0.data': 1 })]);
  });

  it('has three services in two warehouses, and every field of the service record on one of them', async () => {
    const { result: services } = await read('/services');
    expect(services.map(({ name }: Json) => name).sort()).toEqual(['analytics', 'analytics-reader', 'sandbox']);
    expect(new Set(services.map(({ dataWarehouseId }: Json) => dataWarehouseId)).size).toBe(2);
    const reader = services.find(({ name }: Json) => name === 'analytics-reader');
    expect(reader).toMatchObject({
      driver: 'simulated',
      status: { reason: expect.stringContaining('no process runs') },
    });
    const { result: record } = await runCommand(commands.get('Update service scaling'));
    expect(Object.keys(record)).toEqual(expect.arrayContaining(SERVICE_FIELDS));
    expect(record.endpoints).toEqual([
      { protocol: 'http', host: '127.0.0.1', port: expect.any(Number), username: 'default' },
      { protocol: 'native', host: '127.0.0.1', port: expect.any(Number), username: 'default' },
    ]);
    expect(record.ipAccessList[0]).toEqual({ source: expect.any(String), description: expect.any(String) });
  });

  it('U5: meters and rates 90 days and locks the older ones', async () => {
    expect(await demo.usage).toMatch(/^demo usage for the last 90 days is ready: \d{6} events/);
    const spans = [0, 30, 60].map((back) => `from_date=${dayBefore(back + 29)}&to_date=${dayBefore(back)}`);
    const responses = await Promise.all(spans.map((span) => read(`/usageCost?${span}`)));
    const costs: Json[] = responses.flatMap(({ result }) => result.costs);
    const days = new Map<string, boolean>(costs.map(({ date, locked }) => [date, locked]));
    expect(days.size).toBe(90);
    expect([1, 14, 15, 89].map((back) => days.get(dayBefore(back)))).toEqual([false, false, true, true]);
  }, 240_000);

  it('shows the same figures before and after its usage is rated', async () => {
    await demo.usage;
    expect(firstCosts.length).toBeGreaterThan(400);
    expect(await readPastCosts()).toEqual(firstCosts);
  }, 240_000);

  it('has a cost spike in the last week, an expiring key and a budget', async () => {
    const perDay = new Map<string, number>();
    for (const { date, totalCHC } of firstCosts) perDay.set(date, (perDay.get(date) ?? 0) + totalCHC);
    const week = [1, 2, 3, 4, 5, 6].map((back) => perDay.get(dayBefore(back)) ?? 0);
    const earlier = [...perDay].filter(([date]) => date < dayBefore(7)).map(([, total]) => total);
    expect(Math.max(...week)).toBeGreaterThan(1.5 * Math.max(...earlier));
    const soon = new Date(Date.now() + 12 * 86_400_000).toISOString();
    const expiring = (await read('/keys')).result.filter(({ expireAt }: Json) => expireAt !== null && expireAt < soon);
    expect(expiring.map(({ name }: Json) => name)).toEqual(['Nightly export']);
    expect((await read('/budgets')).result).toHaveLength(1);
  });

  it('keeps ids, credentials and changes made through the API across a restart, and is never served in public', async () => {
    await runCommand(commands.get('Update service scaling'));
    const before = {
      commands: [...commands.values()],
      keys: (await read('/keys')).result,
      services: (await read('/services')).result,
    };
    // Stopping it earlier would leave the rest of the telemetry to the next start.
    await demo.telemetry;
    expect(await demo.stop()).toBe(0);
    const serve = await cli(['serve', '--port', '0', '--host', '0.0.0.0', '--data', data], OWN_SECRETS_KEY);
    expect([serve.code, serve.stderr]).toEqual([2, expect.stringContaining('contains the demo organization')]);
    // Also without the usual ports for OpenTelemetry data.
    const occupied = await Promise.all([4317, 4318].map(occupyPort));
    await start([]);
    for (const server of occupied) server?.close();
    const missing =
      /^ports 4318 \(OTLP\/HTTP\) and 4317 \(OTLP\/gRPC\) are in use by another program; the demo accepts OpenTelemetry data at http:\/\/127\.0\.0\.1:\d+\/otlp$/m;
    await until(
      async () => demo.messages(),
      (text) => missing.test(text),
      'the demo does not name the ports',
    );
    expect(demo.welcome).toMatch(/OpenTelemetry +http:\/\/127\.0\.0\.1:\d+\/otlp +\(token demo-ingest-token\)\n/);
    expect(await runCommand(commands.get('Send a log'))).toEqual({});
    const withoutPort = (text: string) =>
      text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1').replace('/otlp/v1/', '/v1/');
    expect([...commands.values()].map(withoutPort)).toEqual(before.commands.map(withoutPort));
    const settled = (services: Json[]) => services.map(({ status: _, state: __, ...service }) => service);
    expect(settled((await read('/services')).result)).toEqual(settled(before.services));
    const ids = (keys: Json[]) => keys.map(({ id }) => id);
    expect(ids((await read('/keys')).result)).toEqual(ids(before.keys));
    expect((await runCommand(commands.get('List dashboards'))).data).toHaveLength(4);
  });
});

// Loading the data takes a minute, so these use the same demo.
testDemoConsole(() => demo);

describe('a stopped demo', () => {
  beforeAll(async () => {
    expect(await demo.stop()).toBe(0);
  });
  testDemoTelemetry(data, () => first);
});

describe('demo on a port that was asked for', () => {
  it('does not start without it', async () => {
    const occupied = createServer();
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
    const { port } = occupied.address() as AddressInfo;
    const elsewhere = mkdtempSync(join(tmpdir(), 'pilothouse-demo-'));
    const args = ['demo', '--port', '0', '--otlp-grpc-port', '0', '--otlp-port', String(port), '--data', elsewhere];
    const { code, stderr } = await cli(args);
    occupied.close();
    rmSync(elsewhere, { recursive: true, force: true });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        `Port ${port} is in use by another program; choose another with --otlp-port, or 0 for any free port`,
      ),
    ]);
  });
});

describe('demo on a public address', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
    'rejects --host %s because its credentials are public',
    async (host) => {
      const { code, stderr } = await runInProcess([
        'demo',
        '--port',
        '0',
        '--host',
        host,
        '--data',
        join(tmpdir(), 'pilothouse-never-created'),
      ]).finished;
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `error: --host must be a loopback address, not "${host}": the demo credentials are public\n`,
      });
    },
  );
});
