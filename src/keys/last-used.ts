import type { Logger } from 'pino';
import { type Clock, MINUTE_MS } from '../kernel/clock.ts';
import type { State } from '../state/state.ts';
import type { Key } from './key.ts';
import { markUsed } from './store.ts';

export type LastUsed = ReturnType<typeof createLastUsed>;

const FLUSH_AFTER_MS = 250;

/**
 * `usedAt` with one-minute precision: at most one write per key and minute, never while a request waits for it.
 * What a crash loses is at most the last quarter of a second of it.
 */
export function createLastUsed({ state, clock, log }: { state: State; clock: Clock; log: Pick<Logger, 'warn'> }) {
  const lastMinute = new Map<string, number>();
  let thisMinute = 0;
  let pending = new Map<string, { organizationId: string; minute: number }>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = pending;
    pending = new Map();
    if (batch.size === 0) return;
    try {
      await state.write(async (tx) => {
        for (const [id, { organizationId, minute }] of batch) await markUsed(tx, organizationId, id, minute);
      });
    } catch (error) {
      for (const id of batch.keys()) lastMinute.delete(id);
      log.warn({ err: error }, 'could not note when keys were last used');
    }
  }

  return {
    note({ id, organizationId, usedAt }: Pick<Key, 'id' | 'organizationId' | 'usedAt'>): void {
      const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
      if (minute !== thisMinute) {
        thisMinute = minute;
        lastMinute.clear();
      }
      if ((usedAt ?? 0) >= minute || (lastMinute.get(id) ?? 0) >= minute) return;
      lastMinute.set(id, minute);
      pending.set(id, { organizationId, minute });
      timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
    },
    flush,
  };
}
