import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import { addDays, type Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { LeasedState } from '../../../platform/leases/session.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { Entities } from '../entities.ts';
import { type EntityMap, type EntityRef, entityKey } from '../entity.ts';
import type { EngineBinding, Mismatch } from '../metering/engine-binding.ts';
import { findLease, readLockedThrough } from '../metering/store.ts';
import { getApplicablePrice, getApplicablePriceBook } from '../prices/applicable-price.ts';
import type { PriceBook } from '../prices/price-book.ts';
import { listPriceBooks } from '../prices/store.ts';
import { bookDay, type LedgerEntry, type UnitPrice, type UsageTotal } from './ledger.ts';
import { setMismatch } from './mismatch-store.ts';
import { readFinalDays, readOpenDays } from './open-days.ts';
import { rebuildRecords } from './records.ts';
import { removeImported } from './remove-imported.ts';
import { deleteEntries, findDay, listEntriesOfUsage, putEntries, setRated, type UsageDay } from './store.ts';
import { type DayUsage, hasAllEvents, readDayUsage } from './usage-totals.ts';

interface Options {
  state: LeasedState;
  engine: Engine;
  binding: EngineBinding;
  organizations: Organizations;
  entities: Entities;
  /** Called with the time that rating a day took. */
  observe?: ((seconds: number) => void) | undefined;
}

interface RateDayOptions {
  findEntities?: Entities['find'];
  /** Removes open imported records of the day in the same transaction, for costs that were provisional. */
  replacesImported?: boolean;
}

/** Returns the number of ledger entries that changed. */
export type RateDay = (organizationId: string, date: Day, options?: RateDayOptions) => Promise<number>;

/**
 * Rating a day again gives the same ledger, so any node may rate it at any time, and after any crash. A day whose events
 * the engine does not have is not rated: its ledger stays as it is, and the mismatch is recorded.
 */
export function createDayRating(options: Options): RateDay {
  const { state, engine, binding, organizations, entities, observe } = options;

  /** Undefined if the engine has all events of the day. Accepted events are never removed, so totals only grow. */
  async function findMismatch(day: UsageDay, usage: DayUsage, booked: readonly LedgerEntry[]) {
    if (hasAllEvents(day, usage, booked)) return undefined;
    return (await binding.isEmpty()) ? 'empty' : 'older';
  }

  async function recordMismatch(day: UsageDay, mismatch: Mismatch): Promise<number> {
    // Writes only what changed: the day is tried again with every pass.
    if (day.mismatch !== mismatch || day.revision <= day.ratedRevision)
      await state.write(async (tx) => {
        await organizations.lock(tx, day.organizationId);
        const current = await findDay(tx, day.organizationId, day.date);
        // Another node rated a later state of the day, with more events than were read here.
        if (!current || current.ratedRevision > day.revision) return;
        await setMismatch(tx, day, mismatch);
      });
    return 0;
  }

  return async (organizationId, date, { findEntities = entities.find, replacesImported = false } = {}) => {
    const startedAt = performance.now();
    const day = await findDay(state.db, organizationId, date);
    if (!day) return 0;
    const engineMismatch = await binding.findMismatch();
    if (engineMismatch) return recordMismatch(day, engineMismatch);
    // Read before the ledger, so that a change in between is detected.
    const { costRevision } = await organizations.get(organizationId);
    const readStore = async () => {
      // Sends the engine's query first: reading the store may block the thread.
      await yieldToEventLoop();
      return readLedger(state.db, organizationId, date);
    };
    const [usage, prefetched] = await Promise.all([readDayUsage(engine, organizationId, date), readStore()]);
    const { totals } = usage;
    const mismatch = await findMismatch(day, usage, prefetched.booked);
    if (mismatch) return recordMismatch(day, mismatch);
    const entityMap = await findEntities(organizationId, listEntities([...totals, ...prefetched.booked]));
    const now = await state.now();
    const changedEntries = await state.write(async (tx) => {
      await binding.require(tx);
      const organization = await organizations.lock(tx, organizationId);
      const current = await findDay(tx, organizationId, date);
      // Another node rated a later state of the day.
      if (!current || current.ratedRevision > day.revision) return 0;
      const removed = replacesImported ? await removeImported(tx, organizationId, date) : 0;
      const isUnchanged =
        removed === 0 && current.revision === day.revision && organization.costRevision === costRevision;
      const ledger = isUnchanged ? prefetched : await readLedger(tx, organizationId, date);
      const { lockedThrough, booked, priceBook, isFinal } = ledger;
      const late = [...totals, ...booked].filter((line) => isFinal(date, line));
      const firstOpenDay = addDays([lockedThrough, date].sort()[1] ?? date, 1);
      const changes = bookDay({
        day: date,
        totals,
        booked,
        isFinal,
        getOpenDay: await readOpenDays(tx, organizationId, firstOpenDay, late),
        getPrice: createPriceLookup(priceBook, organization.tier, entityMap),
      });
      const changed = await storeChanges(tx, organizationId, changes, lockedThrough, entityMap);
      if (changed + removed > 0) await organizations.costsChanged(tx, organizationId);
      const isChanged = changed > 0 || day.revision !== current.ratedRevision;
      await markRated(tx, current, {
        revision: day.revision,
        events: await countEvents(tx, current, usage),
        ratedAt: isChanged ? now : undefined,
      });
      return changed;
    });
    observe?.((performance.now() - startedAt) / 1000);
    return changedEntries;
  };
}

/** Stores the entries and rebuilds their cost records. Returns the number of entries. */
async function storeChanges(
  tx: Db,
  organizationId: string,
  { put, remove }: ReturnType<typeof bookDay>,
  lockedThrough: Day,
  entities: EntityMap,
): Promise<number> {
  await deleteEntries(tx, organizationId, remove, lockedThrough);
  await putEntries(tx, organizationId, put, lockedThrough);
  const changed = [...put, ...remove];
  if (changed.length > 0) await rebuildRecords(tx, organizationId, changed, entities);
  return changed.length;
}

/** Intake counts the events of a batch after it has stored them: until then those in `usage` would count twice. */
async function countEvents(tx: Db, current: UsageDay, usage: DayUsage): Promise<number | undefined> {
  const lease = await findLease(tx, current.organizationId);
  if (lease?.days.includes(current.date)) return current.events;
  return Math.max(current.events ?? 0, usage.events);
}

/** Writes only what changed. `ratedAt` is undefined if rating confirmed the ledger. */
async function markRated(
  tx: Db,
  current: UsageDay,
  { revision, ratedAt, events }: { revision: number; ratedAt: number | undefined; events: number | undefined },
): Promise<void> {
  if (ratedAt !== undefined || events !== current.events)
    await setRated(tx, current, { revision, ratedAt: ratedAt ?? current.ratedAt, events });
}

/** Everything besides the usage that decides how a day is booked. */
async function readLedger(db: Db, organizationId: string, date: Day) {
  const lockedThrough = await readLockedThrough(db, organizationId);
  const booked = await listEntriesOfUsage(db, organizationId, date);
  const priceBook = getApplicablePriceBook(await listPriceBooks(db), date);
  const dates = [date, ...booked.map((entry) => entry.date)];
  const isFinal = await readFinalDays(db, organizationId, lockedThrough, dates);
  return { lockedThrough, booked, priceBook, isFinal };
}

/** Each entity once. */
const listEntities = (lines: readonly EntityRef[]): EntityRef[] => [
  ...new Map(lines.map((line) => [entityKey(line), line])).values(),
];

/** Looks up each combination of meter, entity type and region once. */
function createPriceLookup(book: PriceBook, tier: string, entities: EntityMap): (total: UsageTotal) => UnitPrice {
  const prices = new Map<string, UnitPrice>();
  const hasRegions = book.prices.some(({ region }) => region !== undefined);
  return (total) => {
    const { meter, entityType } = total;
    const region = hasRegions ? entities.get(entityKey(total))?.region : undefined;
    const key = `${meter} ${entityType} ${region}`;
    const price = prices.get(key) ?? {
      priceVersion: book.version,
      unitPrice: getApplicablePrice(book, { meter, entityType, tier, region }),
    };
    prices.set(key, price);
    return price;
  };
}
