import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Clock, DAY_MS } from '../../kernel/time/clock.ts';
import { deleteNotificationsBefore } from '../../platform/notifications/store.ts';
import type { State } from '../../platform/state/state.ts';
import type { Organizations } from '../organizations/organizations.ts';

interface Options {
  state: State;
  clock: Clock;
  organizations: Organizations;
  log: Pick<Logger, 'info'>;
}

/** 30 days are documented. A budget shows those of the current month, which may have 31. */
const KEPT_DAYS = 32;
const ROWS_PER_TRANSACTION = 500;

/** Removes old notifications. */
export function createNotificationRetention({ state, clock, organizations, log }: Options) {
  async function removeBefore(organizationId: string, before: number): Promise<number> {
    for (let total = 0; ; await setImmediate()) {
      const removed = await state.write((tx) =>
        deleteNotificationsBefore(tx, organizationId, before, ROWS_PER_TRANSACTION),
      );
      total += removed;
      if (removed < ROWS_PER_TRANSACTION) return total;
    }
  }

  return {
    async run(): Promise<void> {
      const before = Math.min(clock.now(), await state.now()) - KEPT_DAYS * DAY_MS;
      let notifications = 0;
      for (const { id } of await organizations.list()) notifications += await removeBefore(id, before);
      if (notifications > 0) log.info({ notifications }, 'removed old notifications');
    },
  };
}
