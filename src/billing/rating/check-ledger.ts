import type { Engine } from '../../engine/engine.ts';
import type { Day } from '../../kernel/days.ts';
import type { State } from '../../state/state.ts';
import { METRICS } from '../cost.ts';
import { keyOf } from '../entities.ts';
import { microsOf, type PriceBook } from '../price.ts';
import { allPriceBooks } from '../prices/prices.ts';
import { listCosts } from '../store.ts';
import { type LedgerEntry, lineKey, type Total } from './ledger.ts';
import { millionths, quantityOf } from './quantity.ts';
import type { DayRange } from './rating.ts';
import { listBookedOn, listDays, listEntriesOfUsage } from './store.ts';
import { totalsOf } from './totals.ts';

/** Where the ledger is not what the raw events give. */
export interface Difference {
  organizationId: string;
  date: Day;
  /** Entity and meter, or entity alone where its record is not the sum of its entries. */
  what: string;
  ledger: string;
  events: string;
}

export interface Checked {
  days: number;
  /** Entities and meters that were compared. */
  lines: number;
  /** Days that wait to be rated; they are not compared. */
  waiting: number;
  differences: Difference[];
}

/** Computes the ledger again from the raw events, by another way than rating does, and compares. Changes nothing. */
export async function checkLedger(state: State, engine: Engine, range: DayRange): Promise<Checked> {
  const checked: Checked = { days: 0, lines: 0, waiting: 0, differences: [] };
  const books = await allPriceBooks(state.db);
  for (const { organizationId, date, revision, ratedRevision } of await listDays(state.db, range)) {
    if (revision > ratedRevision) {
      checked.waiting++;
      continue;
    }
    const find = (what: string, ledger: string, events: string) =>
      checked.differences.push({ organizationId, date, what, ledger, events });
    const entries = await listEntriesOfUsage(state.db, organizationId, date);
    const totals = await totalsOf(engine, organizationId, date);
    compare(totals, entries, books, find);
    await compareRecords(state, organizationId, date, find);
    checked.days++;
    checked.lines += totals.length;
  }
  return checked;
}

type Find = (what: string, ledger: string, events: string) => void;

function compare(
  totals: readonly Total[],
  entries: readonly LedgerEntry[],
  books: readonly PriceBook[],
  find: Find,
): void {
  const used = new Map(totals.map((total) => [lineKey(total), total]));
  const booked = new Map<string, LedgerEntry[]>();
  for (const entry of entries) booked.set(lineKey(entry), [...(booked.get(lineKey(entry)) ?? []), entry]);
  for (const key of new Set([...used.keys(), ...booked.keys()])) {
    const own = booked.get(key) ?? [];
    const quantity = used.get(key)?.quantity ?? '0';
    const sum = quantityOf(own.reduce((all, entry) => all + millionths(entry.quantity), 0n));
    if (sum !== quantity) find(key, `quantity ${sum}`, `quantity ${quantity}`);
    const [first] = own;
    if (!first) continue;
    const micros = own.reduce((all, entry) => all + entry.micros, 0);
    const right = microsOf(first.meter, quantity, first.unitPrice);
    if (micros !== right) find(key, `${micros} micro-CHC`, `${right} micro-CHC`);
    const book = books.find(({ version }) => version === first.priceVersion);
    if (!book?.prices.some(({ meter, price }) => meter === first.meter && price === first.unitPrice))
      find(key, `price ${first.unitPrice}`, `not a price of version ${first.priceVersion}`);
  }
}

/** A record that the ledger makes is the sum of its entries; one that was imported as closed is what was imported. */
async function compareRecords(state: State, organizationId: string, date: Day, find: Find): Promise<void> {
  const sums = new Map<string, number>();
  for (const entry of await listBookedOn(state.db, organizationId, date)) {
    const key = `${keyOf(entry)} ${entry.meter}`;
    sums.set(key, (sums.get(key) ?? 0) + entry.micros);
  }
  const metered = new Set([...sums.keys()].map((key) => key.slice(0, key.lastIndexOf(' '))));
  const records = await listCosts(state.db, organizationId, date, date);
  for (const key of metered) {
    const record = records.find((cost) => keyOf(cost) === key);
    for (const metric of METRICS) {
      const [shown, right] = [record?.micros[metric] ?? 0, sums.get(`${key} ${metric}`) ?? 0];
      if (shown !== right) find(`${key} ${metric} (record)`, `${shown} micro-CHC`, `${right} micro-CHC`);
    }
  }
}
