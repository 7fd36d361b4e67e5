import { AppError, rejectViolations } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { Day } from '../../../kernel/time/days.ts';
import { isUniqueViolation } from '../../../platform/state/failures.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { getApplicablePriceBook } from './applicable-price.ts';
import { LIST_PRICES, type PriceBook } from './price-book.ts';
import { findPriceBookViolations, type NewPriceBook } from './price-file.ts';
import { findLastLockedDay, insertPriceBook, listPriceBooks, markOpenDaysChanged } from './store.ts';

export type Prices = ReturnType<typeof createPrices>;

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
}

export function createPrices({ state, clock, audit, organizations }: Options) {
  return {
    list: (): Promise<PriceBook[]> => listPriceBooks(state.db),

    /** The price book for usage on that day. */
    getForDay: async (day: Day): Promise<PriceBook> => getApplicablePriceBook(await listPriceBooks(state.db), day),

    /** Adds a version. Locked days keep their prices, so it must take effect after the last locked day. */
    async set(actor: Actor, book: NewPriceBook): Promise<PriceBook> {
      rejectViolations(findPriceBookViolations(book));
      try {
        return await state.write(async (tx) => {
          // All organizations, so that no day is rated or locked while its prices change.
          const organizationIds = (await organizations.list()).map(({ id }) => id).sort();
          for (const id of organizationIds) await organizations.lock(tx, id);
          const locked = await findLastLockedDay(tx);
          if (locked !== undefined && book.effectiveFrom <= locked) {
            const rule = `The value must be after ${locked}, the last locked day`;
            rejectViolations([{ path: 'effectiveFrom', rule, value: book.effectiveFrom }]);
          }
          const latest = (await listPriceBooks(tx)).at(-1) ?? LIST_PRICES;
          const next = { version: latest.version + 1, effectiveFrom: book.effectiveFrom, prices: book.prices };
          await insertPriceBook(tx, next, clock.now());
          await markOpenDaysChanged(tx, next.effectiveFrom);
          for (const organizationId of organizationIds)
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
          throw new AppError('conflict', 'Prices were changed by another request at the same time; try again', {
            cause: error,
          });
        throw error;
      }
    },
  };
}
