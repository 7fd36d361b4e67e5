import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme, globex } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStore } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

onEachStore('backups of an embedded service', (store) => {
  const server = useClockedServer(store, { settings: { endpointPorts: '0', rateLimit: 'off' }, isShared: true });
  const services = useServices({ call: (call) => server.call(call) });
  const { send } = services;

  const list = async (id: string): Promise<Json[]> => (await send('GET', `/${id}/backups`)).json.result;

  async function backUp(id: string): Promise<Json> {
    const { status, json } = await send('POST', `/${id}/backups`);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json.result).toMatchObject({ status: 'in_progress', serviceId: id });
    await server.settleBackups();
    return (await send('GET', `/${id}/backups/${json.result.id}`)).json.result;
  }

  /** A change of the service makes the reconciler look at it. */
  const touch = (id: string) =>
    send('PATCH', `/${id}`, { tags: { add: [{ key: 'touched', value: String(server.now) }] } });

  const letIdle = async (id: string) => {
    await services.untilState(id, 'running');
    await server.settleBackups();
    server.now += 16 * MINUTE_MS;
    await touch(id);
    return services.untilState(id, 'idle');
  };

  const getFolder = (backup: Json) => join(server.directory, 'data/backups', backup.serviceId, backup.id);

  it('are made, restored into a new service, and verified', async () => {
    const { id, query } = await services.create();
    expect(await list(id)).toEqual([]);
    await query('CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t SELECT number, toString(number) FROM numbers(1000)');
    await query('CREATE DATABASE `odd name`');
    await query('CREATE TABLE `odd name`.`a.b` (n UInt64) ENGINE = Log');
    await query('INSERT INTO `odd name`.`a.b` VALUES (7)');
    await query(
      'CREATE MATERIALIZED VIEW sums ENGINE = SummingMergeTree ORDER BY k AS SELECT n % 3 AS k, count() AS c FROM t GROUP BY k',
    );
    await query('INSERT INTO t SELECT number, toString(number) FROM numbers(9)');
    await query('CREATE FUNCTION plus_one AS (x) -> x + 1');
    const full = await backUp(id);
    expect(full).toMatchObject({
      status: 'done',
      type: 'full',
      serviceId: id,
      sizeInBytes: expect.any(Number),
      durationInSeconds: expect.any(Number),
      backupName: expect.stringContaining('real'),
    });
    const manifest = JSON.parse(readFileSync(join(getFolder(full), 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({ id: full.id, bytes: full.sizeInBytes });
    expect(readdirSync(join(server.directory, 'data/services', id, 'data/backups'))).toEqual([]);

    server.now += HOUR_MS;
    await query('INSERT INTO t SELECT number + 1000, toString(number) FROM numbers(10)');
    const added = await backUp(id);
    expect(added).toMatchObject({ status: 'done', type: 'incremental' });
    expect(added.sizeInBytes).toBeLessThan(full.sizeInBytes);
    await query('INSERT INTO t SELECT number + 5000, toString(number) FROM numbers(10)');
    const again = await backUp(id);
    expect(again).toMatchObject({ status: 'done', type: 'incremental' });
    expect((await list(id)).map((backup) => backup.id)).toEqual([again.id, added.id, full.id]);

    const sums = 'SELECT count(), sum(cityHash64(n, s)) FROM t';
    const expected = (await query(`${sums} WHERE n < 5000`)).text;
    const restored = await services.create({ name: 'restored', backupId: added.id, driver: undefined });
    expect(await services.read(restored.id)).toMatchObject({ driver: 'embedded', state: 'running' });
    expect((await restored.query(sums)).text).toBe(expected);
    expect((await restored.query('SELECT n FROM `odd name`.`a.b`')).text).toBe('7');
    expect((await restored.query('SELECT plus_one(1)')).text).toBe('2');
    expect((await restored.query('SELECT sum(c) FROM sums')).text).toBe('19');
    expect(readdirSync(join(server.directory, 'data/services', restored.id, 'data'))).not.toContain('backups');
    const activities = (await services.listActivities(restored.id)).map(({ activityType }) => activityType);
    expect(activities).toContain('service_restore_backup');

    // ClickHouse has read the files of the backup itself: changes of the new service do not reach them.
    expect((await restored.query('INSERT INTO `odd name`.`a.b` VALUES (8)')).status).toBe(200);
    expect((await restored.query("ALTER TABLE t UPDATE s = '' WHERE 1 SETTINGS mutations_sync = 1")).status).toBe(200);
    const verification = await send('POST', `/${id}/backups/${added.id}/verification`);
    expect(verification.json.result.verification).toEqual({ status: 'in_progress' });
    await server.settleBackups();
    const { verification: verified } = (await send('GET', `/${id}/backups/${added.id}`)).json.result;
    expect(verified).toEqual({
      status: 'done',
      verifiedAt: expect.any(String),
      tables: 3,
      rows: 1000 + 9 + 10 + 1 + Number((await query('SELECT 3 + 3')).text),
    });
    expect(readdirSync(join(server.directory, 'data/verifications'))).toEqual([]);
  });

  it('that are damaged are not called restored', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t SELECT number FROM numbers(1000)');
    const backup = await backUp(id);
    const file = join(getFolder(backup), 'files/data/default/t/all_1_1_0/data.bin');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.with(bytes.length - 1, ((bytes.at(-1) ?? 0) + 1) % 256));
    await send('POST', `/${id}/backups/${backup.id}/verification`);
    await server.settleBackups();
    const { verification } = (await send('GET', `/${id}/backups/${backup.id}`)).json.result;
    expect(verification).toMatchObject({
      status: 'error',
      error: expect.stringContaining('differs from its checksum'),
    });
    const wanted = { name: 'broken', provider: 'aws', region: 'eu-central-1', backupId: backup.id };
    const { service } = (await send('POST', '', wanted)).json.result;
    const record = await until(
      () => services.read(service.id),
      ({ state }) => state === 'degraded',
      'the service is not degraded',
    );
    expect(record.status.reason).toMatch(/^The backup .* could not be restored: .* differs from its checksum$/);
    expect((await services.command(service.id, 'stop')).status).toBe(200);
    await services.untilState(service.id, 'stopped');
  });

  it('follow the schedule; an idle service is woken only if something changed', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t VALUES (1)');
    await send('PATCH', `/${id}/backupConfiguration`, { backupPeriodInHours: 6, backupRetentionPeriodInHours: 12 });
    await server.settleBackups();
    expect(await list(id)).toEqual([]);
    await letIdle(id);
    server.now += 6 * HOUR_MS;
    await server.settleBackups();
    const [first] = await list(id);
    expect(first).toMatchObject({ status: 'done', type: 'full' });
    expect(await services.readIdle(id)).toMatchObject({ state: 'running', lastWake: { cause: 'backup' } });
    // The backup is no use of the service: it idles long before its timeout.
    await services.untilState(id, 'running');
    server.now += MINUTE_MS;
    await touch(id);
    await services.untilState(id, 'idle');

    for (let round = 0; round < 4; round++) {
      server.now += 6 * HOUR_MS;
      await server.settleBackups();
    }
    // Nothing changed: the backup is current, and is kept although its retention has passed.
    expect(await list(id)).toEqual([{ ...first, unchangedAt: expect.any(String) }]);
    expect(await services.readIdle(id)).toMatchObject({ state: 'idle' });

    await query('INSERT INTO t VALUES (2)');
    await letIdle(id);
    server.now += 6 * HOUR_MS;
    await server.settleBackups();
    expect((await list(id)).map(({ type }) => type)).toEqual(['incremental', 'full']);
    await services.untilState(id, 'running');
    server.now += MINUTE_MS;
    await touch(id);
    await services.untilState(id, 'idle');
    server.now += 13 * HOUR_MS;
    await server.settleBackups();
    expect((await list(id)).length).toBeGreaterThanOrEqual(2);
    // A full one starts a new chain after a week; then the old chain is deleted as a whole.
    await query('INSERT INTO t VALUES (3)');
    server.now += 8 * 24 * HOUR_MS;
    await server.settleBackups();
    expect((await list(id))[0]).toMatchObject({ type: 'full', status: 'done' });
    await server.settleBackups();
    const left = await list(id);
    expect(left).toHaveLength(1);
    expect(existsSync(getFolder(first ?? {}))).toBe(false);
    expect(readdirSync(join(server.directory, 'data/backups', id))).toEqual([left[0]?.id]);
  });

  it('of a deleted service stay for the retention, and can be restored', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t VALUES (42)');
    const backup = await backUp(id);
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    expect((await send('POST', `/${id}/backups`)).json).toMatchObject({ error: expect.stringContaining('stopped') });
    expect((await send('DELETE', `/${id}`)).status).toBe(200);
    await server.settleBackups();
    const [kept] = await list(id);
    expect(kept).toMatchObject({ id: backup.id, expireAt: expect.any(String) });
    const restored = await services.create({ name: 'again', backupId: backup.id });
    expect((await restored.query('SELECT n FROM t')).text).toBe('42');
    server.now += 25 * HOUR_MS;
    await server.settleBackups();
    await server.settleBackups();
    expect((await send('GET', `/${id}/backups`)).status).toBe(404);
    expect(existsSync(getFolder(backup))).toBe(false);
    const path = `/v1/organizations/${acme.id}/activities?type=backup_delete&resource_id=${backup.id}`;
    expect((await server.call({ path, key: acme.admin })).json.result).toHaveLength(1);
  });

  it('that fail say why', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await query('INSERT INTO t VALUES (1)');
    writeFileSync(join(server.directory, 'data/backups', id), 'in the way');
    expect(await backUp(id)).toMatchObject({ status: 'error', error: expect.stringMatching(/EEXIST|ENOTDIR/) });
    expect(readdirSync(join(server.directory, 'data/services', id, 'data/backups'))).toEqual([]);
  });

  it('are charged by their size', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (s String) ENGINE = MergeTree ORDER BY tuple()');
    await query('INSERT INTO t SELECT randomString(1000) FROM numbers(50000)');
    const { sizeInBytes } = await backUp(id);
    expect(sizeInBytes).toBeGreaterThan(50_000_000);
    const { dataWarehouseId } = await services.read(id);
    const from = new Date(server.now).toISOString().slice(0, 10);
    const hours = 10;
    server.now += hours * HOUR_MS;
    await server.flushUsage();
    const to = new Date(server.now).toISOString().slice(0, 10);
    const path = `/v1/organizations/${acme.id}/usageCost?from_date=${from}&to_date=${to}`;
    const { costs } = (await server.call({ path, key: acme.admin })).json.result;
    const charged = costs
      .filter(({ entityId }: Json) => entityId === dataWarehouseId)
      .reduce((sum: number, { metrics }: Json) => sum + (metrics.backupCHC ?? 0), 0);
    // 25.30 for a terabyte and a month of 732 hours.
    const expected = (25.3 * sizeInBytes * hours) / (1e12 * 732);
    expect(charged / expected).toBeGreaterThan(0.8);
    expect(charged / expected).toBeLessThan(1.2);
  });

  it('are visible to their organization only', async () => {
    const { id } = await services.create();
    const backup = await backUp(id);
    const path = (organization: string) => `/v1/organizations/${organization}/services/${id}/backups`;
    for (const below of ['', `/${backup.id}`]) {
      const { status } = await server.call({ path: `${path(globex.id)}${below}`, key: globex.admin });
      expect(status).toBe(404);
    }
    const wanted = { name: 'theirs', provider: 'aws', region: 'eu-central-1', backupId: backup.id };
    const { status, json } = await server.call({
      method: 'POST',
      path: `/v1/organizations/${globex.id}/services`,
      key: globex.admin,
      body: wanted,
    });
    expect(status).toBe(400);
    expect(json.error).toContain('The organization has no such backup');
  });
});
