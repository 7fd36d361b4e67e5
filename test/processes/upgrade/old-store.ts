import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { listMigrations, readMigrations } from '../../../src/kernel/migration.ts';
import { systemClock } from '../../../src/kernel/time/clock.ts';
import { listTables, readRows, type StoreValue } from '../../../src/platform/state/contents.ts';
import { openLibsql } from '../../../src/platform/state/libsql/libsql.ts';
import { migrate } from '../../../src/platform/state/migrate.ts';
import { openPostgres } from '../../../src/platform/state/postgres/postgres.ts';
import { readKeyFile } from '../../../src/platform/state/secrets/key-file.ts';
import { createKeyring, type SealPlace } from '../../../src/platform/state/secrets/keyring.ts';
import { SEALED_TABLES } from '../../../src/platform/state/secrets/seal-again.ts';
import { SEALED_COLUMNS, sealAgain } from '../../../src/platform/state/secrets/sealed-columns.ts';
import { type State, unobserved } from '../../../src/platform/state/state.ts';
import type { Json } from '../../support/client.ts';
import type { StorePlace } from '../../support/clocked-server.ts';

/** The schema of the version that wrote the rows. */
const LAST_OLD_VERSION = 11;

/** The values by column. */
type Row = Record<string, StoreValue>;
export type Tables = Record<string, Row[]>;

/** What the API of the old version answered for each path before it stopped. Of activities and roles, a part. */
export const readOldAnswers = (): [path: string, answer: Json][] =>
  readFileSync(join(import.meta.dirname, 'answers.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Opens a store without a migration. */
async function withStore<T>({ dataDirectory, databaseUrl: url }: StorePlace, work: (state: State) => Promise<T>) {
  const state = url
    ? openPostgres({ url, clock: systemClock, observer: unobserved, queryTimeoutMs: 60_000 })
    : openLibsql(join(dataDirectory, 'state.db'), systemClock, unobserved);
  try {
    return await work(state);
  } finally {
    await state.close();
  }
}

/** Fills an empty store as the old version did. */
export const createOldStore = (place: StorePlace): Promise<void> =>
  withStore(place, async (state) => {
    const old = listMigrations('state').filter(({ version }) => version <= LAST_OLD_VERSION);
    await migrate(state, old, systemClock);
    const [rows] = readMigrations(import.meta.dirname);
    await state.write(async (tx) => {
      for (const statement of rows?.statements ?? []) await sql.raw(statement).execute(tx);
    });
  });

/** The rows of every table; with a key file, the secrets in them are decrypted. */
export const readTables = (place: StorePlace, keyFile?: string): Promise<Tables> =>
  withStore(place, (state) =>
    state.db.transaction().execute(async (tx) => {
      const tables: Tables = {};
      for (const table of await listTables(tx, state.kind)) {
        const rows = [];
        for await (const values of readRows(tx, state.kind, table)) {
          const row = Object.fromEntries(table.columns.map((column, index) => [column, values[index] ?? null]));
          rows.push(keyFile === undefined ? row : decrypt(table.name, row, keyFile));
        }
        tables[table.name] = rows;
      }
      return tables;
    }),
  );

function decrypt(table: string, row: Row, keyFile: string): Row {
  const sealed = SEALED_TABLES.find((name) => name === table);
  if (!sealed) return row;
  const keyring = {
    ...createKeyring(keyFile, readKeyFile(keyFile) ?? []),
    isCurrent: () => false,
    seal: (_place: SealPlace, text: string) => text,
  };
  const { column } = SEALED_COLUMNS[sealed];
  return { ...row, [column]: sealAgain(keyring, sealed, row as Record<string, string>, String(row[column])) };
}

/** The migrations that the store has, with the time of each. */
export const readApplied = (place: StorePlace) =>
  withStore(place, (state) =>
    state.db.selectFrom('schema_migrations').select(['name', 'applied_at']).orderBy('version').execute(),
  );
