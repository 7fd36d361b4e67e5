import { sql } from 'kysely';
import { type AppliedMigration, listMigrations, rejectForeignHistory } from '../../kernel/migration.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { applyMigrations, lockSchema } from './migrate.ts';
import type { RawStore } from './raw-access.ts';
import type { State } from './state.ts';
import type { Db, Tables } from './tables.ts';

/** A table of the store, in a form that does not depend on the kind of store: text, safe integers, floats and null. */
export interface StoreTable {
  name: string;
  columns: string[];
}

export type StoreValue = string | number | null;

const HISTORY = 'schema_migrations';
const CREATED_TABLE = /^CREATE TABLE (\w+)/i;

/** The migrations that the store has. Rejects a store of a version that this one cannot read. */
export async function readHistory(db: Db, kind: State['kind']): Promise<AppliedMigration[]> {
  if (!(await listOwnTables(db, kind)).some(({ name }) => name === HISTORY)) return [];
  const applied = await db.selectFrom(HISTORY).select(['version', 'name', 'checksum']).orderBy('version').execute();
  rejectForeignHistory('database', applied, listMigrations('state'));
  return applied;
}

/** Our tables, except the history of migrations, in the order of their creation: a table follows those that it refers to. */
export async function listTables(db: Db, kind: State['kind']): Promise<StoreTable[]> {
  return (await listOwnTables(db, kind)).filter(({ name }) => name !== HISTORY);
}

/** A PostgreSQL schema may also contain tables of other programs. */
async function listOwnTables(db: Db, kind: State['kind']): Promise<StoreTable[]> {
  const created = listMigrations('state').flatMap(({ statements }) =>
    statements.flatMap((statement) => CREATED_TABLE.exec(statement)?.[1] ?? []),
  );
  const order = [HISTORY, ...new Set(created)];
  const schema = kind === 'postgres' ? await readSchemaName(db) : undefined;
  const found = await db.introspection.getTables({ withInternalKyselyTables: true });
  return found
    .filter((table) => table.schema === schema && order.includes(table.name))
    .map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

async function readSchemaName(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string }>`SELECT current_schema() AS name`.execute(db);
  return rows[0]?.name ?? '';
}

const ROWS_PER_FETCH = 500;

/** All rows of a table, as values in the order of its columns. `db` must be a transaction. */
export async function* readRows(db: Db, kind: State['kind'], table: StoreTable): AsyncGenerator<StoreValue[]> {
  const { name, columns } = table;
  const toValues = (row: Record<string, StoreValue>) => columns.map((column) => row[column] ?? null);
  const query = db.selectFrom(name as keyof Tables).select(columns as never[]);
  if (kind === 'libsql') {
    for await (const row of query.stream()) yield toValues(row as Record<string, StoreValue>);
    return;
  }
  await sql`DECLARE copied_rows NO SCROLL CURSOR FOR ${query}`.execute(db);
  for (;;) {
    const { rows } = await sql<Record<string, StoreValue>>`FETCH ${sql.lit(ROWS_PER_FETCH)} FROM copied_rows`.execute(
      db,
    );
    if (rows.length === 0) break;
    yield* rows.map(toValues);
  }
  await sql`CLOSE copied_rows`.execute(db);
}

/** Well below the limit of either store. */
const PARAMETERS_PER_INSERT = 10_000;

export async function insertRows(tx: Db, { name, columns }: StoreTable, rows: readonly StoreValue[][]): Promise<void> {
  const rowsPerInsert = Math.max(1, Math.floor(PARAMETERS_PER_INSERT / columns.length));
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    const values = rows
      .slice(start, start + rowsPerInsert)
      .map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
    await tx
      .insertInto(name as keyof Tables)
      .values(values as never)
      .execute();
  }
}

export async function countRows(db: Db, { name }: StoreTable): Promise<number> {
  const { count } = await db
    .selectFrom(name as keyof Tables)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function listOrganizationIds(db: Db): Promise<string[]> {
  return (await db.selectFrom('organizations').select('id').execute()).map(({ id }) => id);
}

/** Every other row belongs to an organization or is created by the migrations. */
const OWNERS = ['organizations', 'price_books'];

export async function isStoreEmpty(db: Db, kind: State['kind']): Promise<boolean> {
  for (const table of await listTables(db, kind))
    if (OWNERS.includes(table.name) && (await countRows(db, table)) > 0) return false;
  return true;
}

interface Replacement {
  /** The migrations that the rows were stored with. */
  applied: readonly AppliedMigration[];
  clock: Clock;
  /** Fills the empty tables. `tables` are those of the schema with the `applied` migrations. */
  load(tx: Db, tables: readonly StoreTable[]): Promise<void>;
  /** Runs after the remaining migrations, in the same transaction. */
  finish?(tx: Db): Promise<void>;
}

/** Replaces everything in the store, in one transaction: our tables are created with the migrations of the rows, filled and migrated. */
export async function replaceContents(store: RawStore, { applied, clock, load, finish }: Replacement): Promise<void> {
  const available = listMigrations('state');
  const earlier = available.filter(({ version }) => applied.some((migration) => migration.version === version));
  await store.write(async (tx) => {
    await lockSchema(tx, store.kind);
    await dropTables(tx, store.kind);
    await applyMigrations(tx, earlier, clock);
    const tables = await listTables(tx, store.kind);
    // Migrations insert rows too.
    for (const { name } of tables.toReversed()) await tx.deleteFrom(name as keyof Tables).execute();
    await load(tx, tables);
    await applyMigrations(tx, available, clock);
    await finish?.(tx);
  });
}

async function dropTables(tx: Db, kind: State['kind']): Promise<void> {
  if (kind === 'libsql') await sql`PRAGMA defer_foreign_keys = ON`.execute(tx);
  for (const { name } of (await listOwnTables(tx, kind)).toReversed())
    await (kind === 'postgres' ? tx.schema.dropTable(name).cascade() : tx.schema.dropTable(name)).execute();
}
