import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Day } from '../../kernel/days.ts';
import { AppError, rejectViolations } from '../../kernel/errors.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { isUniqueViolation } from '../../state/failures.ts';
import type { State } from '../../state/state.ts';
import type { Db } from '../../state/tables.ts';
import type { PriceBook } from '../price.ts';
import { bookOf, LIST_PRICES } from './price-book.ts';
import { bookViolations, type NewPriceBook } from './price-file.ts';
import { findLastLockedDay, insertPriceBook, listPriceBooks, touchOpenDays } from './store.ts';

export type Prices = ReturnType<typeof createPrices>;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
}

/** Every version, the shipped one first. Prices hold for all organizations. */
export async function allPriceBooks(db: Db): Promise<PriceBook[]> {
  return [LIST_PRICES, ...(await listPriceBooks(db))];
}

export function createPrices({ state, clock, audit, organizations }: Options) {
  return {
    list: (): Promise<PriceBook[]> => allPriceBooks(state.db),

    /** The prices of usage on that day. */
    bookFor: async (day: Day): Promise<PriceBook> => bookOf(await allPriceBooks(state.db), day),

    /** A new version. Days that are locked keep their price, so it begins after the last of them. */
    async set(actor: Actor, book: NewPriceBook): Promise<PriceBook> {
      rejectViolations(bookViolations(book));
      try {
        return await state.write(async (tx) => {
          // All of them: no day of anybody is rated or locked while its prices change.
          const owners = (await organizations.list()).map(({ id }) => id).sort();
          for (const id of owners) await organizations.take(tx, id);
          const locked = await findLastLockedDay(tx);
          if (locked !== undefined && book.effectiveFrom <= locked) {
            const rule = `The value must be later than ${locked}, which is locked`;
            rejectViolations([{ path: 'effectiveFrom', rule, value: book.effectiveFrom }]);
          }
          const [latest = LIST_PRICES] = (await listPriceBooks(tx)).slice(-1);
          const next = { version: latest.version + 1, effectiveFrom: book.effectiveFrom, prices: book.prices };
          await insertPriceBook(tx, next, clock.now());
          await touchOpenDays(tx, next.effectiveFrom);
          for (const organizationId of owners)
            await audit.record(tx, actor, {
              organizationId,
              type: 'price_book_create',
              resource: { type: 'price_book', id: String(next.version) },
              after: { version: next.version, effectiveFrom: next.effectiveFrom, prices: next.prices },
            });
          return next;
        });
      } catch (error) {
        if (isUniqueViolation(error))
          throw new AppError('conflict', 'Somebody else set prices at the same moment; try again', { cause: error });
        throw error;
      }
    },
  };
}
