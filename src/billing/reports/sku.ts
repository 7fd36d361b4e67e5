import type { Price, PriceBook } from '../price.ts';
import type { PricedUsage } from '../prices/price-book.ts';

/**
 * Names the line of the price book that a unit price came from: `service.compute/SCALE/eu-central-1`. Neither the
 * price nor its version is part of it, so that it stays the same when a price changes. An organization may have
 * changed its tier since: of the lines with this price the one that fits best today is named.
 */
export function skuPriceId(sku: string, book: PriceBook | undefined, usage: PricedUsage, price: string): string {
  const candidates = (book?.prices ?? []).filter(
    (line) =>
      line.meter === usage.meter &&
      (line.entityType === undefined || line.entityType === usage.entityType) &&
      Number(line.price) === Number(price),
  );
  const [best] = candidates.sort((a, b) => likeness(b, usage) - likeness(a, usage));
  return [sku, best?.tier ?? 'any', ...(best?.region === undefined ? [] : [best.region])].join('/');
}

function likeness({ tier, region, entityType }: Price, usage: PricedUsage): number {
  const weigh = (given: string | undefined, wanted: string | undefined, weight: number) =>
    given === undefined ? 0 : given === wanted ? weight : -weight;
  return weigh(region, usage.region, 4) + weigh(tier, usage.tier, 2) + weigh(entityType, usage.entityType, 1);
}
