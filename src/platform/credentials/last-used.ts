import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { State } from '../state/state.ts';
import { MAX_LEAD_MS, markUsed, USED_TABLES, type UsedTable } from './store.ts';

export type LastUsed = ReturnType<typeof createLastUsed>;

const FLUSH_AFTER_MS = 250;

const isCurrent = (usedAt: number | undefined, minute: number): boolean =>
  usedAt !== undefined && usedAt >= minute && usedAt <= minute + MAX_LEAD_MS;

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  table: UsedTable;
}

/**
 * Stores `usedAt` with one-minute precision: at most one write per credential and minute, and no request waits for it.
 * A crash loses at most the last 250 ms.
 */
export function createLastUsed({ state, clock, log, table }: Options) {
  const lastMinute = new Map<string, number>();
  let currentMinute = 0;
  let pending = new Map<string, { organizationId: string; minute: number }>();

  const flushing = createBackgroundLoop({
    run: flush,
    onError: (error) => log.warn({ err: error }, `failed to store the last use of ${USED_TABLES[table].plural}`),
  });

  async function flush(): Promise<void> {
    const batch = pending;
    pending = new Map();
    if (batch.size === 0) return;
    try {
      await state.write(async (tx) => {
        for (const [id, { organizationId, minute }] of batch) await markUsed(tx, table, organizationId, id, minute);
      });
    } catch (error) {
      // The next use of the credential tries again.
      for (const id of batch.keys()) lastMinute.delete(id);
      throw error;
    }
  }

  return {
    /** Called for every authenticated request. `usedAt` is the stored value. */
    record({ id, organizationId, usedAt }: { id: string; organizationId: string; usedAt: number | undefined }): void {
      const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
      if (minute !== currentMinute) {
        currentMinute = minute;
        lastMinute.clear();
      }
      if (isCurrent(usedAt, minute) || isCurrent(lastMinute.get(id), minute)) return;
      lastMinute.set(id, minute);
      pending.set(id, { organizationId, minute });
      if (!flushing.isScheduled()) flushing.schedule(FLUSH_AFTER_MS);
    },

    flush: (): Promise<void> => flushing.trigger(),

    /** Stores everything recorded so far. */
    async close(): Promise<void> {
      await flushing.trigger();
      await flushing.close();
    },
  };
}
