import Type, { type Static } from 'typebox';
import { MISSING, rejectViolations, type Violation } from '../../../kernel/errors.ts';
import { decimalPattern } from '../../../kernel/numbers/decimal.ts';
import { createSchemaCheck } from '../../../kernel/schemas/schema-check.ts';
import { parseYamlOrJson } from '../../../kernel/schemas/yaml-text.ts';
import { parseDate } from '../../../kernel/time/clock.ts';
import { TIERS } from '../../organizations/organization.ts';
import { ENTITY_TYPES } from '../entity.ts';
import { METER_NAMES, METERS, type Meter } from '../meter.ts';
import { findApplicablePrice } from './applicable-price.ts';
import { completePrices, type Price, type PriceBook } from './price-book.ts';

/** The version is assigned when the prices are set. */
export type NewPriceBook = Omit<PriceBook, 'version'>;

const PRICE = decimalPattern({ maxWholeDigits: 9, maxDecimals: 12 });
const PRICE_RULE = 'The value must be a decimal number of CHC, 0 or more, with at most 12 decimals';
const MAX_PRICES = 10_000;

const exact = { additionalProperties: false };

const PriceFile = Type.Object(
  {
    effectiveFrom: Type.String(),
    prices: Type.Array(
      Type.Object(
        {
          meter: Type.Enum([...METER_NAMES]),
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

const listFileViolations = createSchemaCheck(PriceFile);

/** Parses YAML or JSON. Reports all violations at once, each with its path. */
export function parsePriceFile(text: string): NewPriceBook {
  const file = parseYamlOrJson(text, 'The price file') ?? {};
  rejectViolations(listFileViolations(file, ''));
  const { effectiveFrom, prices } = file as Static<typeof PriceFile>;
  const book = { effectiveFrom, prices: prices.map((price): Price => ({ ...price, price: formatPrice(price.price) })) };
  rejectViolations(findPriceBookViolations(book));
  return { effectiveFrom, prices: completePrices(book.prices) };
}

/** The shortest decimal that represents the number is the one in the file. */
const formatPrice = (price: string | number): string => String(price);

/** Checks the rules that the schema cannot express. */
export function findPriceBookViolations({ effectiveFrom, prices }: NewPriceBook): Violation[] {
  const violations: Violation[] = [];
  const report = (path: string, rule: string, value: unknown) => violations.push({ path, rule, value });
  if (parseDate(effectiveFrom) === undefined)
    report('effectiveFrom', 'The value must be a date (YYYY-MM-DD)', effectiveFrom);
  const indexesByScope = new Map<string, number>();
  for (const [index, { meter, entityType, tier, region, price }] of prices.entries()) {
    if (!PRICE.test(price)) report(`prices[${index}].price`, PRICE_RULE, price);
    const { entityTypes }: Meter = METERS[meter];
    if (entityType && !entityTypes.includes(entityType))
      report(`prices[${index}].entityType`, `The meter ${meter} applies to ${entityTypes.join(' or ')}`, entityType);
    const scope = JSON.stringify([meter, entityType, tier, region]);
    const first = indexesByScope.get(scope);
    if (first !== undefined)
      report(`prices[${index}]`, `The list already has a price for this usage in prices[${first}]`, price);
    else indexesByScope.set(scope, index);
  }
  return [...violations, ...findMissingPrices(completePrices(prices))];
}

/** Every meter needs a price in every tier that applies in any region. */
function findMissingPrices(prices: readonly Price[]): Violation[] {
  return METER_NAMES.flatMap((meter) =>
    METERS[meter].entityTypes.flatMap((entityType) => {
      const missing = TIERS.filter((tier) => findApplicablePrice(prices, { meter, entityType, tier }) === undefined);
      const rule = `The list must have a price for ${meter} of a ${entityType} in ${missing.join(', ')} that applies in any region`;
      return missing.length > 0 ? [{ path: 'prices', rule, value: MISSING }] : [];
    }),
  );
}
