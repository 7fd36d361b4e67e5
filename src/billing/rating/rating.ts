import { setImmediate } from 'node:timers/promises';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Clock } from '../../kernel/clock.ts';
import { addDays, type Day, toUtcDay } from '../../kernel/days.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import type { Db } from '../../state/tables.ts';
import { type Entities, type EntityMap, keyOf } from '../entities.ts';
import { lockedThrough } from '../metering/store.ts';
import { bookOf, priceOf } from '../prices/price-book.ts';
import { allPriceBooks } from '../prices/prices.ts';
import { bookDay, type UnitPrice } from './ledger.ts';
import { finality, openDays } from './open-days.ts';
import { type Checked, checkLedger } from './recompute.ts';
import { rebuildRecords } from './records.ts';
import {
  deleteEntries,
  findDay,
  listDays,
  listDirtyDays,
  listEntriesOfUsage,
  lockDays,
  putEntries,
  setRated,
  type UsageDay,
} from './store.ts';
import { totalsOf } from './totals.ts';

interface Options {
  state: State;
  engine: Engine;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  entities: Entities;
  /** Told how long each day took. */
  observe?: ((seconds: number) => void) | undefined;
}

/** What is booked of a day's usage, and what more may be. */
async function readBooks(db: Db, organizationId: string, date: Day) {
  const through = await lockedThrough(db, organizationId);
  const booked = await listEntriesOfUsage(db, organizationId, date);
  const book = bookOf(await allPriceBooks(db), date);
  const isFinal = await finality(db, organizationId, through, [date, ...booked.map((entry) => entry.date)]);
  return { through, booked, book, isFinal };
}

/** How often locking waits for usage that arrives while it happens. */
const LOCK_ATTEMPTS = 5;

export type Rating = ReturnType<typeof createRating>;

/**
 * Makes the ledger what the events say. Rating a day again gives the same ledger, so it may be done at any time, by any
 * node, and after any crash.
 */
