import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { decodeBackup } from '../support/backup-file.ts';
import { getServerStore, listErrors } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { createDashboard, tile, write } from '../support/dashboards.ts';
import { readEverything } from '../support/everything.ts';
import { acme, fleet, globex, initech } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { invite, join as joinOrganization } from '../support/members.ts';
import { spawnProgram } from '../support/process.ts';
import { listChildren } from '../support/processes.ts';
import { createTarget, serveQuietly, type Target } from '../support/restored.ts';
import { onEachStore, type StoreName, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const getOtherStore = (store: StoreName): StoreName =>
  store === 'libsql' && inject('postgresUrl') !== '' ? 'postgres' : 'libsql';
const DAY_MS = 86_400_000;
const organization = `/v1/organizations/${acme.id}`;
const owners = [acme, globex, initech];

const day = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);

const createEvents = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `${name} ${index} \t "quoted" \\ ü`,
    source: 'backup',
    time: `${day(1 + (index % 3))}T10:00:00.${String(index % 1000).padStart(3, '0')}Z`,
    entityType: 'service',
    entityId: index % 2 ? acme.primary : acme.secondary,
    meter: 'compute',
    quantity: `${index}.000001`,
  }));

/** Changes something of every kind, so that every table has rows. */
async function makeHistory(server: TestServer): Promise<void> {
  const call = async (method: string, path: string, body: object, token?: string): Promise<Json> => {
    const response = await server.call({ method, path, body, ...(token ? { token } : { key: acme.admin }) });
    expect(response.status, response.text).toBe(200);
    return response.json;
  };
  for (const numReplicas of [4, 5])
    await call('PATCH', `${organization}/services/${acme.primary}/scaling`, { numReplicas });
  await call('POST', `${organization}/keys`, { name: 'Büro "1" \\', roles: ['developer'] });
  await call('POST', `${organization}/budgets`, { name: 'Team', monthlyCHC: 1234.5 });
  await joinOrganization(server, acme, 'ada@acme.example');
  await invite(server, acme, 'invited@acme.example');
  await call(
    'POST',
    '/api/v2/sources',
    { name: 'own', kind: 'log', from: { databaseName: 'pilothouse', tableName: 'otel_logs' } },
    acme.writer,
  );
  const query = { name: 'ones', sql: 'SELECT {a:UInt8}', database: 'default', parameters: { a: '1' } };
  await call('POST', `${organization}/services/${acme.primary}/saved-queries`, query);
  await call('POST', '/api/v2/annotations', { title: 'deploy', tags: ['web'] }, acme.writer);
  await call('POST', `/api/v2/dashboards/${acme.dashboard}/links`, { expireInHours: 1 }, acme.writer);
  await call('POST', '/api/v2/saved-searches', { name: 'errors', sourceId: 'logs', where: 'error' }, acme.writer);
  const hook = { name: 'hook', service: 'generic', url: 'https://example.com/hook' };
  const webhook = await call('POST', '/api/v2/webhooks', hook, acme.writer);
  // Is not evaluated during the test.
  const alert = { interval: '1d', threshold: 1, thresholdType: 'above', scheduleStartAt: `${day(-30)}T00:00:00Z` };
  const watched = {
    source: 'condition',
    condition: 'budget_percent',
    channel: { type: 'webhook', webhookId: webhook.data.id },
  };
  await call('POST', '/api/v2/alerts', { ...alert, ...watched }, acme.writer);
  const { data } = await createDashboard(server, { name: 'first', tiles: [tile({ id: 'x' })] });
  await write(server, 'PUT', `/${data.id}`, { name: 'second', tiles: [tile({ id: 'x' }), tile({ id: 'y', y: 4 })] });
  await call('POST', `${organization}/usageEvents`, createEvents('quiet', 300));
}

const readCosts = async (server: Pick<TestServer, 'call'>): Promise<Json> =>
  (await server.call({ path: `${organization}/usageCost?from_date=${day(3)}&to_date=${day(0)}`, key: acme.admin })).json
    .result;

const untilRated = (server: TestServer) =>
  until(
    () => readCosts(server),
    ({ costs }) => new Set(costs.map(({ date }: Json) => date)).size === 3,
    'the usage is not rated',
  );

