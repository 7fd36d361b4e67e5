import { AppError } from '../../kernel/errors.ts';
import { createFairQueue } from '../../kernel/tasks/queue.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { QueryOptions } from './engine.ts';
import { unavailable } from './failures.ts';

const MAX_WAIT_MS = 20 * SECOND_MS;
const MAX_WAITING_PER_ORGANIZATION = 200;
/** The share of the engine that one organization can occupy; the rest stays free for the others. */
const ORGANIZATION_SHARE = 0.75;
/** The key of Pilothouse's own queries, such as those of rating. Their number is limited where they are made. */
const OWN_QUERIES = '';

/** Lets the queries of organizations take turns, so that many slow queries of one do not delay those of another. */
export function createTurns(concurrency: number) {
  const queue = createFairQueue({
    concurrency,
    concurrencyPerKey: Math.max(1, Math.floor(concurrency * ORGANIZATION_SHARE)),
    maxWaitMs: MAX_WAIT_MS,
    onTimeout: () => unavailable('The engine is busy', undefined, 5),
  });

  return {
    /** Runs `work` when it is the turn of the organization. */
    async wait<T>(
      { organizationId, signal }: Pick<QueryOptions, 'organizationId' | 'signal'>,
      work: () => Promise<T>,
    ): Promise<T> {
      if (organizationId !== undefined && queue.countWaiting(organizationId) >= MAX_WAITING_PER_ORGANIZATION)
        throw tooManyWaiting();
      return queue.run(organizationId ?? OWN_QUERIES, work, signal);
    },
  };
}

const tooManyWaiting = (): AppError =>
  new AppError('too_many_requests', `This organization already has ${MAX_WAITING_PER_ORGANIZATION} waiting queries`, {
    retryAfterSeconds: 5,
  });
