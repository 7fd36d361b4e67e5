import type { Day } from '../../kernel/days.ts';
import { prepared } from '../../state/prepared.ts';
import type { Db } from '../../state/tables.ts';

/** The organization's turn to store usage. */
export interface Turn {
  holder: string;
  expiresAt: number;
  /** Of the batch that is being stored; empty when it is done. */
  days: Day[];
}

const selectTurn = prepared((db: Db, value: { organizationId: string }) =>
  db.selectFrom('usage_intakes').selectAll().where('organization_id', '=', value.organizationId),
);

const upsertTurn = prepared(
  (db: Db, value: { organizationId: string; holder: string; expiresAt: number; days: string }) =>
    db
      .insertInto('usage_intakes')
      .values({
        organization_id: value.organizationId,
        holder: value.holder,
        expires_at: value.expiresAt,
        days: value.days,
      })
      .onConflict((conflict) =>
        conflict.column('organization_id').doUpdateSet((eb) => ({
          holder: eb.ref('excluded.holder'),
          expires_at: eb.ref('excluded.expires_at'),
          days: eb.ref('excluded.days'),
        })),
      ),
);

export async function findTurn(db: Db, organizationId: string): Promise<Turn | undefined> {
  const [row] = await selectTurn.all(db, { organizationId });
  return row && { holder: row.holder, expiresAt: row.expires_at, days: JSON.parse(row.days) };
}

export async function putTurn(tx: Db, organizationId: string, { holder, expiresAt, days }: Turn): Promise<void> {
  await upsertTurn.all(tx, { organizationId, holder, expiresAt, days: JSON.stringify(days) });
}

/** Organizations whose last batch was never finished. */
export async function listUnfinishedTurns(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('usage_intakes').select('organization_id').where('days', '<>', '[]').execute();
  return rows.map(({ organization_id }) => organization_id);
}

const upsertDay = prepared((db: Db, value: { organizationId: string; date: Day; locked: number }) =>
  db
    .insertInto('usage_days')
    .values({
      organization_id: value.organizationId,
      date: value.date,
      revision: 1,
      rated_revision: 0,
      rated_at: 0,
      locked: value.locked,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'date'])
        .doUpdateSet((eb) => ({ revision: eb('usage_days.revision', '+', 1) })),
    ),
);

/** They are rated again. A day that nobody used before its time was closed is closed all the same. */
export async function touchDays(
  tx: Db,
  organizationId: string,
  days: readonly Day[],
  lockedThrough: Day,
): Promise<void> {
  for (const date of days) await upsertDay.all(tx, { organizationId, date, locked: date <= lockedThrough ? 1 : 0 });
}

const selectLastLocked = prepared((db: Db, value: { organizationId: string }) =>
  db
    .selectFrom('usage_days')
    .select('date')
    .where('organization_id', '=', value.organizationId)
    .where('locked', '=', 1)
    .orderBy('date', 'desc')
    .limit(1),
);

/** The last day that is closed, and with it every day before; empty, which is before any day, when none is. */
export async function lockedThrough(db: Db, organizationId: string): Promise<Day> {
  const [row] = await selectLastLocked.all(db, { organizationId });
  return row?.date ?? '';
}
