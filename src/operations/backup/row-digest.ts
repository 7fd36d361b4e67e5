import { createHash } from 'node:crypto';
import type { StoreTable, StoreValue } from '../../platform/state/contents.ts';

const MODULUS = 2n ** 256n;

/** The number of rows and the sum of their hashes: equal for equal rows in any order, on either kind of store. */
export interface RowDigest {
  rows: number;
  sum: bigint;
}

export const emptyDigest = (): RowDigest => ({ rows: 0, sum: 0n });

/** Returns a function that adds a row, given as values in the order of the table's columns. */
export function createDigest({ columns }: StoreTable, digest: RowDigest): (row: readonly StoreValue[]) => void {
  // Columns that were added later may be in another position on the other store.
  const order = columns.map((column, index) => ({ column, index })).sort((a, b) => (a.column < b.column ? -1 : 1));
  return (row) => {
    const values = JSON.stringify(order.map(({ index }) => row[index] ?? null));
    const hash = createHash('sha256').update(values).digest('hex');
    digest.sum = (digest.sum + BigInt(`0x${hash}`)) % MODULUS;
    digest.rows++;
  };
}
