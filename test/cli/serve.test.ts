import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { cli, listErrors } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { runInProcess } from '../support/in-process.ts';
import { createDatabase, findFreePort } from '../support/postgres.ts';
import { run, serveInProcess } from '../support/server.ts';

// Each test starts several processes.
vi.setConfig({ testTimeout: 180_000 });

type Running = Awaited<ReturnType<typeof run>>;

let directory: string;
let data: string;
let fleetFile: string;
const running: Running[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  data = join(directory, 'data');
  fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function serve(
  args: string[],
  environment: Record<string, string> = {},
  start: typeof run = serveInProcess,
): Promise<Running> {
  const started = await start(['serve', ...args], environment);
  running.push(started);
  return started;
}

/** A start that fails, in the test process. */
const failToServe = (args: string[], environment: Record<string, string> = {}) =>
  runInProcess(['serve', ...args], environment).finished;

const authorization = `Basic ${btoa(`${acme.admin.keyId}:${acme.admin.keySecret}`)}`;
const organization = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/organizations/${acme.id}`, { headers: { authorization, ...headers } });

/** A database with an intact header and unreadable pages. */
function damageDatabase(path: string): void {
  const database = new Database(path);
  database.exec('CREATE TABLE t (id INTEGER)');
  database.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 100);
  writeFileSync(path, bytes);
}

describe('serve', () => {
  it('--port 0 picks a free port; the ready line is the first on standard output, and SIGTERM exits with 0', async () => {
    const server = await serve(['--port', '0', '--data', data, '--fleet', fleetFile], {}, run);
    expect(server).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/),
      dashboardUrl: server.url,
    });
    expect((await organization(server.url)).status).toBe(200);
    expect((await fetch(`${server.dashboardUrl}/api/v2/dashboards`)).status).toBe(401);
    expect(await server.stop('SIGTERM')).toBe(0);
  });

  it.each(['--base-path', 'PILOTHOUSE_BASE_PATH'])('%s is part of both URLs in the ready line', async (how) => {
    const args = ['--port', '0', '--dashboard-port', '0', '--data', data, '--fleet', fleetFile];
    const server = how.startsWith('--')
      ? await serve([...args, how, '/tools/x/'])
      : await serve(args, { [how]: '/tools/x' });
    for (const address of [server.url, server.dashboardUrl]) expect(new URL(address).pathname).toBe('/tools/x');
    expect((await organization(server.url)).status).toBe(200);
    expect((await organization(new URL(server.url).origin)).status).toBe(404);
    expect((await fetch(`${server.dashboardUrl}/api/v2/dashboards`)).status).toBe(401);
  });

  it('every flag has an environment variable', async () => {
    const [port, dashboardPort] = [await findFreePort(), await findFreePort()];
    const environment = {
      PILOTHOUSE_PORT: String(port),
      PILOTHOUSE_HOST: 'localhost',
      PILOTHOUSE_DASHBOARD_PORT: String(dashboardPort),
      PILOTHOUSE_DATA: data,
      PILOTHOUSE_FLEET: fleetFile,
      PILOTHOUSE_RATE_LIMIT: '7/20s',
      PILOTHOUSE_MAX_KEYS: '1',
      PILOTHOUSE_TRUST_PROXY: '127.0.0.0/8,::1',
      PILOTHOUSE_LOG_LEVEL: 'silent',
    };
    const server = await serve([], environment, run);
    expect([new URL(server.url).port, new URL(server.dashboardUrl).port]).toEqual([
      String(port),
      String(dashboardPort),
    ]);
    expect(existsSync(join(data, 'state.db'))).toBe(true);
    const response = await organization(server.url, { 'x-forwarded-for': '192.0.2.1' });
    expect([response.status, response.headers.get('x-ratelimit-policy')]).toEqual([200, '7;w=20']);
    const created = await fetch(`${server.url}/v1/organizations/${acme.id}/keys`, {
      method: 'POST',
      headers: { authorization },
    });
    expect([created.status, await created.text()]).toEqual([409, expect.stringContaining('limit of 1 key')]);
    await server.stop();
    expect(server.log()).toBe('');
  });

  it('a flag takes precedence over its variable', async () => {
    const server = await serve(
      ['--port', '0', '--data', data, '--fleet', fleetFile, '--rate-limit', 'off', '--host', '127.0.0.1'],
      {
        PILOTHOUSE_PORT: '1',
        PILOTHOUSE_DATA: join(directory, 'other'),
        PILOTHOUSE_FLEET: '/nowhere',
        PILOTHOUSE_RATE_LIMIT: '1/1s',
        PILOTHOUSE_HOST: '192.0.2.1',
      },
    );
    const response = await organization(server.url);
    expect([response.status, response.headers.get('x-ratelimit-policy')]).toEqual([200, null]);
    expect(existsSync(join(directory, 'other'))).toBe(false);
  });

  it('B1: --dashboard-port moves the dashboard API to that port', async () => {
    const server = await serve(['--port', '0', '--dashboard-port', '0', '--data', data, '--fleet', fleetFile]);
    expect(server.dashboardUrl).not.toBe(server.url);
    const headers = { authorization: `Bearer ${acme.token}` };
    expect((await fetch(`${server.dashboardUrl}/api/v2/dashboards`, { headers })).status).toBe(200);
    expect((await fetch(`${server.url}/api/v2/dashboards`, { headers })).status).toBe(404);
    expect((await organization(server.dashboardUrl)).status).toBe(404);
  });

  it('reports all invalid settings at once, before anything is opened', async () => {
    const finished = await failToServe(['--data', data, '--port', 'http', '--max-keys', '0', '--rate-limit', '10'], {
      PILOTHOUSE_LOG_LEVEL: 'loud',
      PILOTHOUSE_DATABSE_URL: 'x',
    });
    expect(finished).toMatchObject({ code: 2, stdout: '' });
    expect(listErrors(finished)).toEqual([
      '--port must be a port number from 0 to 65535, not "http"',
      '--rate-limit must look like 1000/10s, or be off, not "10"',
      '--max-keys must be a whole number from 1 to 1000000, not "0"',
      expect.stringContaining('PILOTHOUSE_LOG_LEVEL must be one of trace'),
      'PILOTHOUSE_DATABSE_URL is not a known setting; did you mean PILOTHOUSE_DATABASE_URL?',
    ]);
    expect(existsSync(data)).toBe(false);
  });

  it('F2: exits with 2 and all violations for an invalid fleet file, before anything is opened', async () => {
    writeFileSync(
      fleetFile,
      JSON.stringify({
        organizations: [
          {
            services: [
              { name: 'a', numReplicas: 0 },
              { name: 'b', size: 1 },
            ],
          },
        ],
      }),
    );
    const finished = await failToServe(['--port', '0', '--data', data, '--fleet', fleetFile]);
    expect(finished).toMatchObject({ code: 2, stdout: '' });
    expect(listErrors(finished).map((line) => line.split(':')[0])).toEqual([
      'organizations[0].name',
      'organizations[0].services[0].numReplicas',
      'organizations[0].services[1].size',
    ]);
    expect(existsSync(data)).toBe(false);
    const absent = await failToServe(['--port', '0', '--data', data, '--fleet', '/nowhere.yaml']);
    expect([absent.code, listErrors(absent)[0]]).toEqual([2, expect.stringContaining('/nowhere.yaml cannot be read')]);
  });

  it('F2: also exits with 2 for a fleet file that violates a rule across resources', async () => {
    writeFileSync(
      fleetFile,
      JSON.stringify({
        organizations: [
          {
            name: 'A',
            services: [
              { name: 'a', numReplicas: 1 },
              { name: 'b', numReplicas: 1 },
            ],
          },
        ],
      }),
    );
    const finished = await failToServe(['--port', '0', '--data', data, '--fleet', fleetFile]);
    expect(finished).toMatchObject({ code: 2, stdout: '' });
    expect(listErrors(finished)).toHaveLength(2);
  });

  it.each([
    ['--port', '--dashboard-port'],
    ['--dashboard-port', '--port'],
  ])('exits with 1 and one line for a %s in use', async (taken, other) => {
    const port = await findFreePort();
    const holder = await new Promise<Server>((resolve) => {
      const server = createServer().listen(port, '127.0.0.1', () => resolve(server));
    });
    try {
      const finished = await failToServe([taken, String(port), other, '0', '--data', data]);
      expect(finished).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: Port ${port} is in use by another program; choose another with ${taken}, or 0 for any free port\n`,
      });
    } finally {
      holder.close();
    }
  });

  const ostype = '/proc/sys/kernel/ostype';
  it.each<readonly [string, RegExp, (path: string) => void]>([
    ['a directory', /EISDIR: .*/, (path) => mkdirSync(path)],
    ['random bytes', /file is not a database/, (path) => writeFileSync(path, randomBytes(20_000))],
    ['a damaged database', /database disk image is malformed|file is not a database/, damageDatabase],
    // Not writable for root either.
    ...(existsSync(ostype)
      ? [['inaccessible', /EACCES: permission denied/, (path: string) => symlinkSync(ostype, path)] as const]
      : []),
  ])('exits with 1 and names the state store if it is %s', async (_, reason, create) => {
    mkdirSync(data);
    const path = join(data, 'state.db');
    create(path);
    for (const finished of [
      await failToServe(['--port', '0', '--data', data]),
      await cli(['org', 'list', '--data', data]),
    ]) {
      const { code, stdout, stderr } = finished;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^error: The state store ${path} cannot be opened: (${reason.source})\\n$`));
    }
  });

  it('exits with 1 for an unreachable database, without printing its password', async () => {
    const url = `postgres://pilothouse:hunter2@127.0.0.1:${await findFreePort()}/none`;
    const { code, stdout, stderr } = await failToServe(['--port', '0'], { PILOTHOUSE_DATABASE_URL: url });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: The state store is not available: the database cannot be reached\n',
    });
  });
});

describe.skipIf(inject('postgresUrl') === '')('serve on PostgreSQL', () => {
  it('reads its URL from the file named by PILOTHOUSE_DATABASE_URL_FILE', async () => {
    const database = await createDatabase(inject('postgresUrl'));
    const file = join(directory, 'url');
    writeFileSync(file, `${database.url}\n`);
    try {
      const server = await serve(['--port', '0', '--data', data, '--fleet', fleetFile], {
        PILOTHOUSE_DATABASE_URL_FILE: file,
      });
      expect((await organization(server.url)).status).toBe(200);
      expect(existsSync(join(data, 'state.db'))).toBe(false);
      await server.stop();
    } finally {
      await database.drop();
    }
  });
});
