import { sumDecimals } from '../../../kernel/numbers/decimal.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { State } from '../../../platform/state/state.ts';
import { entityKey } from '../entity.ts';
import { METRICS, toMetric } from '../meter.ts';
import type { EngineBinding, Mismatch } from '../metering/engine-binding.ts';
import { calculateCostMicros } from '../prices/cost-micros.ts';
import type { PriceBook } from '../prices/price-book.ts';
import { listPriceBooks } from '../prices/store.ts';
import { listCosts } from '../store.ts';
import { type LedgerEntry, meteredEntityKey, type UsageTotal } from './ledger.ts';
import { type DayRange, listBookedOn, listDays, listEntriesOfUsage } from './store.ts';
import { hasAllEvents, readDayUsage } from './usage-totals.ts';

/** A value in the ledger that does not match the usage events. */
interface Difference {
  organizationId: string;
  date: Day;
  /** Entity and meter; marked `(record)` when the cost record is not the sum of its entries. */
  what: string;
  ledger: string;
  events: string;
}

export interface LedgerCheck {
  days: number;
  /** The number of compared combinations of entity and meter. */
  lines: number;
  /** Days that are not rated yet; they are not compared. */
  waiting: number;
  /** Days whose events the engine does not have; they are not compared. */
  mismatches: { organizationId: string; date: Day; mismatch: Mismatch }[];
  differences: Difference[];
}

/** Recomputes the ledger from the usage events, independently of rating, and compares. Changes nothing. */
export async function checkLedger(
  state: Pick<State, 'db'>,
  engine: Engine,
  range: DayRange,
  binding: EngineBinding,
): Promise<LedgerCheck> {
  const check: LedgerCheck = { days: 0, lines: 0, waiting: 0, mismatches: [], differences: [] };
  const books = await listPriceBooks(state.db);
  const days = (await listDays(state.db, range)).filter(({ revision }) => revision > 0);
  const engineMismatch = days.length === 0 ? undefined : await binding.inspect();
  for (const { organizationId, date, revision, ratedRevision, events, mismatch = engineMismatch } of days) {
    if (mismatch) {
      check.mismatches.push({ organizationId, date, mismatch });
      continue;
    }
    if (revision > ratedRevision) {
      check.waiting++;
      continue;
    }
    const report = (what: string, ledger: string, events: string) =>
      check.differences.push({ organizationId, date, what, ledger, events });
    const entries = await listEntriesOfUsage(state.db, organizationId, date);
    const usage = await readDayUsage(engine, organizationId, date);
    const { totals } = usage;
    if (!hasAllEvents({ events }, usage, entries)) {
      check.mismatches.push({ organizationId, date, mismatch: (await binding.isEmpty()) ? 'empty' : 'older' });
      continue;
    }
    compareEntries(totals, entries, books, report);
    await compareRecords(state, organizationId, date, report);
    check.days++;
    check.lines += totals.length;
  }
  return check;
}

type Report = (what: string, ledger: string, events: string) => void;

function compareEntries(
  totals: readonly UsageTotal[],
  entries: readonly LedgerEntry[],
  books: readonly PriceBook[],
  report: Report,
): void {
  const used = new Map(totals.map((total) => [meteredEntityKey(total), total]));
  const booked = new Map<string, LedgerEntry[]>();
  for (const entry of entries)
    booked.set(meteredEntityKey(entry), [...(booked.get(meteredEntityKey(entry)) ?? []), entry]);
  for (const key of new Set([...used.keys(), ...booked.keys()])) {
    const group = booked.get(key) ?? [];
    const quantity = used.get(key)?.quantity ?? '0';
    const sum = sumDecimals(group.map((entry) => entry.quantity));
    if (sum !== quantity) report(key, `quantity ${sum}`, `quantity ${quantity}`);
    const [first] = group;
    if (!first) continue;
    const micros = group.reduce((total, entry) => total + entry.micros, 0);
    const expected = calculateCostMicros(first.meter, quantity, first.unitPrice);
    if (micros !== expected) report(key, `${micros} micro-CHC`, `${expected} micro-CHC`);
    const book = books.find(({ version }) => version === first.priceVersion);
    if (!book?.prices.some(({ meter, price }) => meter === first.meter && price === first.unitPrice))
      report(key, `price ${first.unitPrice}`, `not a price of version ${first.priceVersion}`);
  }
}

/** The record of a metered entity must be the sum of its entries. Records without entries are imported. */
async function compareRecords(
  state: Pick<State, 'db'>,
  organizationId: string,
  date: Day,
  report: Report,
): Promise<void> {
  const sums = new Map<string, number>();
  for (const entry of await listBookedOn(state.db, organizationId, date)) {
    const key = `${entityKey(entry)} ${toMetric(entry.meter)}`;
    sums.set(key, (sums.get(key) ?? 0) + entry.micros);
  }
  const metered = new Set([...sums.keys()].map((key) => key.slice(0, key.lastIndexOf(' '))));
  const records = await listCosts(state.db, organizationId, { from: date, to: date });
  for (const key of metered) {
    const record = records.find((cost) => entityKey(cost) === key);
    for (const metric of METRICS) {
      const [recorded, expected] = [record?.micros[metric] ?? 0, sums.get(`${key} ${metric}`) ?? 0];
      if (recorded !== expected) report(`${key} ${metric} (record)`, `${recorded} micro-CHC`, `${expected} micro-CHC`);
    }
  }
}
