import type { Day } from '../../../kernel/time/days.ts';
import { prepared } from '../../../platform/state/prepared.ts';
import type { Db } from '../../../platform/state/tables.ts';

/** The lease that allows one node to store usage for an organization. */
export interface IntakeLease {
  holder: string;
  expiresAt: number;
  /** The days of the batches being stored; empty when they are stored. */
  days: Day[];
}

const selectLease = prepared((db: Db, value: { organizationId: string }) =>
  db.selectFrom('usage_intakes').selectAll().where('organization_id', '=', value.organizationId),
);

const upsertLease = prepared(
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

export async function findLease(db: Db, organizationId: string): Promise<IntakeLease | undefined> {
  const [row] = await selectLease.all(db, { organizationId });
  return row && { holder: row.holder, expiresAt: row.expires_at, days: JSON.parse(row.days) };
}

export async function putLease(tx: Db, organizationId: string, lease: IntakeLease): Promise<void> {
  const { holder, expiresAt, days } = lease;
  await upsertLease.all(tx, { organizationId, holder, expiresAt, days: JSON.stringify(days) });
}

/** The organizations whose last batch is not finished. */
export async function listUnfinishedLeases(db: Db): Promise<string[]> {
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
      events: 0,
      mismatch: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'date'])
        .doUpdateSet((eb) => ({ revision: eb('usage_days.revision', '+', 1) })),
    ),
);

/** Marks days to be rated again. A day without earlier usage is added, locked if it is within the locked days. */
export async function markDaysChanged(
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

/** The last locked day, which locks every day before it; an empty string, which sorts before any day, if none is. */
export async function readLockedThrough(db: Db, organizationId: string): Promise<Day> {
  const [row] = await selectLastLocked.all(db, { organizationId });
  return row?.date ?? '';
}

/** The days with usage, locked ones included. */
export async function listDates(db: Db, organizationId: string): Promise<Day[]> {
  const rows = await db.selectFrom('usage_days').select('date').where('organization_id', '=', organizationId).execute();
  return rows.map(({ date }) => date);
}
