import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { type Day, toUtcDay } from '../../kernel/days.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import { readLockedThrough } from '../metering/store.ts';
import type { RateDay } from './rate-day.ts';
import { listDays, setLocked, type UsageDay } from './store.ts';

interface Options {
  state: State;
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
    if (through >= toUtcDay(clock.now()))
      rejectViolations([{ path: 'through', rule: 'The day must be over', value: through }]);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      for (const { date } of await listDays(state.db, { organizationId, to: through }, 'changed'))
        await rateDay(organizationId, date);
      const locked = await tryToLock(actor, organizationId, through);
      if (locked !== undefined) return locked;
    }
    throw new AppError('unavailable', `Usage keeps arriving for days up to ${through}; try again`);
  };
}

/** Days that were rated more recently are not locked automatically: their usage may be in the middle of an import. */
const QUIET_MS = 60 * MINUTE_MS;

/**
 * The last day to lock for each organization. Locking a day locks all days before it, so the first day that is not due
 * ends the search. `openDays` are in the order of organization and date.
 */
export function findDaysToLock(
  openDays: readonly UsageDay[],
  { now, lockAfterDays }: { now: number; lockAfterDays: number },
): Map<string, Day> {
  const lastDays = new Map<string, Day>();
  const done = new Set<string>();
  for (const { organizationId, date, ratedAt } of openDays) {
    if (done.has(organizationId)) continue;
    const isOverdue = Date.parse(`${date}T00:00:00Z`) + (1 + lockAfterDays) * DAY_MS <= now;
    const isQuiet = ratedAt > 0 && ratedAt + QUIET_MS <= now;
    if (isOverdue && isQuiet) lastDays.set(organizationId, date);
    else done.add(organizationId);
  }
  return lastDays;
}
