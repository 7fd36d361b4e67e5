import type { Day } from '../kernel/days.ts';
import type { Db } from '../state/tables.ts';
import { type Cost, inOrder } from './cost.ts';
import { findProgress, listCosts, type Progress } from './store.ts';

export type Costs = ReturnType<typeof createCosts>;

export function createCosts({ db }: { db: Db }) {
  return {
    /** How fresh and how final metered costs are. */
    progress: (organizationId: string): Promise<Progress | undefined> => findProgress(db, organizationId),

    /** The records of consecutive days, in order. */
    async inDays(organizationId: string, days: readonly Day[]): Promise<Cost[]> {
      const [first, last] = [days[0], days.at(-1)];
      if (first === undefined || last === undefined) return [];
      return (await listCosts(db, organizationId, first, last)).sort(inOrder);
    },
  };
}
