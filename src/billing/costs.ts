import type { Db } from '../state/tables.ts';
import { type Cost, compareCosts } from './cost.ts';
import { findRatingProgress, listCosts, type RatingProgress } from './store.ts';
import type { Window } from './window.ts';

export type Costs = ReturnType<typeof createCosts>;

export function createCosts({ db }: { db: Db }) {
  return {
    findProgress: (organizationId: string): Promise<RatingProgress | undefined> =>
      findRatingProgress(db, organizationId),

    async list(organizationId: string, window: Window): Promise<Cost[]> {
      return (await listCosts(db, organizationId, window)).sort(compareCosts);
    },
  };
}
