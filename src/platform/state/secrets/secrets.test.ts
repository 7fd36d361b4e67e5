import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../../test/support/postgres.ts';
import { onEachStore } from '../../../../test/support/server.ts';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openState } from '../open.ts';
import type { State } from '../state.ts';
import { createKeyFile, newKey, readKeyFile, replaceKeyFile } from './key-file.ts';
import { createKeyring } from './keyring.ts';
import { rotateKeys } from './rotation.ts';
import { open, SEALED_COLUMNS, type SealedTable, seal } from './sealed-columns.ts';

const TABLES = Object.keys(SEALED_COLUMNS) as SealedTable[];
const SECRET = 'planted-7f1c-secret';
const DRIVER_SECRETS = {
  webhook: { url: SECRET, secret: SECRET },
  kubernetes: { name: 'kept', url: SECRET, password: SECRET },
};

/** With a secret in each place that the column has. */
const toDocument = (table: SealedTable): string =>
  JSON.stringify({
    any: 'text',
    ...(table === 'budgets' && { webhook: { url: SECRET, secret: SECRET } }),
    ...(table.startsWith('service') && { settings: DRIVER_SECRETS }),
    ...(!('members' in SEALED_COLUMNS[table]) && { sql: SECRET, headers: { authorization: SECRET } }),
  });

/** A value for each column that has no default. */
const OTHERS: Record<SealedTable, Record<string, string | number | null>> = {
  channels: { service: 'generic', name: 'n', created_at: 1, updated_at: 1 },
  notifications: {
    channel_id: 'c',
    subject_type: 'alert',
    subject_id: 's',
    event_id: 'e',
    status: 'pending',
    created_at: 1,
    attempts: 0,
    next_attempt_at: null,
  },
  budgets: {},
  sql_history: { started_at: 1 },
  saved_queries: { created_at: 1, name: 'n', database_name: '' },
  services: { created_at: 1, driver: 'webhook' },
  service_removals: { driver: 'webhook', observed: '{}', removed_at: 1 },
  fleet_documents: {},
  idempotent_responses: { request_hash: 'r', created_at: 1, headers: '{}' },
};

