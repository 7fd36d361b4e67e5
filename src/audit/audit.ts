import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createTimeOrderedIds } from '../kernel/ids.ts';
import type { Db } from '../state/tables.ts';
import type { Activity, Actor, Change } from './activity.ts';
import { type ActivityFilter, findActivity, insertActivity, listActivities } from './store.ts';

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ db, clock }: { db: Db; clock: Clock }) {
  const nextId = createTimeOrderedIds();
  return {
    /** In the transaction of the change itself: either both are there afterwards, or neither is. */
    async record(tx: Db, actor: Actor, change: Change): Promise<void> {
      const createdAt = clock.now();
      await insertActivity(tx, { id: nextId(createdAt), createdAt, actor, ...change });
    },

    list: (organizationId: string, filter: ActivityFilter): Promise<Activity[]> =>
      listActivities(db, organizationId, filter),

    async get(organizationId: string, id: string): Promise<Activity> {
      const activity = await findActivity(db, organizationId, id);
      if (!activity) throw new AppError('not_found', `activity ${id} does not exist`);
      return activity;
    },
  };
}
