import type { Day } from '../kernel/days.ts';
import type { Db } from '../state/tables.ts';
import { type Cost, inOrder } from './cost.ts';
import { listCosts } from './store.ts';

export type Costs = ReturnType<typeof createCosts>;

export function createCosts({ db }: { db: Db }) {
  return {
    /** The records of consecutive days, in order. */
    async inDays(organizationId: string, days: readonly Day[]): Promise<Cost[]> {
      const [first, last] = [days[0], days.at(-1)];
      if (first === undefined || last === undefined) return [];
      return (await listCosts(db, organizationId, first, last)).sort(inOrder);
    },
  };
}
