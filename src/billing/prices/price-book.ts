import type { Day } from '../../kernel/days.ts';
import { AppError } from '../../kernel/errors.ts';
import type { EntityType, Metric } from '../cost.ts';
import type { Price, PriceBook } from '../price.ts';

/** What a price is asked for. A warehouse's or clickpipe's region is that of the service it belongs to. */
export interface PricedUsage {
  meter: Metric;
  entityType: EntityType;
  tier: string;
  region?: string | undefined;
}

/** The list prices of the hosted service, in CHC: what counts until somebody sets others. */
export const LIST_PRICES: PriceBook = {
  version: 1,
  effectiveFrom: '1970-01-01',
  prices: [
    { meter: 'compute', entityType: 'service', tier: 'BASIC', price: '0.2181' },
    { meter: 'compute', entityType: 'service', tier: 'SCALE', price: '0.2985' },
    { meter: 'compute', entityType: 'service', tier: 'ENTERPRISE', price: '0.3903' },
    { meter: 'compute', entityType: 'clickpipe', price: '0.20' },
    { meter: 'storage', price: '25.30' },
    { meter: 'backup', price: '25.30' },
    { meter: 'publicDataTransfer', price: '0.1152' },
    { meter: 'interRegionTier1DataTransfer', price: '0.0312' },
    { meter: 'interRegionTier2DataTransfer', price: '0.0720' },
    { meter: 'interRegionTier3DataTransfer', price: '0.1200' },
    { meter: 'interRegionTier4DataTransfer', price: '0.1620' },
    { meter: 'dataTransfer', price: '0.04' },
    { meter: 'initialLoad', price: '0.04' },
  ],
};

/** CHC for one pricing unit. Of the prices that fit, a region outweighs a tier, and a tier outweighs an entity type. */
export function priceOf(book: PriceBook, usage: PricedUsage): string {
  const price = findPrice(book.prices, usage);
  if (price === undefined)
    throw new AppError(
      'internal',
      `Price book ${book.version} has no price for ${usage.meter} of a ${usage.entityType}`,
    );
  return price;
}

export function findPrice(prices: readonly Price[], usage: PricedUsage): string | undefined {
  let best: { price: string; weight: number } | undefined;
  for (const price of prices) {
    if (!fits(price, usage)) continue;
    const weight = (price.region ? 4 : 0) + (price.tier ? 2 : 0) + (price.entityType ? 1 : 0);
    if (!best || weight > best.weight) best = { price: price.price, weight };
  }
  return best?.price;
}

const fits = ({ meter, entityType, tier, region }: Price, usage: PricedUsage): boolean =>
  meter === usage.meter &&
  (entityType === undefined || entityType === usage.entityType) &&
  (tier === undefined || tier === usage.tier) &&
  (region === undefined || region === usage.region);

/** The newest version that is in effect on that day: a later version may correct days that an earlier one priced. */
export function bookOf(books: readonly PriceBook[], day: Day): PriceBook {
  return books
    .filter(({ effectiveFrom }) => effectiveFrom <= day)
    .reduce((newest, book) => (book.version > newest.version ? book : newest), LIST_PRICES);
}