onEachStore('secrets in the store', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State | undefined;

  const openStore = async (secretsKeyFile?: string): Promise<State> => {
    state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      secretsKeyFile,
      clock: systemClock,
    });
    return state;
  };
  const close = async () => {
    await state?.close();
    state = undefined;
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
  });
  afterEach(async () => {
    await close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const getKeyFile = () => join(directory, 'secrets.key');
  const toKey = (table: SealedTable, id: string) =>
    Object.fromEntries(SEALED_COLUMNS[table].key.map((name) => [name, name === 'organization_id' ? 'o' : id])) as never;

  async function insertRows(to: State, ids: readonly string[], toStored: (table: SealedTable, id: string) => string) {
    const organization = { id: 'o', name: 'o', tier: 'SCALE', paid: 1, created_at: 1, key_count: 0, cost_revision: 1 };
    await to.write(async (tx) => {
      await sql`INSERT INTO organizations (${sql.join(Object.keys(organization).map((name) => sql.ref(name)))})
        VALUES (${sql.join(Object.values(organization))}) ON CONFLICT DO NOTHING`.execute(tx);
      for (const table of TABLES)
        for (const id of ids) {
          const row: Record<string, unknown> = {
            ...(toKey(table, id) as object),
            ...OTHERS[table],
            ...(table === 'channels' && { name: id }),
            [SEALED_COLUMNS[table].column]: toStored(table, id),
          };
          await sql`INSERT INTO ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
            VALUES (${sql.join(Object.values(row))})`.execute(tx);
        }
    });
  }

  async function listStored(of: State): Promise<{ table: SealedTable; id: string; stored: string }[]> {
    const found = [];
    for (const table of TABLES) {
      const { column, key } = SEALED_COLUMNS[table];
      const { rows } = await sql<{ id: string; stored: string }>`SELECT ${sql.ref(key.at(-1) ?? '')} AS id,
        ${sql.ref(column)} AS stored FROM ${sql.table(table)} ORDER BY 1`.execute(of.db);
      found.push(...rows.map((row) => ({ table, ...row })));
    }
    return found;
  }

  const expectReadable = async (of: State) => {
    for (const { table, id, stored } of await listStored(of))
      expect(open(of.db, table, toKey(table, id), stored), table).toBe(toDocument(table));
  };

  const readFiles = () =>
    readdirSync(directory)
      .filter((name) => name.startsWith('state.db'))
      .map((name) => readFileSync(join(directory, name), 'latin1'))
      .join('');

  it('have a key file that only its owner can read, and whose key is not in the store', async () => {
    const opened = await openStore();
    expect(statSync(getKeyFile()).mode & 0o777).toBe(0o600);
    const [key] = readKeyFile(getKeyFile()) ?? [];
    const rows = await opened.db.selectFrom('secret_keys').selectAll().execute();
    expect(rows).toEqual([
      { id: key?.id, registered_at: expect.any(Number), sealed_at: expect.any(Number), retired_at: null },
    ]);
    expect(key?.text).not.toContain(key?.id);
  });

  it('are encrypted in every column, and can be read in their own row only', async () => {
    const opened = await openStore();
    await insertRows(opened, ['a', 'b'], (table, id) => seal(opened.db, table, toKey(table, id), toDocument(table)));
    const stored = await listStored(opened);
    expect(stored).toHaveLength(2 * TABLES.length);
    for (const { table, id, stored: text } of stored) {
      const rest = SEALED_COLUMNS[table];
      if ('members' in rest) expect(JSON.parse(text).any, table).toBe('text');
      else expect(text, table).toMatch(/^enc1:[0-9a-f]{16}:[\w-]+$/);
      expect(() => open(opened.db, table, toKey(table, id === 'a' ? 'b' : 'a'), text), table).toThrow(
        'changed or moved',
      );
    }
    await expectReadable(opened);
    await close();
    expect(readFiles()).not.toContain(SECRET);
    expect(stored.filter(({ stored: text }) => text.includes(SECRET))).toEqual([]);
  });

  it('that an earlier version stored in plain text are encrypted at the next start, also after an interruption', async () => {
    const opened = await openStore();
    await opened.write((tx) => tx.deleteFrom('secret_keys').execute());
    const ids = Array.from({ length: 450 }, (_, index) => `row-${String(index).padStart(4, '0')}`);
    await insertRows(opened, ids, toDocument);
    // As if a start was killed after some of them.
    const first = ids[0] ?? '';
    const sealed = seal(opened.db, 'sql_history', toKey('sql_history', first), toDocument('sql_history'));
    await opened.write((tx) =>
      tx.updateTable('sql_history').set({ document: sealed }).where('id', '=', first).execute(),
    );
    await expectReadable(opened);
    await close();
    if (store === 'libsql') expect(readFiles()).toContain(SECRET);

    const again = await openStore();
    const stored = await listStored(again);
    expect(stored).toHaveLength(ids.length * TABLES.length);
    expect(stored.filter(({ stored: text }) => text.includes(SECRET))).toEqual([]);
    await expectReadable(again);
    const rows = await again.db.selectFrom('secret_keys').selectAll().execute();
    expect(rows.map(({ sealed_at }) => sealed_at)).toEqual([expect.any(Number)]);
    if (store === 'libsql') expect(readFiles(), 'also where rows were').not.toContain(SECRET);
  });

  it('need the key: without it, the store does not open', async () => {
    await openStore();
    await close();
    const [key] = readKeyFile(getKeyFile()) ?? [];
    const other = join(directory, 'other.key');
    createKeyFile(other);
    await expect(openStore(other)).rejects.toThrow(`encrypted with the key ${key?.id}, and ${other} does not have it`);
    const missing = join(directory, 'missing.key');
    await expect(openStore(missing)).rejects.toThrow(`there is no file ${missing}. Copy the key file`);
    expect(existsSync(missing)).toBe(false);
    writeFileSync(missing, 'not a key\n');
    await expect(openStore(missing)).rejects.toThrow('line 1 is not a key of 32 bytes in base64');
    // The key of the store does not have to be the first one.
    replaceKeyFile(other, [newKey(), ...(readKeyFile(getKeyFile()) ?? [])]);
    await openStore(other);
  });

  it('get a new key by a rotation, which a process that has the store open follows', async () => {
    const server = await openStore();
    await insertRows(server, ['a', 'b'], (table, id) => seal(server.db, table, toKey(table, id), toDocument(table)));
    const [old] = readKeyFile(getKeyFile()) ?? [];
    const command = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
    const { keyId, rows, removedKeyIds } = await rotateKeys(command, 'finish', systemClock);
    await command.close();
    expect({ rows, removedKeyIds }).toEqual({ rows: 2 * TABLES.length, removedKeyIds: [old?.id] });
    expect(readKeyFile(getKeyFile())?.map(({ id }) => id)).toEqual([keyId]);
    const stored = await listStored(server);
    expect(stored.filter(({ stored: text }) => text.includes(String(old?.id)))).toEqual([]);
    // The other connection reads the rows with the new key, and uses it.
    await expectReadable(server);
    expect(seal(server.db, 'channels', toKey('channels', 'c'), 'x')).toContain(keyId);
    const keys = await server.db.selectFrom('secret_keys').select(['id', 'retired_at']).execute();
    expect(new Map(keys.map(({ id, retired_at }) => [id, retired_at !== null]))).toEqual(
      new Map([
        [old?.id, true],
        [keyId, false],
      ]),
    );
    await close();
    await openStore();
  });

  it('continue an interrupted rotation with the same new key, and rotate in steps for several nodes', async () => {
    const opened = await openStore();
    await insertRows(opened, ['a'], (table, id) => seal(opened.db, table, toKey(table, id), toDocument(table)));
    const [old] = readKeyFile(getKeyFile()) ?? [];
    const added = await rotateKeys(opened, 'add', systemClock);
    expect(readKeyFile(getKeyFile())?.map(({ id }) => id)).toEqual([old?.id, added.keyId]);
    expect(await rotateKeys(opened, 'add', systemClock)).toEqual(added);
    // A node with this file reads what the next step writes.
    const node = createKeyring(join(directory, 'copy.key'), readKeyFile(getKeyFile()) ?? []);
    const kept = await rotateKeys(opened, 'keep', systemClock);
    expect(kept).toMatchObject({ keyId: added.keyId, rows: TABLES.length, removedKeyIds: [] });
    const [channel] = (await listStored(opened)).filter(({ table }) => table === 'channels');
    expect(node.open(['channels', 'document', 'o', 'a'], channel?.stored ?? '')).toBe(toDocument('channels'));
    // The node still has the old key first.
    const late = node.seal(['channels', 'document', 'o', 'a'], toDocument('channels'));
    await opened.write((tx) => tx.updateTable('channels').set({ document: late }).execute());
    const finished = await rotateKeys(opened, 'finish', systemClock);
    expect(finished).toMatchObject({ keyId: added.keyId, rows: 1, removedKeyIds: [old?.id] });
    expect(readKeyFile(getKeyFile())?.map(({ id }) => id)).toEqual([added.keyId]);
    await expectReadable(opened);
  });
});

describe('the key file', () => {
  it('is never replaced by one that another process creates at the same time', () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    try {
      const path = join(directory, 'secrets.key');
      const created = [1, 2, 3].map(() => createKeyFile(path)[0]?.id);
      expect(new Set(created).size).toBe(1);
      expect(readdirSync(directory)).toEqual(['secrets.key']);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
