import type { Logger } from 'pino';
import { type Clock, MINUTE_MS } from '../kernel/clock.ts';
import type { State } from '../state/state.ts';
import type { Db } from '../state/tables.ts';

export type LastUsed = ReturnType<typeof createLastUsed>;

const FLUSH_AFTER_MS = 250;

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Stores the last use of one kind of credential. */
  mark(tx: Db, organizationId: string, id: string, usedAt: number): Promise<void>;
  /** The kind of credential, in the plural, for log messages. */
  credentials: string;
}

/**
 * `usedAt` with one-minute precision: at most one write per credential and minute, never while a request waits for it.
 * What a crash loses is at most the last quarter of a second of it.
 */
export function createLastUsed({ state, clock, log, mark, credentials }: Options) {
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
        for (const [id, { organizationId, minute }] of batch) await mark(tx, organizationId, id, minute);
      });
    } catch (error) {
      for (const id of batch.keys()) lastMinute.delete(id);
      log.warn({ err: error }, `could not note when ${credentials} were last used`);
    }
  }

  return {
    note({ id, organizationId, usedAt }: { id: string; organizationId: string; usedAt: number | undefined }): void {
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
