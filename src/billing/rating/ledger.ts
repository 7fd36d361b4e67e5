import type { Day } from '../../kernel/days.ts';
import { AppError } from '../../kernel/errors.ts';
import type { EntityType, Metric } from '../cost.ts';
import { entityKey } from '../entities.ts';
import { microsOf } from '../price.ts';
import { millionths, quantityOf } from './quantity.ts';

/** What was used of one meter by one entity on one day, as the events say. */
export interface Total {
  entityType: EntityType;
  entityId: string;
  meter: Metric;
  /** As `quantityOf` writes it. */
  quantity: string;
}

/** One line of the ledger. Booked on another day than it was used on, it is an adjustment. */
export interface LedgerEntry extends Total {
  date: Day;
  usageDate: Day;
  priceVersion: number;
  unitPrice: string;
  micros: number;
}

export interface UnitPrice {
  priceVersion: number;
  unitPrice: string;
}

interface Booking {
  /** The day of the usage. */
  day: Day;
  totals: readonly Total[];
  /** All entries for usage of that day, on whichever date. */
  booked: readonly LedgerEntry[];
  /** Such an entry, and such a record, never changes again. */
  isFinal(date: Day, entity: Omit<Total, 'quantity'>): boolean;
  /** Where late usage of an entity goes. */
  openDayOf(entity: Omit<Total, 'quantity'>): Day;
  priceOf(total: Total): UnitPrice;
}

export interface Changes {
  put: LedgerEntry[];
  remove: LedgerEntry[];
}

export const lineKey = ({ entityType, entityId, meter }: Omit<Total, 'quantity'>): string =>
  `${entityKey(entityType, entityId)} ${meter}`;

/**
 * What has to change so that the ledger holds exactly what was used on a day. What is final stays; the rest of the
 * quantity and of the money stands in one entry, on the day itself while it is open, on the first open day after that.
 * The money is that of the whole day less what is booked, so nothing is lost by rounding twice.
 */
export function bookDay({ day, totals, booked, isFinal, openDayOf, priceOf }: Booking): Changes {
  const changes: Changes = { put: [], remove: [] };
  const entries = groupByLine(booked);
  const all = new Map(totals.map((total) => [lineKey(total), total]));
  for (const [key, [entry]] of entries) if (entry && !all.has(key)) all.set(key, { ...entry, quantity: '0' });

  for (const [key, total] of all) {
    const [final, open] = parted(entries.get(key) ?? [], ({ date }) => isFinal(date, total));
    const price = priceOf(total);
    // A day keeps the price it was first rated at, unless a new version of the book says otherwise.
    const kept = final[0] ?? open.find(({ priceVersion }) => priceVersion === price.priceVersion) ?? price;
    const micros = microsOf(total.meter, total.quantity, kept.unitPrice);
    if (!Number.isSafeInteger(micros))
      throw new AppError('internal', `${day} ${key}: ${total.quantity} costs more than a bill can hold`);
    const isLate = isFinal(day, total);
    const rest: LedgerEntry = {
      entityType: total.entityType,
      entityId: total.entityId,
      meter: total.meter,
      date: isLate ? openDayOf(total) : day,
      usageDate: day,
      quantity: final.length === 0 ? total.quantity : less(total, final),
      priceVersion: kept.priceVersion,
      unitPrice: kept.unitPrice,
      micros: micros - final.reduce((sum, entry) => sum + entry.micros, 0),
    };
    const isNeeded = !isLate || rest.micros !== 0 || rest.quantity !== '0';
    const same = isNeeded ? open.find((entry) => isSame(entry, rest)) : undefined;
    // In its own place an entry is replaced; it need not be removed first.
    changes.remove.push(...open.filter((entry) => entry !== same && !(isNeeded && entry.date === rest.date)));
    if (isNeeded && !same) changes.put.push(rest);
  }
  return changes;
}

function groupByLine(booked: readonly LedgerEntry[]): Map<string, LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry[]>();
  for (const entry of booked) {
    const key = lineKey(entry);
    const same = entries.get(key);
    if (same) same.push(entry);
    else entries.set(key, [entry]);
  }
  return entries;
}

const less = (total: Total, final: readonly Total[]): string =>
  quantityOf(final.reduce((rest, { quantity }) => rest - millionths(quantity), millionths(total.quantity)));

function parted<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

const isSame = (a: LedgerEntry, b: LedgerEntry): boolean =>
  a.date === b.date &&
  a.quantity === b.quantity &&
  a.micros === b.micros &&
  a.priceVersion === b.priceVersion &&
  a.unitPrice === b.unitPrice;
