import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createTimeOrderedIds } from '../kernel/ids.ts';
import type { MaybePromise } from '../kernel/maybe-promise.ts';
import type { Db } from '../state/tables.ts';
import { type Activity, type Actor, type Change, isWanted, type Wanted } from './activity.ts';
import { type ActivityFilter, findActivity, insertActivity, listActivities } from './store.ts';

const READ_AT_ONCE = 1000;

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ db, clock }: { db: Db; clock: Clock }) {
  const nextId = createTimeOrderedIds();
  return {
    /** In the transaction of the change itself: either both are there afterwards, or neither is. */
    record(tx: Db, actor: Actor, change: Change): MaybePromise<unknown> {
      const createdAt = clock.now();
      return insertActivity(tx, { id: nextId(createdAt), createdAt, actor, ...change });
    },

    /** Newest first; looks as far back as it takes to find as many as are asked for. */
    async list(
      organizationId: string,
      { wanted, ...filter }: ActivityFilter & { wanted?: Wanted },
    ): Promise<Activity[]> {
      if (wanted === undefined) return listActivities(db, organizationId, filter);
      const found: Activity[] = [];
      for (let before = filter.before; ; ) {
        const read = await listActivities(db, organizationId, {
          ...filter,
          ...(before === undefined ? {} : { before }),
          limit: READ_AT_ONCE,
        });
        found.push(...read.filter((activity) => isWanted(activity, wanted)));
        before = read.at(-1)?.id;
        if (found.length >= filter.limit || read.length < READ_AT_ONCE) return found.slice(0, filter.limit);
        // Everybody else is served between two pages of a long trail.
        await setImmediate();
      }
    },

    async get(organizationId: string, id: string): Promise<Activity> {
      const activity = await findActivity(db, organizationId, id);
      if (!activity) throw new AppError('not_found', `activity ${id} does not exist`);
      return activity;
    },
  };
}
