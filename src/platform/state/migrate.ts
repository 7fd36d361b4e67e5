import { sql } from 'kysely';
import { type Migration, rejectForeignHistory } from '../../kernel/migration.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { isPostgres } from './locking.ts';
import type { State } from './state.ts';
import type { Db } from './tables.ts';

const LOCK = 0x70_68_73; // the id of our advisory lock on PostgreSQL

/** What a migration needs in addition to its SQL, by its name; runs after it in the same transaction. */
export type Steps = Readonly<Record<string, (tx: Db) => Promise<void>>>;

const SERVICES_PER_READ = 500;

/** The oldest of several services with the same resource keeps it. */
async function fillResourceOwners(tx: Db): Promise<void> {
  let last = { created_at: Number.MIN_SAFE_INTEGER, id: '' };
  for (;;) {
    const rows = await tx
      .selectFrom('services')
      .select(['organization_id', 'id', 'created_at', 'document'])
      .where('driver', '=', 'kubernetes')
      .where((is) =>
        is.or([
          is('created_at', '>', last.created_at),
          is.and([is('created_at', '=', last.created_at), is('id', '>', last.id)]),
        ]),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(SERVICES_PER_READ)
      .execute();
    for (const { organization_id, id, document } of rows) {
      const { kind, namespace, name } = JSON.parse(document).settings?.kubernetes ?? {};
      if (kind === undefined) continue;
      await tx
        .insertInto('resource_owners')
        .values({ resource: `${kind} ${namespace}/${name}`, organization_id, service_id: id })
        .onConflict((conflict) => conflict.column('resource').doNothing())
        .execute();
    }
    const end = rows.at(-1);
    if (!end) return;
    last = end;
  }
}

const STEPS: Steps = {
  '0001-schema': async (tx) => {
    if (isPostgres(tx)) await sql`ALTER TABLE rate_windows SET UNLOGGED`.execute(tx);
  },
  '0019-resource-owners': fillResourceOwners,
};

/**
 * Migrates the schema in one transaction: a process that is killed leaves no partial migration, and a second process that
 * starts at the same time waits until the first is done.
 */
export function migrate(state: State, available: readonly Migration[], clock: Clock, steps?: Steps): Promise<string[]> {
  return state.write(async (tx) => {
    await lockSchema(tx, state.kind);
    return applyMigrations(tx, available, clock, steps);
  });
}

/** Until the transaction ends, no other process migrates: one that starts meanwhile waits. A libSQL file has one writer anyway. */
export async function lockSchema(tx: Db, kind: State['kind']): Promise<void> {
  if (kind !== 'postgres') return;
  await sql`SET LOCAL lock_timeout = 0`.execute(tx);
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx);
}

/** Applies the migrations that the store lacks, and returns their names. */
export async function applyMigrations(
  tx: Db,
  available: readonly Migration[],
  clock: Clock,
  steps: Steps = STEPS,
): Promise<string[]> {
  await createHistory(tx);
  const applied = await tx.selectFrom('schema_migrations').selectAll().orderBy('version').execute();
  rejectForeignHistory('database', applied, available);
  const pending = available.filter(({ version }) => !applied.some((row) => row.version === version));
  for (const { version, name, checksum, statements } of pending) {
    for (const statement of statements) await sql.raw(statement).execute(tx);
    await steps[name]?.(tx);
    await tx.insertInto('schema_migrations').values({ version, name, checksum, applied_at: clock.now() }).execute();
  }
  return pending.map(({ name }) => name);
}

async function createHistory(tx: Db): Promise<void> {
  await tx.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('version', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('checksum', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .execute();
}