export function createRating({ state, engine, clock, audit, organizations, entities, observe }: Options) {
  /** Answers how many entries of the ledger it changed. */
  async function rateDay(organizationId: string, date: Day, entitiesOf = entities.of): Promise<number> {
    const startedAt = performance.now();
    const day = await findDay(state.db, organizationId, date);
    if (!day) return 0;
    // Before the books are read, so that nothing changes in them unnoticed.
    const { costRevision } = await organizations.get(organizationId);
    const reading = async () => {
      // The engine gets its question first: reading the store may not let go of the thread.
      await setImmediate();
      return { known: await entitiesOf(organizationId), read: await readBooks(state.db, organizationId, date) };
    };
    const [totals, { known, read }] = await Promise.all([totalsOf(engine, organizationId, date), reading()]);
    const changed = await state.write(async (tx) => {
      const organization = await organizations.take(tx, organizationId);
      const now = await findDay(tx, organizationId, date);
      // Somebody rated a later state of the day meanwhile.
      if (!now || now.ratedRevision > day.revision) return 0;
      const isUnchanged = now.revision === day.revision && organization.costRevision === costRevision;
      const books = isUnchanged ? read : await readBooks(tx, organizationId, date);
      const { through, booked, book, isFinal } = books;
      const late = [...totals, ...booked].filter((one) => isFinal(date, one));
      const prices = new Map<string, UnitPrice>();
      const isRegional = book.prices.some(({ region }) => region !== undefined);
      const { put, remove } = bookDay({
        day: date,
        totals,
        booked,
        isFinal,
        openDayOf: await openDays(tx, organizationId, addDays(through > date ? through : date, 1), late),
        priceOf: (total) => {
          const { meter, entityType } = total;
          const region = isRegional ? known.get(keyOf(total))?.region : undefined;
          const key = `${meter} ${entityType} ${region}`;
          const price = prices.get(key) ?? {
            priceVersion: book.version,
            unitPrice: priceOf(book, { meter, entityType, tier: organization.tier, region }),
          };
          prices.set(key, price);
          return price;
        },
      });
      await deleteEntries(tx, organizationId, remove, through);
      await putEntries(tx, organizationId, put, through);
      const changed = [...put, ...remove];
      if (changed.length > 0) {
        await rebuildRecords(tx, organizationId, changed, known);
        await organizations.costsChanged(tx, organizationId);
      }
      const isNews = changed.length > 0 || day.revision !== now.ratedRevision;
      if (isNews) await setRated(tx, day, day.revision, clock.now());
      return changed.length;
    });
    observe?.((performance.now() - startedAt) / 1000);
    return changed;
  }

  /** One that cannot be rated does not keep the others from it. */
  async function rateEach(days: readonly UsageDay[]): Promise<number> {
    let changed = 0;
    const failures: unknown[] = [];
    const readOnce = new Map<string, Promise<EntityMap>>();
    const entitiesOf = (id: string): Promise<EntityMap> => {
      const known = readOnce.get(id) ?? entities.of(id);
      readOnce.set(id, known);
      return known;
    };
    for (const { organizationId, date } of days)
      try {
        changed += await rateDay(organizationId, date, entitiesOf);
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
    return changed;
  }

  return {
    rateDay,

    /** Whether anything that was used on the day is in the ledger. */
    hasUsage: async (organizationId: string, date: Day): Promise<boolean> =>
      (await listEntriesOfUsage(state.db, organizationId, date)).length > 0,

    /** Every day that has changed since it was rated. */
    async rateDirty(organizationId?: string): Promise<number> {
      const days = await listDirtyDays(state.db);
      return rateEach(days.filter((day) => organizationId === undefined || day.organizationId === organizationId));
    },

    /** Also those that seem to be up to date: after a crash they may not be. Locked days when they are asked for. */
    async rateAll({ organizationId, from, to }: DayRange = {}, which: 'open' | 'all' = 'open'): Promise<number> {
      const days = await listDays(state.db, { organizationId, from, to });
      return rateEach(days.filter((day) => which === 'all' || !day.isLocked || day.revision > day.ratedRevision));
    },

    /** Computes it all again and compares; changes nothing. */
    check: (range: DayRange): Promise<Checked> => checkLedger(state, engine, range),

    /** Closes every day up to this one for good. Each is rated a last time if it has to be. */
    async lock(actor: Actor, organizationId: string, through: Day): Promise<number> {
      if (through >= toUtcDay(clock.now()))
        rejectViolations([{ path: 'through', rule: 'The day must be over', value: through }]);
      for (let attempt = 1; ; attempt++) {
        for (const day of await listDays(state.db, { organizationId, to: through }))
          if (day.revision > day.ratedRevision) await rateDay(organizationId, day.date);
        const locked = await tryToLock(actor, organizationId, through);
        if (locked !== undefined) return locked;
        if (attempt === LOCK_ATTEMPTS)
          throw new AppError('unavailable', `Usage keeps arriving for days up to ${through}; try again`);
      }
    },
  };

  /** Undefined when a day has to be rated first. */
  async function tryToLock(actor: Actor, organizationId: string, through: Day): Promise<number | undefined> {
    return state.write(async (tx) => {
      await organizations.take(tx, organizationId);
      if (through <= (await lockedThrough(tx, organizationId))) return 0;
      const open = (await listDays(tx, { organizationId, to: through })).filter(({ isLocked }) => !isLocked);
      if (open.some(({ revision, ratedRevision }) => revision > ratedRevision)) return undefined;
      await lockDays(tx, organizationId, through);
      await organizations.costsChanged(tx, organizationId);
      await audit.record(tx, actor, {
        organizationId,
        type: 'usage_day_lock',
        resource: { type: 'usage_day', id: through },
        after: { lockedThrough: through, days: open.length },
      });
      return open.length;
    });
  }
}

export interface DayRange {
  organizationId?: string | undefined;
  from?: Day | undefined;
  to?: Day | undefined;
}
