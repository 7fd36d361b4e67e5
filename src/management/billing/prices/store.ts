import type { Day } from '../../../kernel/time/days.ts';
import type { PriceBookRow } from '../../../platform/state/tables/billing-tables.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { completePrices, LIST_PRICES, type PriceBook } from './price-book.ts';

const toPriceBook = ({ version, effective_from, document }: PriceBookRow): PriceBook => ({
  version,
  effectiveFrom: effective_from,
  prices: completePrices(JSON.parse(document).prices),
});

/** All versions, oldest first. Version 1 ships with the program and is not stored. */
export async function listPriceBooks(db: Db): Promise<PriceBook[]> {
  const rows = await db.selectFrom('price_books').selectAll().orderBy('version').execute();
  return [LIST_PRICES, ...rows.map(toPriceBook)];
}

export async function insertPriceBook(tx: Db, book: PriceBook, createdAt: number): Promise<void> {
  const { version, effectiveFrom, prices } = book;
  await tx
    .insertInto('price_books')
    .values({ version, effective_from: effectiveFrom, created_at: createdAt, document: JSON.stringify({ prices }) })
    .execute();
}

/** The latest locked day of any organization. */
export async function findLastLockedDay(db: Db): Promise<Day | undefined> {
  const row = await db
    .selectFrom('usage_days')
    .select('date')
    .where('locked', '=', 1)
    .orderBy('date', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.date;
}

/** Marks the open days of every organization from this day on to be rated again. */
export async function markOpenDaysChanged(tx: Db, from: Day): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('date', '>=', from)
    .where('locked', '=', 0)
    .execute();
}