/** A running server advances this clock. */
const withoutClock = (tables: Map<string, string[]>) =>
  new Map([...tables].filter(([name]) => name !== 'state lock_clocks'));

onEachStore('backup and restore', (store) => {
  let server: TestServer;
  let directory = '';
  let file = '';
  let original: Record<string, unknown> = {};
  let originalTables = new Map<string, string[]>();
  /** For what depends on the file or the engine, not on the store: on libSQL, and in long runs on both. */
  const testFile = (name: string, test: () => Promise<void>) => {
    if (isLongRun || store === 'libsql') it(name, test);
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-backup-'));
    file = join(directory, 'all.backup');
    // A process of its own is killed by a test below; otherwise commands run in a fraction of the time in this one.
    server = await startServer(store, { inProcess: store === 'postgres' && !isLongRun });
    await makeHistory(server);
    // A server that writes no telemetry of its own, so that nothing changes between the backup and the comparison. It rates usage when it starts.
    await server.stop();
    await server.restart(['--telemetry', 'off']);
    await untilRated(server);
    original = await readEverything(server, owners);
    const { code, stdout, stderr } = await getServerStore(server).run('backup', file, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ file, bytes: statSync(file).size });
    originalTables = decodeBackup(file);
  }, 600_000);

  afterAll(async () => {
    await server?.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  it('writes one file for its owner only, with every table except sessions, and without secrets', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['all.backup']);
    const empty = [...originalTables].flatMap(([name, rows]) => (rows.length === 0 ? [name] : []));
    expect(originalTables.get('engine usage_events')).toHaveLength(300);
    expect(originalTables.get('engine pilothouse_logs')?.length).toBeGreaterThan(0);
    for (const name of [
      'activities',
      'api_keys',
      'key_roles',
      'usage_ledger',
      'usage_days',
      'dashboard_versions',
      'budgets',
      'fleet_documents',
    ])
      expect(empty).not.toContain(`state ${name}`);
    expect([...originalTables.keys()]).not.toContain('state console_sessions');
    const text = [...originalTables.values()].flat().join('\n');
    for (const secret of [acme.admin.keySecret, acme.token, acme.writer]) expect(text).not.toContain(secret);
  });

  testFile('replaces an existing file only with --force', async () => {
    const before = statSync(file).mtimeMs;
    const rejected = await getServerStore(server).run('backup', file);
    expect([rejected.code, listErrors(rejected)]).toEqual([
      1,
      [`${file} exists; choose another name, or replace it with --force`],
    ]);
    expect(statSync(file).mtimeMs).toBe(before);
    const replaced = join(directory, 'replaced.backup');
    for (const flags of [[], ['--force']]) {
      const { code, stderr } = await getServerStore(server).run('backup', replaced, ...flags);
      expect([code, stderr]).toEqual([0, '']);
    }
    expect(withoutClock(decodeBackup(replaced))).toEqual(withoutClock(originalTables));
    rmSync(replaced);
  });

  it('restore is rejected while the server runs, and changes nothing', async () => {
    const rejected = await getServerStore(server).run('restore', file, '--force');
    expect(rejected.code).toBe(1);
    expect(listErrors(rejected)[0]).toMatch(
      store === 'libsql' ? /Another process uses the store/ : /open connections to the database/,
    );
    expect(await readEverything(server, owners)).toEqual(original);
  });

  async function expectOriginalTables(target: Target): Promise<void> {
    const path = join(target.directory, 'copy.backup');
    const { code, stderr } = await target.run('backup', path);
    expect([code, stderr]).toEqual([0, '']);
    const tables = decodeBackup(path);
    expect([...tables.keys()]).toEqual([...originalTables.keys()]);
    for (const [name, rows] of originalTables) {
      // A restore marks the days that have events to be rated again, which changes their revisions.
      if (name === 'state usage_days') expect(tables.get(name)).toHaveLength(rows.length);
      else expect(tables.get(name), name).toEqual(rows);
    }
  }

  it('restored to the same kind of store, every table has the same rows', async () => {
    const target = await createTarget(store, { inProcess: store === 'postgres' });
    try {
      const { code, stderr } = await target.run('restore', file);
      expect([code, stderr]).toEqual([0, '']);
      await expectOriginalTables(target);
    } finally {
      await target.remove();
    }
  });

  if (isLongRun || store === 'libsql')
    it('restored to the other kind of store, a server returns the same for every GET operation', async () => {
      // A libSQL file is replaced, which another connection of the test process would not notice.
      const inProcess = getOtherStore(store) === 'postgres';
      const target = await createTarget(getOtherStore(store), { inProcess });
      try {
        const restored = await target.run('restore', file, '--json');
        expect([restored.code, restored.stderr]).toEqual([0, '']);
        const copy = await serveQuietly(target.args, { inProcess });
        try {
          await until(
            () => readCosts(copy),
            (costs) => costs.costs.length > 0,
            'no costs',
          );
          expect(await readEverything(copy, owners)).toEqual(original);
          // The ids of the events were restored too: none of them counts twice.
          const repeated = await copy.call({
            method: 'POST',
            path: `${organization}/usageEvents`,
            key: acme.admin,
            body: createEvents('quiet', 300),
          });
          expect(repeated.json.result).toMatchObject({ accepted: 0, duplicates: 300 });
        } finally {
          await copy.stop();
        }
        for (const command of [
          ['usage', 'rate'],
          ['usage', 'recompute', '--check', '--json'],
          ['audit', 'verify'],
          ['restore', file, '--force'],
        ]) {
          const { code, stdout, stderr } = await target.run(...command);
          expect([code, stderr], command.join(' ')).toEqual([0, '']);
          if (command.includes('--check')) expect(JSON.parse(stdout)).toMatchObject({ waiting: 0, differences: [] });
        }
        // The second restore replaced what the server had changed.
        await expectOriginalTables(target);
      } finally {
        await target.remove();
      }
    });

  testFile('backs up after kill -9, although the endpoint file of the engine is a leftover', async () => {
    await server.stop('SIGKILL');
    const left = join(server.directory, 'data/engine/endpoint.json');
    expect(existsSync(left)).toBe(true);
    const path = join(directory, 'killed.backup');
    const { code, stderr } = await until(
      // The engine of the killed server needs a moment to release its directory.
      () => getServerStore(server).run('backup', path),
      (finished) => finished.code === 0,
      'the backup fails',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(decodeBackup(path).get('engine usage_events')).toEqual(originalTables.get('engine usage_events'));
    await server.restart(['--telemetry', 'off']);
  });
});

