/** The rules of FOCUS 1.2 for the columns of the export. An empty cell is null. */

type FocusRow = Record<string, string>;

interface ColumnRule {
  level: 'Mandatory' | 'Conditional' | 'Recommended';
  kind: 'text' | 'decimal' | 'price' | 'time' | 'currency' | 'unit' | 'json';
  /** Whether the cell of this row may be empty. */
  mayBeNull?: (row: FocusRow) => boolean;
  mustBeNull?: (row: FocusRow) => boolean;
  allowed?: readonly string[];
  isNonNegative?: boolean;
}

const never = () => false;
const always = () => true;
const isCorrection = (row: FocusRow) => row.ChargeClass === 'Correction';
/** Required for usage and purchases, except corrections. */
const unlessCharged = (row: FocusRow) =>
  !(['Usage', 'Purchase'].includes(row.ChargeCategory ?? '') && !isCorrection(row));

const UNITS = [
  ...['GB', 'TB', 'GB-Hours', 'TB-Months', 'Unit-Hours', 'Unit-Minutes'],
  // The unit of a virtual currency is the currency.
  'CHC',
];

export const FOCUS_RULES: Record<string, ColumnRule> = {
  BilledCost: { level: 'Mandatory', kind: 'decimal' },
  BillingAccountId: { level: 'Mandatory', kind: 'text' },
  BillingAccountName: { level: 'Mandatory', kind: 'text', mayBeNull: always },
  BillingCurrency: { level: 'Mandatory', kind: 'currency', allowed: ['USD'] },
  BillingPeriodEnd: { level: 'Mandatory', kind: 'time' },
  BillingPeriodStart: { level: 'Mandatory', kind: 'time' },
  ChargeCategory: {
    level: 'Mandatory',
    kind: 'text',
    allowed: ['Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment'],
  },
  ChargeClass: { level: 'Mandatory', kind: 'text', mayBeNull: always, allowed: ['Correction'] },
  ChargeDescription: { level: 'Mandatory', kind: 'text', mayBeNull: always },
  ChargePeriodEnd: { level: 'Mandatory', kind: 'time' },
  ChargePeriodStart: { level: 'Mandatory', kind: 'time' },
  ContractedCost: { level: 'Mandatory', kind: 'decimal' },
  EffectiveCost: { level: 'Mandatory', kind: 'decimal' },
  InvoiceIssuerName: { level: 'Mandatory', kind: 'text' },
  ListCost: { level: 'Mandatory', kind: 'decimal' },
  PricingQuantity: { level: 'Mandatory', kind: 'decimal', mayBeNull: unlessCharged },
  PricingUnit: { level: 'Mandatory', kind: 'unit', mayBeNull: (row) => row.PricingQuantity === '', allowed: UNITS },
  ProviderName: { level: 'Mandatory', kind: 'text' },
  PublisherName: { level: 'Mandatory', kind: 'text' },
  ServiceCategory: { level: 'Mandatory', kind: 'text', allowed: ['Databases'] },
  ServiceName: { level: 'Mandatory', kind: 'text' },

  ChargeFrequency: { level: 'Recommended', kind: 'text', allowed: ['One-Time', 'Recurring', 'Usage-Based'] },
  ConsumedQuantity: {
    level: 'Conditional',
    kind: 'decimal',
    mayBeNull: (row) => row.ChargeCategory !== 'Usage' || isCorrection(row),
    mustBeNull: (row) => row.ChargeCategory !== 'Usage',
    isNonNegative: true,
  },
  ConsumedUnit: {
    level: 'Conditional',
    kind: 'unit',
    mayBeNull: (row) => row.ConsumedQuantity === '',
    mustBeNull: (row) => row.ConsumedQuantity === '',
    allowed: UNITS,
  },
  InvoiceId: { level: 'Recommended', kind: 'text', mayBeNull: always, mustBeNull: always },
  ContractedUnitPrice: { level: 'Conditional', kind: 'price', mayBeNull: unlessCharged, isNonNegative: true },
  ListUnitPrice: { level: 'Conditional', kind: 'price', mayBeNull: unlessCharged, isNonNegative: true },
  PricingCategory: { level: 'Conditional', kind: 'text', mayBeNull: unlessCharged, allowed: ['Standard'] },
  PricingCurrency: { level: 'Conditional', kind: 'currency', allowed: ['CHC'] },
  PricingCurrencyContractedUnitPrice: {
    level: 'Conditional',
    kind: 'price',
    mayBeNull: unlessCharged,
    isNonNegative: true,
  },
  PricingCurrencyEffectiveCost: { level: 'Conditional', kind: 'decimal' },
  PricingCurrencyListUnitPrice: {
    level: 'Conditional',
    kind: 'price',
    mayBeNull: unlessCharged,
    isNonNegative: true,
  },
  RegionId: { level: 'Conditional', kind: 'text', mayBeNull: always },
  RegionName: { level: 'Conditional', kind: 'text', mayBeNull: (row) => row.RegionId === '' },
  ResourceId: { level: 'Conditional', kind: 'text' },
  ResourceName: { level: 'Conditional', kind: 'text', mayBeNull: never },
  ResourceType: { level: 'Conditional', kind: 'text', mayBeNull: (row) => row.ResourceId === '' },
  ServiceSubcategory: { level: 'Recommended', kind: 'text', allowed: ['Data Warehouses'] },
  SkuId: { level: 'Conditional', kind: 'text', mayBeNull: unlessCharged },
  SkuMeter: { level: 'Conditional', kind: 'text', mayBeNull: (row) => row.SkuId === '' },
  SkuPriceDetails: { level: 'Conditional', kind: 'json', mayBeNull: always },
  SkuPriceId: { level: 'Conditional', kind: 'text', mayBeNull: unlessCharged },
  SubAccountId: { level: 'Conditional', kind: 'text', mayBeNull: always },
  SubAccountName: { level: 'Conditional', kind: 'text', mayBeNull: (row) => row.SubAccountId === '' },
  Tags: { level: 'Conditional', kind: 'json' },
};

