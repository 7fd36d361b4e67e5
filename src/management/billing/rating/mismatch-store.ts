import type { Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Mismatch } from '../metering/engine-binding.ts';
import type { UsageDay } from './store.ts';

/** Records why the day is not rated. It stays marked as changed, so that rating is tried again. */
export async function setMismatch(
  tx: Db,
  { organizationId, date }: Pick<UsageDay, 'organizationId' | 'date'>,
  mismatch: Mismatch,
): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set((eb) => ({
      mismatch,
      revision: eb
        .case()
        .when('revision', '>', eb.ref('rated_revision'))
        .then(eb.ref('revision'))
        .else(eb('rated_revision', '+', 1))
        .end(),
    }))
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .execute();
}

/** From now on the engine's number of events counts: the day is rated again from them. */
export async function setAdopted(
  tx: Db,
  { organizationId, date }: Pick<UsageDay, 'organizationId' | 'date'>,
  events: number,
): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set((eb) => ({ events, mismatch: null, revision: eb('revision', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .execute();
}

/** The days that are not rated because the engine does not have their events, by reason. */
export interface MismatchedDays {
  mismatch: Mismatch;
  days: number;
  organizations: number;
  from: Day;
  to: Day;
}

export async function countMismatchedDays(db: Db, organizationId?: string): Promise<MismatchedDays[]> {
  let query = db.selectFrom('usage_days').where('mismatch', 'is not', null);
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  const rows = await query
    .select(({ fn }) => [
      'mismatch',
      fn.countAll<number>().as('days'),
      fn.count<number>('organization_id').distinct().as('organizations'),
      fn.min('date').as('from'),
      fn.max('date').as('to'),
    ])
    .groupBy('mismatch')
    .orderBy('mismatch')
    .execute();
  return rows.map((row) => ({ ...row, mismatch: row.mismatch as Mismatch }));
}
