import { AppError } from '../../../kernel/errors.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { EntityType } from '../entity.ts';
import type { MeterName } from '../meter.ts';
import { LIST_PRICES, type Price, type PriceBook } from './price-book.ts';

/** The usage to find a price for. The region of a warehouse or clickpipe is that of its service. */
export interface PricedUsage {
  meter: MeterName;
  entityType: EntityType;
  tier: string;
  region?: string | undefined;
}

/** The highest version in effect on that day: a later version may correct days that an earlier one priced. */
export function getApplicablePriceBook(books: readonly PriceBook[], day: Day): PriceBook {
  return books
    .filter(({ effectiveFrom }) => effectiveFrom <= day)
    .reduce((newest, book) => (book.version > newest.version ? book : newest), LIST_PRICES);
}

/** CHC for one pricing unit. The most specific match wins: region outweighs tier, tier outweighs entity type. */
export function findApplicablePrice(prices: readonly Price[], usage: PricedUsage): string | undefined {
  let best: { price: string; weight: number } | undefined;
  for (const price of prices) {
    if (!matches(price, usage)) continue;
    const weight = (price.region ? 4 : 0) + (price.tier ? 2 : 0) + (price.entityType ? 1 : 0);
    if (!best || weight > best.weight) best = { price: price.price, weight };
  }
  return best?.price;
}

export function getApplicablePrice(book: PriceBook, usage: PricedUsage): string {
  const price = findApplicablePrice(book.prices, usage);
  if (price === undefined)
    throw new AppError(
      'internal',
      `Price book ${book.version} has no price for ${usage.meter} of a ${usage.entityType}`,
    );
  return price;
}

const matches = ({ meter, entityType, tier, region }: Price, usage: PricedUsage): boolean =>
  meter === usage.meter &&
  (entityType === undefined || entityType === usage.entityType) &&
  (tier === undefined || tier === usage.tier) &&
  (region === undefined || region === usage.region);
