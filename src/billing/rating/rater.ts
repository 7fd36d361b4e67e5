import type { Logger } from 'pino';
import type { Actor } from '../../audit/activity.ts';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../../kernel/clock.ts';
import { addDays, type Day, toUtcDay } from '../../kernel/days.ts';
import type { State } from '../../state/state.ts';
import type { Intake } from '../metering/intake.ts';
import type { Rating } from './rating.ts';
import { listDays, type UsageDay } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  intake: Intake;
  rating: Rating;
  /** How long after its end a day stays open for late usage. */
  lockAfterDays: number;
}

/** With the time that rating itself takes, today's bill is well under a minute old. */
const EVERY_MS = 20 * SECOND_MS;
/** A day of long ago that is being imported right now is not closed in the middle of it. */
const QUIET_MS = 60 * MINUTE_MS;

const ACTOR: Actor = { type: 'system', id: 'rating', details: 'pilothouse, rating of metered usage' };

export type Rater = ReturnType<typeof createRater>;

/** Rates what has changed, again and again, and closes days whose time is over. */
export function createRater({ state, clock, log, intake, rating, lockAfterDays }: Options) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;
  let hasRatedAll = false;

  async function turn(): Promise<void> {
    await intake.resume();
    // The first time also what seems to be up to date: whoever was here before may have been killed.
    await (hasRatedAll ? rating.rateDirty() : rating.rateAll());
    hasRatedAll = true;
    await lockOverdue();
  }

  /** Closing a day closes those before it too: it waits for every one of them. */
  async function lockOverdue(): Promise<void> {
    const now = clock.now();
    const last = new Map<string, Day>();
    const waiting = new Set<string>();
    for (const day of await listDays(state.db, { to: addDays(toUtcDay(now), -1) })) {
      const { organizationId, date, isLocked } = day;
      if (isLocked || waiting.has(organizationId)) continue;
      if (isOverdue(day, now)) last.set(organizationId, date);
      else waiting.add(organizationId);
    }
    for (const [organizationId, through] of last) await rating.lock(ACTOR, organizationId, through);
  }

  /** One that was never rated has only just begun to arrive. */
  const isOverdue = ({ date, ratedAt }: UsageDay, now: number): boolean =>
    Date.parse(`${date}T00:00:00Z`) + (1 + lockAfterDays) * DAY_MS <= now && ratedAt > 0 && ratedAt + QUIET_MS <= now;

  async function runOnce(): Promise<void> {
    try {
      await turn();
    } catch (error) {
      log.warn({ reason: (error as Error).message, err: error }, 'usage could not be rated; it is tried again');
    }
  }

  function next(): void {
    if (isClosed) return;
    running = runOnce().finally(() => {
      running = undefined;
      if (isClosed) return;
      timer = setTimeout(next, EVERY_MS);
      timer.unref();
    });
  }

  return {
    /** Begins in the background; answers at once. */
    start: next,
    /** One turn, now; what a timer does otherwise. */
    turn,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
