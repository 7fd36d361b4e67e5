import type { Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { entityKey } from '../entity.ts';
import { deleteCost, listCosts } from '../store.ts';
import { listBookedOn } from './store.ts';

/** Removes the open imported records of a day, so that its metered usage is booked on the day itself. Returns their number. */
export async function removeImported(tx: Db, organizationId: string, date: Day): Promise<number> {
  const metered = new Set((await listBookedOn(tx, organizationId, date)).map(entityKey));
  const imported = (await listCosts(tx, organizationId, { from: date, to: date })).filter(
    (cost) => !cost.isLocked && !metered.has(entityKey(cost)),
  );
  for (const cost of imported) await deleteCost(tx, cost);
  return imported.length;
}
