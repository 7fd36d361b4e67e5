import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { addDays, toUtcDay } from '../../../kernel/time/days.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Actor } from '../../audit/activity.ts';
import type { EngineOwner } from '../metering/engine-owner.ts';
import type { Intake } from '../metering/intake.ts';
import type { LockClock } from './lock-clock.ts';
import { findDaysToLock } from './lock-days.ts';
import type { Rating } from './rating.ts';
import { listDays, listNewestDays } from './store.ts';
import type { UsageWarnings } from './usage-warnings.ts';

interface Options {
  state: State;
  log: Pick<Logger, 'warn'>;
  intake: Intake;
  rating: Rating;
  owner: EngineOwner;
  lockClock: LockClock;
  warnings: UsageWarnings;
  /** How many days after its end a day stays open for late usage. */
  lockAfterDays: number;
}

/** Keeps today's costs less than a minute behind, including the time that rating takes. */
const INTERVAL_MS = 20 * SECOND_MS;

const ACTOR: Actor = { type: 'system', id: 'rating', details: 'pilothouse, rating of metered usage' };

/** Rates changed days and locks overdue days in the background. */
export function createRater({ state, log, intake, rating, owner, lockClock, warnings, lockAfterDays }: Options) {
  /** The losses of the engine when all open days were rated. */
  let ratedAllAfter: number | undefined;

  async function run(): Promise<void> {
    // Another node owns the engine, so this one has no current events.
    if (!owner.isOwner()) return;
    try {
      await intake.recoverUnfinished();
      if (ratedAllAfter === owner.countLosses()) await rating.rateChanged();
      else await rateAll();
      await lockOverdueDays();
    } finally {
      await warnings.report();
    }
  }

  /** The first pass rates all open days: the previous owner of the engine may have been killed while rating. */
  async function rateAll(): Promise<void> {
    const losses = owner.countLosses();
    await rating.addUnknownDays();
    await rating.rateAll();
    ratedAllAfter = losses;
  }

  async function lockOverdueDays(): Promise<void> {
    const { now, isConfirmed } = await lockClock.pass();
    const openDays = await listDays(state.db, { to: addDays(toUtcDay(now), -1) }, 'open');
    const organizationIds = [...new Set(openDays.map(({ organizationId }) => organizationId))];
    const { lastDays, unconfirmedDays } = findDaysToLock(openDays, {
      now,
      isClockConfirmed: isConfirmed,
      lockAfterDays,
      newestDays: isConfirmed ? new Map() : await listNewestDays(state.db, organizationIds),
    });
    warnings.setUnconfirmedDays(unconfirmedDays);
    for (const [organizationId, through] of lastDays) await rating.lockDays(ACTOR, organizationId, through);
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
