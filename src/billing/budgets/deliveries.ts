import type { Logger } from 'pino';
import { type Clock, MINUTE_MS } from '../../kernel/clock.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import { backOffMs, type Notice } from './budget.ts';
import { findBudget, findNotice, listDueNotices, putNotice } from './store.ts';
import type { Post } from './webhook.ts';

interface Options {
  state: State;
  clock: Clock;
  organizations: Organizations;
  log: Pick<Logger, 'warn'>;
  post: Post;
}

const AT_ONCE = 16;
/** Longer than an attempt can take: whoever took a notice and died is followed by another after this. */
const TAKEN_FOR_MS = MINUTE_MS;

/**
 * Sends what is due, each at least once: a notice is taken for a minute before it is sent and put away after the
 * receiver said yes. Several nodes may do this side by side.
 */
export function createDeliveries({ state, clock, organizations, log, post }: Options) {
  /** Undefined: somebody else was faster, or the budget has no webhook any more. */
  async function take(due: Notice) {
    return state.write(async (tx) => {
      await organizations.take(tx, due.organizationId);
      const notice = await findNotice(tx, due);
      const now = clock.now();
      if (notice?.nextAttemptAt === undefined || notice.nextAttemptAt > now) return undefined;
      const webhook = (await findBudget(tx, due.organizationId, due.budgetId))?.webhook;
      if (!webhook) {
        await putNotice(tx, { ...notice, nextAttemptAt: undefined, delivery: 'none' });
        return undefined;
      }
      const taken = { ...notice, attempts: notice.attempts + 1, nextAttemptAt: now + TAKEN_FOR_MS };
      await putNotice(tx, taken);
      return { notice: taken, webhook };
    });
  }

  /** A budget that was deleted meanwhile has no notices, and gets none back. */
  async function settle(notice: Notice, change: Partial<Notice>): Promise<void> {
    await state.write(async (tx) => {
      await organizations.take(tx, notice.organizationId);
      const current = await findNotice(tx, notice);
      if (current) await putNotice(tx, { ...current, ...change });
    });
  }

  async function deliver(due: Notice): Promise<void> {
    const taken = await take(due);
    if (!taken) return;
    const { notice, webhook } = taken;
    try {
      await post(webhook, notice.deliveryId, notice.body);
      await settle(notice, { nextAttemptAt: undefined, delivery: 'delivered' });
    } catch (error) {
      const wait = backOffMs(notice.attempts);
      const { budgetId, deliveryId, attempts } = notice;
      const reason = (error as Error).message;
      log.warn({ budgetId, deliveryId, attempts, reason, final: wait === undefined }, 'a budget notice was not taken');
      await settle(
        notice,
        wait === undefined
          ? { nextAttemptAt: undefined, delivery: 'failed' }
          : { nextAttemptAt: clock.now() + wait, delivery: 'pending' },
      );
    }
  }

  return {
    /** Everything that is due now, a few at a time. */
    async run(): Promise<void> {
      for (;;) {
        const due = await listDueNotices(state.db, clock.now(), AT_ONCE);
        if (due.length === 0) return;
        await Promise.all(due.map(deliver));
        if (due.length < AT_ONCE) return;
      }
    },
  };
}
