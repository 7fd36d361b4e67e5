import type { Logger } from 'pino';
import type { Actor } from '../../audit/activity.ts';
import { createBackgroundLoop } from '../../kernel/background-loop.ts';
import { type Clock, SECOND_MS } from '../../kernel/clock.ts';
import { addDays, toUtcDay } from '../../kernel/days.ts';
import type { State } from '../../state/state.ts';
import type { Intake } from '../metering/intake.ts';
import { findDaysToLock } from './lock-days.ts';
import type { Rating } from './rating.ts';
import { listDays } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  intake: Intake;
  rating: Rating;
  /** How many days after its end a day stays open for late usage. */
  lockAfterDays: number;
}

/** Keeps today's costs less than a minute behind, including the time that rating takes. */
const INTERVAL_MS = 20 * SECOND_MS;

const ACTOR: Actor = { type: 'system', id: 'rating', details: 'pilothouse, rating of metered usage' };

/** Rates changed days and locks overdue days in the background. */
export function createRater({ state, clock, log, intake, rating, lockAfterDays }: Options) {
  let hasRatedAll = false;

  async function run(): Promise<void> {
    await intake.recoverUnfinished();
    // The first pass rates all open days: the previous process may have been killed while rating.
    await (hasRatedAll ? rating.rateChanged() : rating.rateAll());
    hasRatedAll = true;
    await lockOverdueDays();
  }

  async function lockOverdueDays(): Promise<void> {
    const now = clock.now();
    const openDays = await listDays(state.db, { to: addDays(toUtcDay(now), -1) }, 'open');
    for (const [organizationId, through] of findDaysToLock(openDays, { now, lockAfterDays }))
      await rating.lockDays(ACTOR, organizationId, through);
  }

  const loop = createBackgroundLoop({
    run,
    everyMs: INTERVAL_MS,
    onError: (error) => log.warn({ reason: (error as Error).message, err: error }, 'failed to rate usage; retrying'),
  });

  return {
    start: loop.start,
    /** Runs one pass; throws when it fails. */
    run,
    close: loop.close,
  };
}
