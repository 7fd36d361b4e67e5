import type { Day } from '../../kernel/days.ts';
import { type Cost, METRICS, type Metric } from '../cost.ts';

/** What the ledger says of one meter of one entity and day. */
export interface Entry {
  meter: Metric;
  /** Another day than the record's: usage that arrived after that day was locked. */
  usageDate: Day;
  /** Decimal text, in the meter's unit. */
  quantity: string;
  priceVersion: number;
  /** Decimal text, CHC for one pricing unit. */
  unitPrice: string;
  micros: number;
}

/** A record of the bill with what it is made of; none for books that came from elsewhere. */
export interface Booked {
  cost: Cost;
  entries: readonly Entry[];
}

/** One line of a detailed bill. Without an entry it is an amount that nobody metered here. */
export interface Charge {
  cost: Cost;
  metric: Metric;
  micros: number;
  entry: Entry | undefined;
}

/** Every charge of a record. They add up to exactly its metrics: what no entry explains is a charge of its own. */
export function chargesOf({ cost, entries }: Booked): Charge[] {
  const charges: Charge[] = [];
  for (const metric of METRICS) {
    let rest = cost.micros[metric];
    for (const entry of entries) {
      if (entry.meter !== metric) continue;
      rest -= entry.micros;
      // A line of the ledger that came to nothing is no charge.
      if (entry.micros !== 0 || Number(entry.quantity) !== 0)
        charges.push({ cost, metric, micros: entry.micros, entry });
    }
    if (rest !== 0) charges.push({ cost, metric, micros: rest, entry: undefined });
  }
  return charges;
}

export const isAdjustment = ({ cost, entry }: Charge): boolean => entry !== undefined && entry.usageDate !== cost.date;
