import type { Cost } from '../cost.ts';
import { METRICS, type MeterName, toMetric } from '../meter.ts';
import type { LedgerEntry } from '../rating/ledger.ts';

/** A ledger entry of a known cost record. */
export type RecordEntry = Omit<LedgerEntry, 'date' | 'entityType' | 'entityId'>;

/** A cost record with its ledger entries; imported records have none. */
export interface RecordWithEntries {
  cost: Cost;
  entries: readonly RecordEntry[];
}

/** One line of a detailed bill. Imported amounts have no entry. */
export interface Charge {
  cost: Cost;
  meter: MeterName;
  micros: number;
  entry: RecordEntry | undefined;
}

/** The charges of a record add up to exactly its metrics: the amount that no entry explains is a charge too. */
export function listCharges({ cost, entries }: RecordWithEntries): Charge[] {
  const charges: Charge[] = [];
  for (const metric of METRICS) {
    let unexplained = cost.micros[metric];
    for (const entry of entries) {
      if (toMetric(entry.meter) !== metric) continue;
      unexplained -= entry.micros;
      // Entries without quantity and cost are not charges.
      if (entry.micros !== 0 || Number(entry.quantity) !== 0)
        charges.push({ cost, meter: entry.meter, micros: entry.micros, entry });
    }
    if (unexplained !== 0) charges.push({ cost, meter: metric, micros: unexplained, entry: undefined });
  }
  return charges;
}

/** Usage of a day other than the record's, which arrived after that day was locked. */
export const isAdjustment = ({ cost, entry }: Charge): boolean => entry !== undefined && entry.usageDate !== cost.date;
