import { packed } from '../state/packed.ts';
import type { Metric } from './meter.ts';
import type { RecordEntry } from './reports/charge.ts';

const COLUMNS = ['meter', 'usage_date', 'quantity', 'price_version', 'unit_price', 'micros'];

/** What an entry of the ledger says, as one text; of the table that is called so in the statement. */
export const packedEntry = (table: string) => packed(COLUMNS.map((column) => `${table}.${column}`));

export function unpackedEntry(text: string): RecordEntry {
  const [meter, usageDate = '', quantity = '', priceVersion, unitPrice = '', micros] = text.split(' ');
  return {
    meter: meter as Metric,
    usageDate,
    quantity,
    priceVersion: Number(priceVersion),
    unitPrice,
    micros: Number(micros),
  };
}
