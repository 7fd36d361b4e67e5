import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Clock, DAY_MS } from '../../../kernel/time/clock.ts';
import type { State } from '../../../platform/state/state.ts';
import { deleteVersionsSavedBefore } from '../version-store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'info'>;
  /** Undefined keeps everything. */
  days: number | undefined;
}

const ROWS_PER_TRANSACTION = 100;

/** Removes old versions of dashboards. The current version of a dashboard is never removed. */
export function createVersionRetention({ state, clock, log, days }: Options) {
  return {
    async run(): Promise<void> {
      if (days === undefined) return;
      const before = Math.min(clock.now(), await state.now()) - days * DAY_MS;
      for (let total = 0; ; await setImmediate()) {
        const removed = await state.write((tx) => deleteVersionsSavedBefore(tx, before, ROWS_PER_TRANSACTION));
        total += removed;
        if (removed === ROWS_PER_TRANSACTION) continue;
        if (total > 0) log.info({ versions: total }, 'removed old versions of dashboards');
        return;
      }
    },
  };
}
