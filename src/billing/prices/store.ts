import type { Day } from '../../kernel/days.ts';
import type { Db, PriceBookRow } from '../../state/tables.ts';
import type { PriceBook } from '../price.ts';

const toBook = ({ version, effective_from, document }: PriceBookRow): PriceBook => ({
  version,
  effectiveFrom: effective_from,
  prices: JSON.parse(document).prices,
});

/** Those that somebody set, oldest first. */
export async function listPriceBooks(db: Db): Promise<PriceBook[]> {
  return (await db.selectFrom('price_books').selectAll().orderBy('version').execute()).map(toBook);
}

export async function insertPriceBook(tx: Db, book: PriceBook, createdAt: number): Promise<void> {
  const { version, effectiveFrom, prices } = book;
  await tx
    .insertInto('price_books')
    .values({ version, effective_from: effectiveFrom, created_at: createdAt, document: JSON.stringify({ prices }) })
    .execute();
}

/** The latest day that any organization has locked. */
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

/** Open days from there on are rated again, in every organization. */
export async function touchOpenDays(tx: Db, from: Day): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('date', '>=', from)
    .where('locked', '=', 0)
    .execute();
}
