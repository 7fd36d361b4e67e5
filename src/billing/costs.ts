import type { Day } from '../kernel/days.ts';
import type { Db } from '../state/tables.ts';
import { type Cost, inOrder } from './cost.ts';
import { listCosts } from './store.ts';

export type Costs = ReturnType<typeof createCosts>;

export function createCosts({ db }: { db: Db }) {
  return {
    /** The records of each day from one to the other, in order; days without any are there too. */
    async byDay(organizationId: string, days: readonly Day[]): Promise<Map<Day, Cost[]>> {
      const records = new Map<Day, Cost[]>(days.map((day) => [day, []]));
      const [first, last] = [days[0], days.at(-1)];
      if (first === undefined || last === undefined) return records;
      for (const cost of await listCosts(db, organizationId, first, last)) records.get(cost.date)?.push(cost);
      for (const costs of records.values()) costs.sort(inOrder);
      return records;
    },
  };
}
