import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import type { CallerKey, KeptResponse } from '../../kernel/kept-response.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { deleteResponses, findResponse, insertResponse } from './store.ts';

const KEPT_MS = DAY_MS;
const DELETE_EVERY_MS = 60 * MINUTE_MS;

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export type KeptResponses = ReturnType<typeof createKeptResponses>;

/** The responses of requests with an Idempotency-Key, kept for 24 hours. */
export function createKeptResponses({ state, clock, log }: Options) {
  const deletion = createBackgroundLoop({
    run: () => state.write((tx) => deleteResponses(tx, clock.now() - KEPT_MS)),
    everyMs: DELETE_EVERY_MS,
    onError: (error) => log.warn({ err: error }, 'failed to delete old responses of requests with an Idempotency-Key'),
  });

  return {
    find: (key: CallerKey): Promise<KeptResponse | undefined> => findResponse(state.db, key, clock.now() - KEPT_MS),

    /** Runs in the transaction of the change. Of two requests with the same key, the second is rolled back. */
    async save(tx: Db, key: CallerKey, response: KeptResponse): Promise<void> {
      const now = clock.now();
      if (!(await insertResponse(tx, key, response, { now, after: now - KEPT_MS })))
        throw new AppError('conflict', 'A request with this Idempotency-Key was completed at the same time; repeat it');
    },

    start: deletion.start,
    close: deletion.close,
  };
}
