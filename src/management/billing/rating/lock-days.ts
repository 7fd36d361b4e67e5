import { AppError, rejectViolations } from '../../../kernel/errors.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../../../kernel/time/clock.ts';
import { addDays, type Day, toUtcDay } from '../../../kernel/time/days.ts';
import type { LeasedState } from '../../../platform/leases/session.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { describeMismatch, type Mismatch, REMEDY } from '../metering/engine-binding.ts';
import { readLockedThrough } from '../metering/store.ts';
import type { RateDay } from './rate-day.ts';
import { listDays, setLocked, type UsageDay } from './store.ts';

interface Options {
  state: LeasedState;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  rateDay: RateDay;
}

/** How often locking is retried while usage for the same days arrives. */
const MAX_ATTEMPTS = 5;

/** Locks every day up to and including `through`. Returns the number of days with usage that it locked. */
type LockDays = (actor: Actor, organizationId: string, through: Day) => Promise<number>;

/** Nothing on a locked day changes again: not its ledger entries, not its cost records, not its prices. */
export function createDayLocking({ state, clock, audit, organizations, rateDay }: Options): LockDays {
  /** Undefined when a day has to be rated first. */
  async function tryToLock(actor: Actor, organizationId: string, through: Day): Promise<number | undefined> {
    return state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      if (through <= (await readLockedThrough(tx, organizationId))) return 0;
      const openDays = await listDays(tx, { organizationId, to: through }, 'open');
      for (const { date, mismatch } of openDays) if (mismatch) throw notLocked(date, mismatch);
      if (openDays.some(({ revision, ratedRevision }) => revision > ratedRevision)) return undefined;
      await setLocked(tx, organizationId, through);
      await organizations.costsChanged(tx, organizationId);
      await audit.record(tx, actor, {
        organizationId,
        type: 'usage_day_lock',
        resource: { type: 'usage_day', id: through },
        after: { lockedThrough: through, days: openDays.length },
      });
      return openDays.length;
    });
  }

  return async (actor, organizationId, through) => {
    // By both clocks: a day that is locked too early stays locked.
    if (through >= toUtcDay(Math.min(clock.now(), await state.now())))
      rejectViolations([{ path: 'through', rule: 'The day must be over', value: through }]);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // The first attempt rates all open days, so that the engine is known to have their events.
      const filter = attempt === 1 ? 'openOrChanged' : 'changed';
      for (const { date } of await listDays(state.db, { organizationId, to: through }, filter))
        await rateDay(organizationId, date);
      const locked = await tryToLock(actor, organizationId, through);
      if (locked !== undefined) return locked;
    }
    throw new AppError('unavailable', `Usage keeps arriving for days up to ${through}; try again`);
  };
}

const notLocked = (date: Day, mismatch: Mismatch): AppError =>
  new AppError('conflict', `${date} cannot be locked, because ${describeMismatch(mismatch)}; ${REMEDY}`);

/** Days that were rated more recently are not locked automatically: their usage may be in the middle of an import. */
const QUIET_MS = HOUR_MS;

interface LockConditions {
  /** By the clock of the store. */
  now: number;
  /** Whether the clock of the store made no unexplained jump. */
  isClockConfirmed: boolean;
  lockAfterDays: number;
  /** The last day of each organization with accepted events. */
  newestDays: ReadonlyMap<string, Day>;
}

interface DaysToLock {
  /** The last day to lock for each organization. */
  lastDays: Map<string, Day>;
  /** Days that are due by a clock that is not confirmed, and that nothing else shows to be due. */
  unconfirmedDays: number;
}

/**
 * Locking a day locks all days before it, so the first day that is not due ends the search for its organization.
 * While the clock is not confirmed, events of a day on which the day would be due are evidence that it is over.
 * `openDays` are in the order of organization and date.
 */
export function findDaysToLock(openDays: readonly UsageDay[], conditions: LockConditions): DaysToLock {
  const { now, isClockConfirmed, lockAfterDays, newestDays } = conditions;
  const lastDays = new Map<string, Day>();
  const done = new Set<string>();
  let unconfirmedDays = 0;
  for (const { organizationId, date, ratedAt, mismatch } of openDays) {
    const isOverdue = Date.parse(`${date}T00:00:00Z`) + (1 + lockAfterDays) * DAY_MS <= now;
    const isConfirmed = isClockConfirmed || (newestDays.get(organizationId) ?? '') >= addDays(date, 1 + lockAfterDays);
    if (isOverdue && !isConfirmed) unconfirmedDays++;
    // A time in the future is from before the clock was set back.
    const isQuiet = ratedAt > 0 && Math.abs(now - ratedAt) >= QUIET_MS;
    const isDue = isOverdue && isConfirmed && isQuiet && !mismatch;
    if (isDue && !done.has(organizationId)) lastDays.set(organizationId, date);
    else done.add(organizationId);
  }
  return { lastDays, unconfirmedDays };
}