/** Columns of FOCUS 1.3 in addition to those of 1.2. */
export const FOCUS_1_3_COLUMNS = ['HostProviderName', 'ServiceProviderName'];

const isJsonObject = (text: string): boolean => {
  try {
    return Object.values(JSON.parse(text)).every((value) => ['string', 'boolean', 'number'].includes(typeof value));
  } catch {
    return false;
  }
};

const KINDS: Record<ColumnRule['kind'], (text: string) => boolean> = {
  text: (text) => text.trim() === text,
  decimal: (text) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && !/^-0(\.0+)?$/.test(text),
  price: (text) => /^(0|[1-9]\d*)\.\d{2,12}$/.test(text),
  time: (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  currency: (text) => /^[A-Z]{3}$/.test(text),
  unit: (text) => /^[A-Z][A-Za-z]*(-[A-Z][a-z]+)?$/.test(text),
  json: isJsonObject,
};

/** Independent of the decimal module under test. */
function parseDecimal(text: string): { digits: bigint; decimals: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
}

/** quantity × price in micro-CHC, halves rounded away from zero. */
export function multiplyToMicros(quantity: string, price: string): bigint {
  const [q, p] = [parseDecimal(quantity), parseDecimal(price)];
  const product = q.digits * p.digits * 1_000_000n;
  const scale = 10n ** BigInt(q.decimals + p.decimals);
  const rounded = (2n * (product < 0n ? -product : product) + scale) / (2n * scale);
  return product < 0n ? -rounded : rounded;
}

export const parseMicros = (cost: string): bigint => multiplyToMicros(cost, '1');

const COSTS = [
  ['ListUnitPrice', 'ListCost'],
  ['ContractedUnitPrice', 'ContractedCost'],
  ['PricingCurrencyListUnitPrice', 'PricingCurrencyEffectiveCost'],
  ['PricingCurrencyContractedUnitPrice', 'PricingCurrencyEffectiveCost'],
] as const;

/** The rules that a row violates. */
export function findFocusViolations(row: FocusRow): string[] {
  const violations: string[] = [];
  for (const [column, rule] of Object.entries(FOCUS_RULES)) {
    const cell = row[column];
    if (cell === undefined) violations.push(`${column} is missing`);
    else if (cell !== '') violations.push(...findCellViolations(row, column, rule, cell));
    else if (!rule.mayBeNull?.(row)) violations.push(`${column} is null`);
  }
  for (const [price, cost] of COSTS) {
    const [quantity = '', unit = '', total = ''] = [row.PricingQuantity, row[price], row[cost]];
    if ([quantity, unit, total].every(KINDS.decimal) && multiplyToMicros(quantity, unit) !== parseMicros(total))
      violations.push(`${quantity} × ${price} ${unit} is not ${cost} ${total}`);
  }
  return [...violations, ...findPeriodViolations(row)];
}

function findCellViolations(row: FocusRow, column: string, rule: ColumnRule, cell: string): string[] {
  const violations: string[] = [];
  if (rule.mustBeNull?.(row)) violations.push(`${column} must be null`);
  if (!KINDS[rule.kind](cell)) violations.push(`${column} is not a ${rule.kind}: ${cell}`);
  if (rule.allowed && !rule.allowed.includes(cell)) violations.push(`${column} may not be ${cell}`);
  if (rule.isNonNegative && cell.startsWith('-')) violations.push(`${column} is negative`);
  return violations;
}

/** A billing period is a calendar month, a charge period one of its days; both exclude their end. */
function findPeriodViolations(row: FocusRow): string[] {
  const time = (column: string) => Date.parse(row[column] ?? '');
  const [from, to] = [new Date(time('BillingPeriodStart')), new Date(time('BillingPeriodEnd'))];
  const nextMonth = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1);
  const isMonth = from.getUTCDate() === 1 && to.getTime() === nextMonth;
  const isDay = time('ChargePeriodEnd') - time('ChargePeriodStart') === 86_400_000;
  const isWithin =
    time('ChargePeriodStart') >= time('BillingPeriodStart') && time('ChargePeriodEnd') <= time('BillingPeriodEnd');
  const usageMonth = row.x_UsageDate?.slice(0, 7) ?? '';
  const isEarlierMonth = usageMonth < (row.BillingPeriodStart ?? '').slice(0, 7);
  return [
    ...(isMonth ? [] : ['the billing period is not a calendar month']),
    ...(isDay ? [] : ['the charge period is not a day']),
    ...(isWithin ? [] : ['the charge period is outside the billing period']),
    ...((row.ChargeClass === 'Correction') === isEarlierMonth ? [] : ['ChargeClass is wrong']),
  ];
}
