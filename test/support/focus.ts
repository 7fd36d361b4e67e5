/** The rules of FOCUS 1.2 for the columns that the export has, as data. An empty cell is null. */

export type FocusRow = Record<string, string>;

interface ColumnRule {
  level: 'Mandatory' | 'Conditional' | 'Recommended';
  kind: 'text' | 'decimal' | 'time' | 'currency' | 'unit' | 'json';
  /** May this row leave it empty? */
  mayBeNull?: (row: FocusRow) => boolean;
  mustBeNull?: (row: FocusRow) => boolean;
  allowed?: readonly string[];
  isNonNegative?: boolean;
}

const never = () => false;
const always = () => true;
const isCorrection = (row: FocusRow) => row.ChargeClass === 'Correction';
/** What has to be there for usage and purchases that correct nothing. */
const unlessCharged = (row: FocusRow) =>
  !(['Usage', 'Purchase'].includes(row.ChargeCategory ?? '') && !isCorrection(row));

const UNITS = [
  ...['GB', 'TB', 'GB-Hours', 'TB-Months', 'Unit-Hours', 'Unit-Minutes'],
  // A virtual currency is counted in itself.
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
  ContractedUnitPrice: { level: 'Conditional', kind: 'decimal', mayBeNull: unlessCharged, isNonNegative: true },
  ListUnitPrice: { level: 'Conditional', kind: 'decimal', mayBeNull: unlessCharged, isNonNegative: true },
  PricingCategory: { level: 'Conditional', kind: 'text', mayBeNull: unlessCharged, allowed: ['Standard'] },
  PricingCurrency: { level: 'Conditional', kind: 'currency', allowed: ['CHC'] },
  PricingCurrencyContractedUnitPrice: {
    level: 'Conditional',
    kind: 'decimal',
    mayBeNull: unlessCharged,
    isNonNegative: true,
  },
  PricingCurrencyEffectiveCost: { level: 'Conditional', kind: 'decimal' },
  PricingCurrencyListUnitPrice: {
    level: 'Conditional',
    kind: 'decimal',
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

/** Of 1.3, beside the columns of 1.2. */
export const LATER_COLUMNS = ['HostProviderName', 'ServiceProviderName'];

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
  time: (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  currency: (text) => /^[A-Z]{3}$/.test(text),
  unit: (text) => /^[A-Z][A-Za-z]*(-[A-Z][a-z]+)?$/.test(text),
  json: isJsonObject,
};

/** Digits without their point, and how many stand behind it. */
function decimal(text: string): { digits: bigint; decimals: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), decimals: fraction.length };
}

/** quantity × price, rounded to the 6 decimals that costs carry, half away from zero. */
export function productInMicros(quantity: string, price: string): bigint {
  const [q, p] = [decimal(quantity), decimal(price)];
  const product = q.digits * p.digits * 1_000_000n;
  const scale = 10n ** BigInt(q.decimals + p.decimals);
  const rounded = (2n * (product < 0n ? -product : product) + scale) / (2n * scale);
  return product < 0n ? -rounded : rounded;
}

export const microsIn = (cost: string): bigint => productInMicros(cost, '1');

const COSTS = [
  ['ListUnitPrice', 'ListCost'],
  ['ContractedUnitPrice', 'ContractedCost'],
  ['PricingCurrencyListUnitPrice', 'PricingCurrencyEffectiveCost'],
  ['PricingCurrencyContractedUnitPrice', 'PricingCurrencyEffectiveCost'],
] as const;

/** Everything in a row that breaks a rule. */
export function focusMistakes(row: FocusRow): string[] {
  const mistakes: string[] = [];
  for (const [column, rule] of Object.entries(FOCUS_RULES)) {
    const cell = row[column];
    if (cell === undefined) mistakes.push(`${column} is missing`);
    else if (cell !== '') mistakes.push(...checkCell(row, column, rule, cell));
    else if (!rule.mayBeNull?.(row)) mistakes.push(`${column} is null`);
  }
  for (const [price, cost] of COSTS) {
    const [quantity = '', unit = '', total = ''] = [row.PricingQuantity, row[price], row[cost]];
    if ([quantity, unit, total].every(KINDS.decimal) && productInMicros(quantity, unit) !== microsIn(total))
      mistakes.push(`${quantity} × ${price} ${unit} is not ${cost} ${total}`);
  }
  return [...mistakes, ...periodMistakes(row)];
}

function checkCell(row: FocusRow, column: string, rule: ColumnRule, cell: string): string[] {
  const problems: string[] = [];
  if (rule.mustBeNull?.(row)) problems.push(`${column} must be null`);
  if (!KINDS[rule.kind](cell)) problems.push(`${column} is not a ${rule.kind}: ${cell}`);
  if (rule.allowed && !rule.allowed.includes(cell)) problems.push(`${column} may not be ${cell}`);
  if (rule.isNonNegative && cell.startsWith('-')) problems.push(`${column} is negative`);
  return problems;
}

/** Half-open: a month holds its days, and ends where the next begins. */
function periodMistakes(row: FocusRow): string[] {
  const time = (column: string) => Date.parse(row[column] ?? '');
  const [from, to] = [new Date(time('BillingPeriodStart')), new Date(time('BillingPeriodEnd'))];
  const nextMonth = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1);
  const isMonth = from.getUTCDate() === 1 && to.getTime() === nextMonth;
  const isDay = time('ChargePeriodEnd') - time('ChargePeriodStart') === 86_400_000;
  const isWithin =
    time('ChargePeriodStart') >= time('BillingPeriodStart') && time('ChargePeriodEnd') <= time('BillingPeriodEnd');
  const usageMonth = row.x_UsageDate?.slice(0, 7) ?? '';
  const isOfEarlierMonth = usageMonth < (row.BillingPeriodStart ?? '').slice(0, 7);
  return [
    ...(isMonth ? [] : ['the billing period is no calendar month']),
    ...(isDay ? [] : ['the charge period is no day']),
    ...(isWithin ? [] : ['the charge lies outside of its billing period']),
    ...((row.ChargeClass === 'Correction') === isOfEarlierMonth ? [] : ['ChargeClass is wrong']),
  ];
}
