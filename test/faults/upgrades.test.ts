import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import {
  insertRows,
  listMigrations,
  listTables,
  readRows,
  type StoreValue,
} from '../../src/platform/state/contents.ts';
import { applyMigrations } from '../../src/platform/state/migrate.ts';
import { openState } from '../../src/platform/state/open.ts';
import { openRawStore, type StoreAddress } from '../../src/platform/state/raw-access.ts';
import { cli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { isLongRun } from '../support/long-run.ts';
import { listOldRows, old } from '../support/old-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { onEachStore, serveInProcess } from '../support/server.ts';

vi.setConfig({ testTimeout: 300_000 });

type Contents = Map<string, Record<string, StoreValue>[]>;

/** Creates the store of an earlier version, with rows in every table. */
async function createOldStore(address: StoreAddress, count: number): Promise<void> {
  const migrations = listMigrations().slice(0, count);
  const rows = listOldRows(migrations.at(-1)?.version ?? 0);
  const store = await openRawStore(address, { mayCreate: true });
  try {
    await store.write(async (tx) => {
      await applyMigrations(tx, migrations, systemClock);
      for (const { name, columns } of await listTables(tx, store.kind)) {
        const list = rows[name];
        // Migrations insert rows into some tables.
        if (list === undefined) continue;
        const known = columns.filter((column) => list[0] && column in list[0]);
        await insertRows(
          tx,
          { name, columns: known },
          list.map((row) => known.map((column) => row[column] ?? null)),
        );
      }
    });
  } finally {
    await store.close();
  }
}

async function readContents(address: StoreAddress): Promise<Contents> {
  const store = await openRawStore(address, {});
  try {
    return await store.read(async (tx) => {
      const contents: Contents = new Map();
      for (const table of await listTables(tx, store.kind)) {
        const rows: Record<string, StoreValue>[] = [];
        for await (const row of readRows(tx, store.kind, table))
          rows.push(Object.fromEntries(table.columns.map((column, index) => [column, row[index] ?? null])));
        contents.set(table.name, rows);
      }
      return contents;
    });
  } finally {
    await store.close();
  }
}

/** The version of the migration that replaced a member of the document of services. */
const LIFECYCLE = 13;

const versions = listMigrations().map(({ name }, index) => [name, index + 1] as const);

onEachStore('an upgrade', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let address: StoreAddress;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-upgrade-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
    address = { dataDirectory: join(directory, 'data'), databaseUrl: database?.url };
  });
  afterEach(async () => {
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(versions)('from %s keeps all rows', async (name, count) => {
    await createOldStore(address, count);
    const before = await readContents(address);
    const empty = [...before].flatMap(([table, rows]) => (rows.length === 0 ? [table] : []));
    expect(empty, 'tables without rows; add them to test/support/old-rows.ts').toEqual([]);
    await (await openState({ ...address, clock: systemClock })).close();
    const after = await readContents(address);
    for (const [table, rows] of before) {
      const isRewritten = table === 'services' && Number.parseInt(name, 10) < LIFECYCLE;
      const expected = rows.map(({ document, ...row }) => (isRewritten ? row : { document, ...row }));
      expect(after.get(table), table).toHaveLength(rows.length);
      expect(after.get(table), table).toEqual(
        expect.arrayContaining(expected.map((row) => expect.objectContaining(dropUndefined(row)))),
      );
    }
    // The first schema goes through every migration; a server for each one takes a minute more.
    if (isLongRun || count === 1) await checkServer();
  });

  const dropUndefined = (row: object): object =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

  /** Every response is also compared with the OpenAPI document. */
  async function checkServer(): Promise<void> {
    const { dataDirectory, databaseUrl } = address;
    const args = ['--data', dataDirectory, ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
    const flags = ['--port', '0', '--telemetry', 'off', '--rate-limit', 'off', '--endpoint-ports', '0'];
    // An engine that cannot be reached, because starting one takes longer than everything else.
    flags.push('--clickhouse-url', 'http://127.0.0.1:1');
    const running = await serveInProcess(['serve', ...flags, ...args]);
    try {
      const call = createClient(() => running);
      const get = async (path: string, credentials: object = { key: old.admin }) => {
        const { status, json, text } = await call({ path, ...credentials });
        expect(status, `${path}: ${text}`).toBe(200);
        return json.result ?? json.data;
      };
      const organization = `/v1/organizations/${old.id}`;
      expect(await get(organization)).toMatchObject({ name: 'Old' });
      expect(await get(`${organization}/services`)).toMatchObject([
        { id: old.service, name: 'Analytics', state: 'idle' },
      ]);
      expect(await get(`${organization}/services?search=analytics`)).toHaveLength(1);
      expect(await get(`${organization}/keys`)).toMatchObject([{ name: 'Old admin', roles: ['admin'] }]);
      expect(await get(`${organization}/activities?type=key_create`)).toHaveLength(1);
      const costs = await get(`${organization}/usageCost?from_date=${old.day}&to_date=${old.day}`);
      expect(costs.costs).toMatchObject([{ entityId: old.service, metrics: { computeCHC: 2 }, locked: true }]);
      await get(`${organization}/roles`);
      await get(`${organization}/budgets`);
      const token = { token: old.token };
      expect(await get(`/api/v2/dashboards/${old.dashboard}`, token)).toMatchObject({ name: 'Old board' });
      expect(await get(`/api/v2/dashboards/${old.dashboard}/versions`, token)).toMatchObject([
        { version: 1, tiles: 1 },
      ]);
      expect(await get('/api/v2/sources', token)).toContainEqual(
        expect.objectContaining({ id: old.source, kind: 'log' }),
      );
      const created = await call({
        method: 'POST',
        path: `${organization}/keys`,
        key: old.admin,
        body: { name: 'new' },
      });
      expect(created.status, created.text).toBe(200);
      const verified = await cli(['audit', 'verify', ...args]);
      expect(verified.code, verified.stderr).toBe(0);
    } finally {
      expect(await running.stop()).toBe(0);
    }
  }
});
