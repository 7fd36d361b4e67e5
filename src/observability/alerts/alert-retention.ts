import { setImmediate } from 'node:timers/promises';
import { type Clock, DAY_MS } from '../../kernel/time/clock.ts';
import type { State } from '../../platform/state/state.ts';
import { deleteOldEvaluations } from './evaluation/evaluation-store.ts';

/** In days. */
const KEPT = { all: 7, changes: 30 };
const ROWS_PER_TRANSACTION = 500;

/** Removes old evaluations. */
export function createAlertRetention({ state, clock }: { state: State; clock: Clock }) {
  return {
    async run(): Promise<void> {
      const now = Math.min(clock.now(), await state.now());
      for (const isChange of [false, true]) {
        const before = now - (isChange ? KEPT.changes : KEPT.all) * DAY_MS;
        const remove = () =>
          state.write((tx) => deleteOldEvaluations(tx, { isChange, before, limit: ROWS_PER_TRANSACTION }));
        while ((await remove()) === ROWS_PER_TRANSACTION) await setImmediate();
      }
    },
  };
}
