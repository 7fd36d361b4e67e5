import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cli, cliProcess, getServerStore, listErrors } from '../support/cli.ts';
import { createDashboard, tile, write } from '../support/dashboards.ts';
import { readEverything } from '../support/everything.ts';
import { acme, globex, initech } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { invite, join as joinOrganization } from '../support/members.ts';
import { createTarget, serveQuietly, type Target } from '../support/restored.ts';
import { type StoreName, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const owners = [acme, globex, initech];
const organization = `/v1/organizations/${acme.id}`;
const time = new Date(Date.now() - DAY_MS).toISOString();

const event = (id: string) => ({
  id,
  source: 'move',
  time,
  entityType: 'service',
  entityId: acme.primary,
  meter: 'compute',
  quantity: 90,
});

const readTotal = async (server: Pick<TestServer, 'call'>): Promise<number> => {
  const [from, to] = [time, new Date().toISOString()].map((text) => text.slice(0, 10));
  const { json } = await server.call({
    path: `${organization}/usageCost?from_date=${from}&to_date=${to}`,
    key: acme.admin,
  });
  return json.result.grandTotalCHC;
};

const send = (server: Pick<TestServer, 'call'>, ...ids: string[]) =>
  server.call({ method: 'POST', path: `${organization}/usageEvents`, key: acme.admin, body: ids.map(event) });

const BOTH: readonly StoreName[] = ['libsql', 'postgres'];
const OTHER: Record<StoreName, StoreName> = { libsql: 'postgres', postgres: 'libsql' };

describe.skipIf(inject('postgresUrl') === '').each(isLongRun ? BOTH : BOTH.slice(0, 1))('move from %s', (store) => {
  let server: TestServer;
  let target: Target;

  beforeAll(async () => {
    server = await startServer(store);
    target = await createTarget(OTHER[store]);
  }, 300_000);
  afterAll(async () => {
    await server?.remove();
    await target?.remove();
  });

  it('copies everything to an empty store, which then works with the same engine', { timeout: 600_000 }, async () => {
    const { data } = await createDashboard(server, { name: 'first', tiles: [tile({ id: 'x' })] });
    await write(server, 'PUT', `/${data.id}`, { name: 'second' });
    const budget = { name: 'Team', monthlyCHC: 1234.5 };
    await server.call({ method: 'POST', path: `${organization}/budgets`, key: acme.admin, body: budget });
    await joinOrganization(server, acme, 'ada@acme.example');
    await invite(server, acme, 'invited@acme.example');
    const query = { name: 'ones', sql: 'SELECT 1', database: 'default' };
    const queries = `${organization}/services/${acme.primary}/saved-queries`;
    await server.call({ method: 'POST', path: queries, key: acme.admin, body: query });
    const search = { name: 'errors', sourceId: 'logs', where: 'error' };
    await server.call({ method: 'POST', path: '/api/v2/saved-searches', token: acme.writer, body: search });
    const token = acme.writer;
    const hook = { name: 'hook', service: 'generic', url: 'https://example.com/hook' };
    const { data: webhook } = (await server.call({ method: 'POST', path: '/api/v2/webhooks', token, body: hook })).json;
    // Is not evaluated during the test.
    const scheduleStartAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const alert = { interval: '1d', threshold: 1, thresholdType: 'above', scheduleStartAt };
    const channel = { type: 'webhook', webhookId: webhook.id };
    const body = { ...alert, source: 'condition', condition: 'budget_percent', channel };
    await server.call({ method: 'POST', path: '/api/v2/alerts', token, body });
    const before = await readTotal(server);
    expect((await send(server, 'a', 'b')).json.result.accepted).toBe(2);
    // It rates usage when it starts.
    await server.stop();
    await server.restart(['--telemetry', 'off']);
    const total = await until(
      () => readTotal(server),
      (value) => value > before,
      'the usage is not rated',
    );
    const original = await readEverything(server, owners);
    const { run, args } = getServerStore(server);
    // The embedded engine stays in the data directory, so a libSQL store moves to that directory.
    const to = target.databaseUrl ?? join(server.directory, 'data');

    const running = await run('move', '--to', to);
    expect(running.code).toBe(1);
    expect(listErrors(running)[0]).toMatch(/stop the server first|stop every server/);

    await server.stop();
    const moved = await run('move', '--to', to, '--json');
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    const { tables, command } = JSON.parse(moved.stdout);
    expect(tables.find(({ name }: { name: string }) => name === 'dashboard_versions').rows).toBeGreaterThan(2);
    const again = await run('move', '--to', to);
    expect([again.code, listErrors(again)]).toEqual([
      1,
      ['The new store is not empty; move to an empty database or directory'],
    ]);

    const [program, verb, ...flags] = command.split(' ');
    expect([program, verb]).toEqual(['pilothouse', 'serve']);
    // A libSQL file that a process has replaced cannot be opened by another connection of the test process.
    const inProcess = store === 'libsql';
    const copy = await serveQuietly(flags, { inProcess });
    try {
      expect(await readEverything(copy, owners)).toEqual(original);
      expect((await send(copy, 'a', 'b', 'c')).json.result).toMatchObject({ accepted: 1, duplicates: 2 });
      const more = await until(
        () => readTotal(copy),
        (value) => value > total,
        'the new usage is not rated',
      );
      expect(more - total).toBeCloseTo((total - before) / 2, 6);
    } finally {
      await copy.stop();
    }
    const runCommand = inProcess ? cli : cliProcess;
    const audit = await runCommand(['audit', 'verify', ...flags]);
    expect([audit.code, audit.stderr]).toEqual([0, '']);
    const check = await runCommand(['usage', 'recompute', '--check', '--json', ...flags]);
    expect(JSON.parse(check.stdout)).toMatchObject({ waiting: 0, differences: [] });
    // The old store is as it was.
    expect((await run('export')).code).toBe(0);
    expect(args.length).toBeGreaterThan(0);
  });
});

describe('move', () => {
  it('rejects addresses that cannot work', async () => {
    const target = await createTarget('libsql');
    try {
      await target.apply({ organizations: [{ name: 'Acme' }] });
      for (const to of ['mysql://host/db', 'state.db', 'file:']) {
        const { code, stderr } = await cli(['move', '--to', to, ...target.args]);
        expect([code, stderr]).toEqual([
          2,
          'error: --to must look like postgres://user:password@host:5432/database, or be a directory\n',
        ]);
      }
      const same = await target.run('move', '--to', join(target.directory, 'data'));
      expect([same.code, listErrors(same)]).toEqual([1, [expect.stringMatching(/already$/)]]);
      const file = join(target.directory, 'to');
      writeFileSync(file, `file:${join(target.directory, 'other dir')}\n`);
      const copied = await target.run('move', '--to-file', file);
      expect(copied.code, copied.stderr).toBe(0);
      expect(copied.stdout).toContain(`pilothouse serve --data '${join(target.directory, 'other dir')}'`);
      expect(listErrors(await cli(['move', ...target.args]))).toEqual(['--to or --to-file is required']);
      const missing = await cli(['move', '--to', 'x', '--data', join(target.directory, 'none')]);
      expect([missing.code, listErrors(missing)]).toEqual([1, [expect.stringMatching(/^There is no store/)]]);
    } finally {
      await target.remove();
    }
  });
});
