import type { Day } from '../../kernel/days.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import { entityKey } from '../entity.ts';
import { deleteCost, listCosts } from '../store.ts';
import { listBookedOn } from './store.ts';

/** Removes the open imported records of a day, so that usage that is metered afterwards is booked on the day itself. */
export function createImportRemoval({ state, organizations }: { state: State; organizations: Organizations }) {
  return (organizationId: string, date: Day): Promise<void> =>
    state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const metered = new Set((await listBookedOn(tx, organizationId, date)).map(entityKey));
      const imported = (await listCosts(tx, organizationId, { from: date, to: date })).filter(
        (cost) => !cost.isLocked && !metered.has(entityKey(cost)),
      );
      if (imported.length === 0) return;
      for (const cost of imported) await deleteCost(tx, cost);
      await organizations.costsChanged(tx, organizationId);
    });
}
