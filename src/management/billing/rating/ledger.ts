import { AppError } from '../../../kernel/errors.ts';
import { subtractDecimals, sumDecimals } from '../../../kernel/numbers/decimal.ts';
import type { Day } from '../../../kernel/time/days.ts';
import { type EntityRef, entityKey } from '../entity.ts';
import type { MeterName } from '../meter.ts';
import { calculateCostMicros } from '../prices/cost-micros.ts';

/** One meter of one entity. */
interface MeteredEntity extends EntityRef {
  meter: MeterName;
}

/** The metered usage of one day. */
export interface UsageTotal extends MeteredEntity {
  /** A normalized decimal string, in the unit of the meter. */
  quantity: string;
}

export interface UnitPrice {
  priceVersion: number;
  /** A decimal string, CHC for one pricing unit. */
  unitPrice: string;
}

/** An entry whose `date` is not its `usageDate` is an adjustment. */
export interface LedgerEntry extends UsageTotal, UnitPrice {
  /** The day that is billed. */
  date: Day;
  /** The day of use. */
  usageDate: Day;
  micros: number;
}

interface Booking {
  /** The day of use. */
  day: Day;
  totals: readonly UsageTotal[];
  /** All entries for usage of that day, on any date. */
  booked: readonly LedgerEntry[];
  /** Whether the entries and the record of an entity on a date can no longer change. */
  isFinal(date: Day, entity: EntityRef): boolean;
  /** The day on which late usage of an entity is booked. */
  getOpenDay(entity: EntityRef): Day;
  getPrice(total: UsageTotal): UnitPrice;
}

interface LedgerChanges {
  put: LedgerEntry[];
  remove: LedgerEntry[];
}

export const meteredEntityKey = (line: MeteredEntity): string => `${entityKey(line)} ${line.meter}`;

/**
 * Computes the changes that make the ledger match the usage of a day. Final entries stay. The difference in quantity
 * and cost goes into one entry: on the day itself while it is open, else on the first open day. The cost of that entry
 * is the cost of the whole day minus the cost already booked, so rounding errors do not add up.
 */
export function bookDay(booking: Booking): LedgerChanges {
  const changes: LedgerChanges = { put: [], remove: [] };
  const entries = groupEntries(booking.booked);
  const totals = new Map(booking.totals.map((total) => [meteredEntityKey(total), total]));
  // Usage that is booked but no longer metered has a total of 0.
  for (const [key, [entry]] of entries) if (entry && !totals.has(key)) totals.set(key, { ...entry, quantity: '0' });
  for (const [key, total] of totals) bookTotal(booking, total, entries.get(key) ?? [], changes);
  return changes;
}

/**
 * Whether less usage is metered than was booked. Events are never removed and never negative, so some are missing: the
 * engine is not the one that the ledger was rated from.
 */
export function hasLostUsage(totals: readonly UsageTotal[], booked: readonly LedgerEntry[]): boolean {
  const quantities = new Map(totals.map((total) => [meteredEntityKey(total), total.quantity]));
  return [...groupEntries(booked)].some(([key, entries]) => {
    const quantity = quantities.get(key) ?? '0';
    const isUnchanged = entries.length === 1 && entries[0]?.quantity === quantity;
    return !isUnchanged && subtractQuantities({ quantity }, entries).startsWith('-');
  });
}

function groupEntries(booked: readonly LedgerEntry[]): Map<string, LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry[]>();
  for (const entry of booked) {
    const key = meteredEntityKey(entry);
    const group = entries.get(key);
    if (group) group.push(entry);
    else entries.set(key, [entry]);
  }
  return entries;
}

function bookTotal(
  { day, isFinal, getOpenDay, getPrice }: Booking,
  total: UsageTotal,
  entries: readonly LedgerEntry[],
  changes: LedgerChanges,
): void {
  const final = entries.filter(({ date }) => isFinal(date, total));
  const open = entries.filter(({ date }) => !isFinal(date, total));
  const current = getPrice(total);
  // A day keeps the price it was first rated at until a new price book version applies to it.
  const price = final[0] ?? open.find(({ priceVersion }) => priceVersion === current.priceVersion) ?? current;
  const micros = calculateCostMicros(total.meter, total.quantity, price.unitPrice);
  if (!Number.isSafeInteger(micros))
    throw new AppError(
      'internal',
      `The cost of ${total.quantity} for ${meteredEntityKey(total)} on ${day} exceeds the largest supported amount`,
    );
  const isLate = isFinal(day, total);
  const difference: LedgerEntry = {
    entityType: total.entityType,
    entityId: total.entityId,
    meter: total.meter,
    date: isLate ? getOpenDay(total) : day,
    usageDate: day,
    quantity: final.length === 0 ? total.quantity : subtractQuantities(total, final),
    priceVersion: price.priceVersion,
    unitPrice: price.unitPrice,
    micros: micros - final.reduce((sum, entry) => sum + entry.micros, 0),
  };
  const isNeeded = !isLate || difference.micros !== 0 || difference.quantity !== '0';
  const unchanged = isNeeded ? open.find((entry) => isSameEntry(entry, difference)) : undefined;
  // An entry of the same date is replaced, so it need not be removed.
  changes.remove.push(...open.filter((entry) => entry !== unchanged && !(isNeeded && entry.date === difference.date)));
  if (isNeeded && !unchanged) changes.put.push(difference);
}

const subtractQuantities = (total: Pick<UsageTotal, 'quantity'>, entries: readonly UsageTotal[]): string =>
  subtractDecimals(total.quantity, sumDecimals(entries.map(({ quantity }) => quantity)));

const isSameEntry = (a: LedgerEntry, b: LedgerEntry): boolean =>
  a.date === b.date &&
  a.quantity === b.quantity &&
  a.micros === b.micros &&
  a.priceVersion === b.priceVersion &&
  a.unitPrice === b.unitPrice;