describe('interrupted backups', () => {
  it('SIGINT ends a backup at once and leaves no file, even while the engine hangs', { timeout: 300_000 }, async () => {
    const server = await startServer('libsql', { fleet });
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-backup-'));
    const engine = await until(
      async () => {
        await server.call({
          method: 'POST',
          path: `${organization}/usageEvents`,
          key: acme.admin,
          body: createEvents('one', 5),
        });
        return listChildren(server.pid)[0];
      },
      (pid) => pid !== undefined,
      'the engine does not start',
    );
    try {
      // Slow down the engine until a backup is in progress.
      const backup = spawnProgram(['backup', join(directory, 'file'), ...getServerStore(server).args]);
      await until(
        async () => readdirSync(directory),
        (names) => names.length > 0,
        'the backup does not start',
      );
      process.kill(engine as number, 'SIGSTOP');
      backup.kill('SIGINT');
      const code = await backup.ended;
      const names = readdirSync(directory);
      // It may have been complete before the engine was stopped.
      expect([code, names]).toEqual(code === 0 ? [0, ['file']] : [1, []]);
      if (code !== 0) expect(backup.stderr()).toContain('interrupted');
    } finally {
      process.kill(engine as number, 'SIGCONT');
      await server.remove();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('names what is wrong: no store, a missing file, a directory', async () => {
    const target = await createTarget('libsql', { inProcess: true });
    try {
      const missing = await target.run('backup', join(target.directory, 'x'));
      expect([missing.code, listErrors(missing)]).toEqual([
        1,
        [expect.stringMatching(/^There is no store in .*check --data\. pilothouse serve, .* create one$/)],
      ]);
      for (const path of [join(target.directory, 'none'), target.directory]) {
        const finished = await target.run('restore', path);
        expect([finished.code, listErrors(finished)]).toEqual([
          2,
          [expect.stringMatching(/cannot be read|is not a backup/)],
        ]);
      }
      expect(existsSync(join(target.directory, 'data'))).toBe(false);
    } finally {
      await target.remove();
    }
  });
});
