import type { PricedUsage } from '../prices/applicable-price.ts';
import type { Price, PriceBook } from '../prices/price-book.ts';

/**
 * Identifies the line of the price book that a unit price came from: `service.compute/SCALE/eu-central-1`. It contains
 * neither price nor version, so it stays the same when the price changes. The tier of the organization may have changed
 * since: of the lines with this price, the best match for the current tier and region is used.
 */
export function formatSkuPriceId(book: PriceBook | undefined, usage: PricedUsage, unitPrice: string): string {
  const candidates = (book?.prices ?? []).filter(
    (line) =>
      line.meter === usage.meter &&
      (line.entityType === undefined || line.entityType === usage.entityType) &&
      Number(line.price) === Number(unitPrice),
  );
  const [best] = candidates.sort((a, b) => scoreMatch(b, usage) - scoreMatch(a, usage));
  const sku = `${usage.entityType}.${usage.meter}`;
  return [sku, best?.tier ?? 'any', ...(best?.region === undefined ? [] : [best.region])].join('/');
}

function scoreMatch({ tier, region, entityType }: Price, usage: PricedUsage): number {
  const score = (value: string | undefined, expected: string | undefined, weight: number) =>
    value === undefined ? 0 : value === expected ? weight : -weight;
  return score(region, usage.region, 4) + score(tier, usage.tier, 2) + score(entityType, usage.entityType, 1);
}
