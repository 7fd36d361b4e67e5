import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { getServerStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { onEachStoreInLongRuns, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/sql.ts';
import { until } from '../support/until.ts';

// Starts servers and engines again and again.
vi.setConfig({ testTimeout: 600_000 });

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const [FIRST, SECOND] = [daysAgo(3), daysAgo(2)];
const organization = `/v1/organizations/${acme.id}`;

const createEvents = (day: string, prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `${prefix} ${index}`,
    source: 'mismatch',
    time: `${day}T10:00:00Z`,
    entityType: 'service',
    entityId: acme.primary,
    meter: 'compute',
    quantity: 60,
  }));

/** The cost of so many events, in CHC. */
const cost = (events: number): number => calculateCostMicros('compute', String(events * 60), '0.2985') / 1e6;

onEachStoreInLongRuns('an engine without the usage events of its store', (store) => {
  let server: TestServer;
  const engineDirectory = () => join(server.directory, 'data', 'engine');
  const command = (...args: string[]) => getServerStore(server).run(...args);

  /** In `npm test` in the test process: a process for every server and command takes several times as long. */
  const start = async ({ inProcess = !isLongRun } = {}) => {
    server = await startServer(store, { inProcess });
  };
  afterEach(async () => server.remove());

  const send = (events: object[]) =>
    server.call({ method: 'POST', path: `${organization}/usageEvents`, key: acme.admin, body: events });

  async function readCosts(): Promise<Record<string, number>> {
    const path = `${organization}/usageCost?from_date=${FIRST}&to_date=${SECOND}`;
    const { json } = await server.call({ path, key: acme.admin });
    return Object.fromEntries(
      json.result.costs
        .filter(({ entityId }: { entityId: string }) => entityId === acme.primary)
        .map(({ date, metrics }: { date: string; metrics: { computeCHC: number } }) => [date, metrics.computeCHC]),
    );
  }

  /** Sends events and rates them with the server stopped. */
  async function meter(events: object[]): Promise<void> {
    expect((await send(events)).json.result).toMatchObject({ accepted: events.length });
    await server.stop();
    const { code, stderr } = await command('usage', 'rate');
    expect(code, stderr).toBe(0);
  }

  const untilWarned = (text: string) =>
    until(
      () => server.call({ path: '/readyz' }),
      ({ status, json }) => status === 200 && json.warnings?.[0]?.message.includes(text),
      '/readyz does not report the mismatch',
    );

  async function expectReported(text: string, days: number): Promise<void> {
    const { json } = await untilWarned(text);
    expect(json).toMatchObject({
      status: 'ready',
      warnings: [{ code: 'engine_mismatch', remedy: expect.stringContaining('pilothouse usage adopt-engine') }],
    });
    const metric = new RegExp(`^pilothouse_usage_mismatched_days ${days}$`, 'm');
    await until(
      async () => (await fetch(`${server.url}/metrics`)).text(),
      (metrics) => metric.test(metrics),
      `the metric does not become ${days}`,
    );
    const listed = await server.call({ path: `${organization}/usageWarnings`, key: acme.admin });
    expect(listed.json.result).toMatchObject([{ code: 'engine_mismatch', message: expect.stringContaining(text) }]);
    if (!server.inProcess) await expectLogged(text);
  }

  async function expectLogged(text: string): Promise<void> {
    const lines = await until(
      async () =>
        server
          .log()
          .split('\n')
          .filter((line) => line.includes('"code":"engine_mismatch"')),
      ({ length }) => length > 0,
      'the log does not report the mismatch',
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(text);
  }

  /** The server must be stopped. */
  async function expectCommandsFail(): Promise<void> {
    const check = await command('usage', 'recompute', '--check');
    expect(check.code).toBe(1);
    expect(check.stderr).toMatch(/days? could not be compared .*adopt-engine/);
    const lock = await command('usage', 'lock', '--org', acme.id, '--through', SECOND);
    expect(lock.code).toBe(1);
    expect(lock.stderr).toContain('cannot be locked');
  }

  async function expectDoctorFails(port: string): Promise<void> {
    const { code, stdout } = await command('doctor', '--port', port);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}usage .*\n +remedy .*adopt-engine/m);
  }

  async function adopt(missing: number): Promise<void> {
    const adopted = await command('usage', 'adopt-engine', '--json');
    expect(adopted.code, adopted.stderr).toBe(0);
    expect(JSON.parse(adopted.stdout)).toMatchObject({ entries: 0 });
    expect(JSON.parse(adopted.stdout).missing).toHaveLength(missing);
  }

  it('an older one leaves the affected days as they are and rates the others', async () => {
    await start();
    await meter(createEvents(FIRST, 'a', 3));
    const copy = join(server.directory, 'older');
    cpSync(engineDirectory(), copy, { recursive: true });
    await server.restart();
    await meter(createEvents(SECOND, 'b', 2));
    rmSync(engineDirectory(), { recursive: true });
    renameSync(copy, engineDirectory());
    const lock = await command('usage', 'lock', '--org', acme.id, '--through', SECOND);
    expect(lock.code).toBe(1);
    expect(lock.stderr).toContain('cannot be locked');

    await server.restart();
    await expectReported('fewer usage events', 1);
    expect(await readCosts()).toEqual({ [FIRST]: cost(3), [SECOND]: cost(2) });
    expect((await send(createEvents(FIRST, 'more', 1))).json.result).toMatchObject({ accepted: 1 });
    await server.stop();
    expect((await command('usage', 'rate')).code).toBe(0);
    await server.restart();
    expect(await readCosts()).toEqual({ [FIRST]: cost(4), [SECOND]: cost(2) });
    // Lost events that are sent again count once more in the engine, and complete the day.
    expect((await send(createEvents(SECOND, 'b', 2))).json.result).toMatchObject({ accepted: 2 });
    await server.stop();
    await adopt(0);
    await server.restart();
    expect(await readCosts()).toEqual({ [FIRST]: cost(4), [SECOND]: cost(2) });
  });

  it('an empty one leaves the ledger as it is, rejects usage, reports it, and can be adopted', async () => {
    await start();
    await meter([...createEvents(FIRST, 'a', 3), ...createEvents(SECOND, 'b', 2)]);
    await server.restart();
    const before = await readCosts();
    expect(before).toEqual({ [FIRST]: cost(3), [SECOND]: cost(2) });
    await server.stop();
    rmSync(engineDirectory(), { recursive: true });
    await expectCommandsFail();
    await expectDoctorFails('0');

    await server.restart();
    await expectReported('none of the usage events', 2);
    await expectDoctorFails(new URL(server.url).port);
    expect(await readCosts()).toEqual(before);
    const rejected = await send(createEvents(FIRST, 'a', 3));
    expect(rejected.status).toBe(503);
    expect(rejected.json.error).toContain('pilothouse usage adopt-engine');
    expect(await readCosts()).toEqual(before);
    await server.stop();

    const planned = await command('usage', 'adopt-engine', '--dry-run', '--json');
    expect(JSON.parse(planned.stdout).missing, planned.stderr).toHaveLength(2);
    await adopt(2);
    const check = await command('usage', 'recompute', '--check');
    expect(check.code, check.stderr).toBe(0);
    await server.restart();
    expect(await readCosts()).toEqual(before);
    await meter(createEvents(SECOND, 'new', 4));
    await server.restart();
    expect(await readCosts()).toEqual({ [FIRST]: cost(3), [SECOND]: cost(6) });
    expect((await server.call({ path: '/readyz' })).json).toEqual({ status: 'ready' });
    const activities = await server.call({ path: `${organization}/activities`, key: acme.admin });
    expect(activities.json.result).toContainEqual(expect.objectContaining({ activityType: 'usage_engine_adopt' }));
  });

  if (isLongRun)
    it('a different one leaves the ledger as it is; the right one continues without a command', async () => {
      await start();
      const other = await startServer('libsql');
      try {
        const call = { method: 'POST', path: `${organization}/usageEvents`, key: acme.admin };
        const events = createEvents(FIRST, 'elsewhere', 7);
        expect((await other.call({ ...call, body: events })).json.result).toMatchObject({ accepted: 7 });
        await other.stop();
        await meter(createEvents(FIRST, 'a', 3));
        renameSync(engineDirectory(), join(server.directory, 'right'));
        renameSync(join(other.directory, 'data', 'engine'), engineDirectory());
      } finally {
        await other.remove();
      }
      await server.restart();
      await expectReported('in another engine', 1);
      expect(await readCosts()).toEqual({ [FIRST]: cost(3) });
      expect((await send(createEvents(FIRST, 'a', 3))).status).toBe(503);
      await server.stop();

      rmSync(engineDirectory(), { recursive: true });
      renameSync(join(server.directory, 'right'), engineDirectory());
      await server.restart();
      await until(
        () => server.call({ path: '/readyz' }),
        ({ json }) => json.status === 'ready' && json.warnings === undefined,
        'the mismatch is still reported',
      );
      expect((await send(createEvents(FIRST, 'a', 3))).json.result).toMatchObject({ accepted: 0, duplicates: 3 });
      expect(await readCosts()).toEqual({ [FIRST]: cost(3) });
    });

  it.runIf(isLongRun)('is recognized by a store from before engines had an identity', async () => {
    await start({ inProcess: false });
    await meter(createEvents(FIRST, 'a', 3));
    await runSql(server, 'UPDATE usage_days SET events = NULL');
    await runSql(server, 'DELETE FROM usage_engines');
    rmSync(engineDirectory(), { recursive: true });
    await server.restart();
    await untilWarned('none of the usage events');
    await expectLogged('none of the usage events');
    expect(await readCosts()).toEqual({ [FIRST]: cost(3) });
    await server.stop();
    await adopt(1);
    await server.restart();
    expect(await readCosts()).toEqual({ [FIRST]: cost(3) });
  });

  it('is not the problem if the store is older: the days that it does not know are rated', async () => {
    await start();
    await meter([...createEvents(FIRST, 'a', 3), ...createEvents(SECOND, 'b', 2)]);
    // As in a copy of the store from before the second day.
    await runSql(server, `DELETE FROM usage_days WHERE date = '${SECOND}'`);
    await runSql(server, `DELETE FROM usage_ledger WHERE date = '${SECOND}'`);
    await runSql(server, `DELETE FROM usage_costs WHERE date = '${SECOND}'`);
    await server.restart();
    const costs = await until(readCosts, (found) => SECOND in found, 'the unknown day is not rated');
    expect(costs).toEqual({ [FIRST]: cost(3), [SECOND]: cost(2) });
    expect((await send(createEvents(SECOND, 'b', 2))).json.result).toMatchObject({ accepted: 0, duplicates: 2 });
  });

  it('does not matter before the first usage', async () => {
    await start();
    expect((await send([])).status).toBe(200);
    await server.stop();
    const check = await command('usage', 'recompute', '--check');
    expect(check.code).toBe(1);
    expect(check.stderr).toContain('Nothing was compared: there is no metered usage');
    rmSync(engineDirectory(), { recursive: true, force: true });
    await server.restart();
    expect((await send(createEvents(FIRST, 'a', 1))).json.result).toMatchObject({ accepted: 1 });
  });
});
