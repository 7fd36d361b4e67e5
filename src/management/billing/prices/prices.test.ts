import { describe, expect, it } from 'vitest';
import { TIERS } from '../../organizations/organization.ts';
import { METERS, METRICS } from '../meter.ts';
import { getApplicablePrice, getApplicablePriceBook } from './applicable-price.ts';
import { LIST_PRICES, type PriceBook } from './price-book.ts';
import { findPriceBookViolations, parsePriceFile } from './price-file.ts';

const parseErrors = (text: string): string[] => {
  try {
    parsePriceFile(text);
    return [];
  } catch (error) {
    return (error as Error).message.split('; ');
  }
};

const file = (prices: object[], effectiveFrom = '2026-12-01') => JSON.stringify({ effectiveFrom, prices });

describe('the applicable price', () => {
  it('is the published one in the built-in price book, which covers every meter', () => {
    expect(findPriceBookViolations(LIST_PRICES)).toEqual([]);
    for (const meter of METRICS)
      for (const entityType of METERS[meter].entityTypes)
        for (const tier of TIERS)
          expect(getApplicablePrice(LIST_PRICES, { meter, entityType, tier })).toMatch(/^\d+\.\d+$/);
    const compute = (tier: string) =>
      getApplicablePrice(LIST_PRICES, { meter: 'compute', entityType: 'service', tier });
    expect(TIERS.map(compute)).toEqual(['0.2181', '0.2985', '0.3903']);
    expect(getApplicablePrice(LIST_PRICES, { meter: 'compute', entityType: 'clickpipe', tier: 'ENTERPRISE' })).toBe(
      '0.20',
    );
  });

  it('is the most specific match: region before tier before entity type', () => {
    const prices = [
      { meter: 'compute' as const, price: '1' },
      { meter: 'compute' as const, entityType: 'service' as const, price: '2' },
      { meter: 'compute' as const, tier: 'SCALE', price: '3' },
      { meter: 'compute' as const, region: 'eu-west-1', price: '4' },
      { meter: 'compute' as const, region: 'eu-west-1', tier: 'SCALE', price: '5' },
    ];
    const book: PriceBook = { version: 2, effectiveFrom: '2026-01-01', prices };
    const price = (entityType: 'service' | 'clickpipe', tier: string, region?: string) =>
      getApplicablePrice(book, { meter: 'compute', entityType, tier, region });
    expect(price('clickpipe', 'BASIC')).toBe('1');
    expect(price('service', 'BASIC')).toBe('2');
    expect(price('service', 'SCALE')).toBe('3');
    expect(price('service', 'BASIC', 'eu-west-1')).toBe('4');
    expect(price('service', 'SCALE', 'eu-west-1')).toBe('5');
    expect(price('service', 'SCALE', 'us-east-1')).toBe('3');
  });

  it('comes from the highest version in effect on the day', () => {
    const book = (version: number, effectiveFrom: string): PriceBook => ({ version, effectiveFrom, prices: [] });
    const books = [LIST_PRICES, book(2, '2026-12-01'), book(3, '2027-01-01'), book(4, '2026-12-15')];
    const versionOn = (day: string) => getApplicablePriceBook(books, day).version;
    expect(['1999-12-31', '2026-11-30', '2026-12-01', '2026-12-14', '2026-12-15', '2027-06-01'].map(versionOn)).toEqual(
      [1, 1, 2, 2, 4, 4],
    );
  });
});

describe('a price file', () => {
  it('can be YAML, with plain numbers as exact decimals', () => {
    const lines = LIST_PRICES.prices.map(({ meter, entityType, tier, price }) =>
      [
        `  - meter: ${meter}`,
        entityType && `    entityType: ${entityType}`,
        tier && `    tier: ${tier}`,
        `    price: ${price}`,
      ]
        .filter(Boolean)
        .join('\n'),
    );
    const book = parsePriceFile(`effectiveFrom: 2026-12-01\nprices:\n${lines.join('\n')}\n`);
    expect(book.effectiveFrom).toBe('2026-12-01');
    expect(book.prices.map(({ price }) => Number(price))).toEqual(LIST_PRICES.prices.map(({ price }) => Number(price)));
    expect(book.prices[1]).toEqual({ meter: 'compute', entityType: 'service', tier: 'SCALE', price: '0.2985' });
  });

  it('reports all violations at once', () => {
    const prices = [
      ...LIST_PRICES.prices.filter(({ tier, meter }) => tier !== 'BASIC' && meter !== 'backup'),
      { meter: 'storage', price: '-1' },
      { meter: 'compute', entityType: 'datawarehouse', price: '1e3' },
    ];
    expect(parseErrors(file(prices, '2026-02-30'))).toEqual([
      'effectiveFrom: The value must be a date (YYYY-MM-DD) <string:2026-02-30>',
      'prices[14].price: The value must be a decimal number of CHC, 0 or more, with at most 12 decimals <string:-1>',
      'prices[14]: The list already has a price for this usage in prices[3] <string:-1>',
      'prices[15].price: The value must be a decimal number of CHC, 0 or more, with at most 12 decimals <string:1e3>',
      'prices[15].entityType: The meter compute applies to service or clickpipe <string:datawarehouse>',
      'prices: The list must have a price for backup of a datawarehouse in BASIC, SCALE, ENTERPRISE that applies in any region <missing>',
      'prices: The list must have a price for compute of a service in BASIC that applies in any region <missing>',
    ]);
  });

  it('is rejected when it has another structure', () => {
    expect(parseErrors('')).toEqual([
      'effectiveFrom: The value is required <missing>',
      'prices: The value is required <missing>',
    ]);
    expect(parseErrors('prices: [')[0]).toMatch(/^The price file cannot be read/);
    expect(parseErrors(file([{ meter: 'steam', price: '1', note: 'x' }]))).toHaveLength(2);
    for (const hostile of ['1e400', '"1e5"', '".5"', '" 1"', '"0x10"', '-0.1', '1e-7', '.inf', '.nan'])
      expect(
        parseErrors(`effectiveFrom: 2026-12-01\nprices: [{meter: storage, price: ${hostile}}]`).length,
      ).toBeGreaterThan(0);
  });
});
