import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { parse, type YAMLParseError } from 'yaml';
import { parseDate } from '../../kernel/clock.ts';
import { AppError, MISSING, rejectViolations, type Violation } from '../../kernel/errors.ts';
import { dropNulls } from '../../kernel/nulls.ts';
import { toViolations } from '../../kernel/violations.ts';
import { TIERS } from '../../organizations/organization.ts';
import { ENTITY_TYPES, METRICS } from '../cost.ts';
import { METERS } from '../meter.ts';
import type { Price, PriceBook } from '../price.ts';
import { findPrice } from './price-book.ts';

/** A list of prices as a person writes it; it gets its version when it is set. */
export type NewPriceBook = Omit<PriceBook, 'version'>;

const PRICE = /^\d{1,9}(\.\d{1,12})?$/;
const PRICE_RULE = 'The value must be a decimal number of CHC, 0 or more, with at most 12 decimals';
const MAX_PRICES = 10_000;

const exact = { additionalProperties: false };

const PriceFile = Type.Object(
  {
    effectiveFrom: Type.String(),
    prices: Type.Array(
      Type.Object(
        {
          meter: Type.Enum([...METRICS]),
          entityType: Type.Optional(Type.Enum([...ENTITY_TYPES])),
          tier: Type.Optional(Type.Enum([...TIERS])),
          region: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
          price: Type.Union([Type.String(), Type.Number()]),
        },
        exact,
      ),
      { maxItems: MAX_PRICES },
    ),
  },
  exact,
);

const validator = Compile(PriceFile);

/** YAML or JSON text → a whole list of prices; throws every mistake with its path. */
export function parsePriceFile(text: string): NewPriceBook {
  const file = parseText(text.replace(/^\uFEFF/, '')) ?? {};
  dropNulls(PriceFile, file);
  if (!validator.Check(file)) rejectViolations(toViolations(validator.Errors(file), file, ''));
  const { effectiveFrom, prices } = file as Static<typeof PriceFile>;
  const book = { effectiveFrom, prices: prices.map((price): Price => ({ ...price, price: priceText(price.price) })) };
  rejectViolations(bookViolations(book));
  return book;
}

function parseText(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (cause) {
    const { message } = cause as YAMLParseError;
    throw new AppError('bad_request', `The price file cannot be read: ${message.split('\n', 1)[0]}`, { cause });
  }
}

/** A number of a file is written out as the shortest text that means it: the text that stands in the file. */
const priceText = (price: string | number): string => String(price);

/** Everything that is wrong with a list whose members have the right shape. */
export function bookViolations({ effectiveFrom, prices }: NewPriceBook): Violation[] {
  const violations: Violation[] = [];
  const find = (path: string, rule: string, value: unknown) => violations.push({ path, rule, value });
  if (parseDate(effectiveFrom) === undefined)
    find('effectiveFrom', 'The value must be a date (YYYY-MM-DD)', effectiveFrom);
  const seen = new Map<string, number>();
  for (const [index, { meter, entityType, tier, region, price }] of prices.entries()) {
    if (!PRICE.test(price)) find(`prices[${index}].price`, PRICE_RULE, price);
    if (entityType && !METERS[meter].entityTypes.includes(entityType))
      find(
        `prices[${index}].entityType`,
        `The meter ${meter} belongs to ${METERS[meter].entityTypes.join(' or ')}`,
        entityType,
      );
    const same = JSON.stringify([meter, entityType, tier, region]);
    const first = seen.get(same);
    if (first !== undefined)
      find(`prices[${index}]`, `The list has a price for the same usage in prices[${first}]`, price);
    else seen.set(same, index);
  }
  return [...violations, ...gaps(prices)];
}

/** A list is whole: every meter has a price in every tier, whatever the region. */
function gaps(prices: readonly Price[]): Violation[] {
  return METRICS.flatMap((meter) =>
    METERS[meter].entityTypes.flatMap((entityType) => {
      const missing = TIERS.filter((tier) => findPrice(prices, { meter, entityType, tier }) === undefined);
      const rule = `The list must have a price for ${meter} of a ${entityType} in ${missing.join(', ')}, in any region`;
      return missing.length > 0 ? [{ path: 'prices', rule, value: MISSING }] : [];
    }),
  );
}
