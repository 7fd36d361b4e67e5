import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { State } from '../state.ts';
import type { Db } from '../tables.ts';
import type { Keyring } from './keyring.ts';
import { SEALED_COLUMNS, type SealedTable, sealAgain } from './sealed-columns.ts';

const ROWS_PER_BATCH = 200;
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as SealedTable[];

type StoredRow = Record<string, string>;

/**
 * Encrypts with the current key everything that is not: texts of before there was a key, and texts with an earlier key.
 * In batches, each in a transaction, while servers run; a process that is killed leaves texts of both kinds, and the
 * next call continues. Returns the number of changed rows.
 */
export async function sealEverythingAgain(state: State, keyring: Keyring): Promise<number> {
  let changed = 0;
  for (const table of SEALED_TABLES)
    for await (const rows of readStored(state.db, table)) {
      const column = SEALED_COLUMNS[table].column;
      const again = rows.flatMap((row) => {
        const stored = row[column] ?? '';
        const sealed = sealAgain(keyring, table, row, stored);
        return sealed === stored ? [] : [{ row, sealed }];
      });
      if (again.length === 0) continue;
      changed += again.length;
      await state.write(async (tx) => {
        for (const { row, sealed } of again) await replace(tx, table, row, sealed);
      });
    }
  return changed;
}

/** The stored texts of a table, in batches in the order of its key. */
async function* readStored(db: Db, table: SealedTable): AsyncGenerator<StoredRow[]> {
  const { column, key } = SEALED_COLUMNS[table];
  const columns = sql.join(key.map((name) => sql.ref(name)));
  let last: StoredRow | undefined;
  for (;;) {
    const after = last && sql` AND (${columns}) > (${sql.join(key.map((name) => last?.[name]))})`;
    const { rows } = await sql<StoredRow>`SELECT ${columns}, ${sql.ref(column)} FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IS NOT NULL${after ?? sql``} ORDER BY ${columns} LIMIT ${sql.lit(ROWS_PER_BATCH)}`.execute(
      db,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_BATCH) return;
    last = rows.at(-1);
    // Let other requests run.
    await setImmediate();
  }
}

/** Only if no change was faster: that one used the current key. */
async function replace(tx: Db, table: SealedTable, row: StoredRow, sealed: string): Promise<void> {
  const { column, key } = SEALED_COLUMNS[table];
  const conditions = [...key, column].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
  await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sealed} WHERE ${sql.join(conditions, sql` AND `)}`.execute(
    tx,
  );
}
