import { textCell } from '../../../kernel/csv.ts';
import { divideByPowerOfTen } from '../../../kernel/numbers/decimal.ts';
import { isoSeconds } from '../../../kernel/time/clock.ts';
import { addDays, type Day } from '../../../kernel/time/days.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { Cost } from '../cost.ts';
import type { EntityType } from '../entity.ts';
import { METERS, type MeterName } from '../meter.ts';
import type { Charge } from './charge.ts';

export const FOCUS_VERSION = '1.2';
export const PROVIDER = 'Pilothouse';

/** Imported amounts are not metered: their quantity is the amount itself, at a price of 1. */
const AMOUNT_UNIT = 'CHC';

/** An empty cell is null. */
interface Column<Context> {
  name: string;
  cell(context: Context): string;
}

/** The entity of a cost record, with the service it belongs to. */
interface EntityContext {
  cost: Cost;
  region: string;
  warehouseName: string;
}

interface PriceContext {
  entityType: EntityType;
  meter: MeterName;
  isMetered: boolean;
  /** A decimal string. */
  price: string;
  skuPriceId: string;
}

interface ChargeContext {
  charge: Charge;
  isAdjustment: boolean;
  /** The cost in CHC. */
  amount: string;
  /** In pricing units; undefined if the amount is not metered. */
  pricedQuantity: string | undefined;
  /** As a cell. */
  hostProvider: string;
}

const text = <Context>(name: string, value: (context: Context) => string): Column<Context> => ({
  name,
  cell: (context) => textCell(value(context)),
});
const plain = <Context>(name: string, cell: (context: Context) => string): Column<Context> => ({ name, cell });

/**
 * The columns of the FOCUS export. Add a column here, in the group that changes as rarely as its value: groups are
 * rendered once per file, day, entity, price and charge. Costs have at most 6 decimals, quantities at most 12,
 * unit prices 2 to 12.
 */
export const FILE_COLUMNS: readonly Column<Organization>[] = [
  text('BillingAccountId', ({ id }) => id),
  text('BillingAccountName', ({ name }) => name),
  plain('BillingCurrency', () => 'USD'),
  // Null: Pilothouse issues no invoices.
  plain('InvoiceId', () => ''),
  plain('InvoiceIssuerName', () => PROVIDER),
  plain('PricingCategory', () => 'Standard'),
  plain('PricingCurrency', () => 'CHC'),
  plain('ProviderName', () => PROVIDER),
  plain('PublisherName', () => PROVIDER),
  plain('ServiceCategory', () => 'Databases'),
  plain('ServiceName', () => 'Pilothouse'),
  plain('ServiceSubcategory', () => 'Data Warehouses'),
];

/** Periods include their start and exclude their end. */
export const DAY_COLUMNS: readonly Column<Day>[] = [
  plain('BillingPeriodStart', (day) => formatMidnight(`${day.slice(0, 7)}-01`)),
  plain('BillingPeriodEnd', (day) => formatMidnight(`${addDays(`${day.slice(0, 7)}-01`, 32).slice(0, 7)}-01`)),
  plain('ChargePeriodStart', formatMidnight),
  plain('ChargePeriodEnd', (day) => formatMidnight(addDays(day, 1))),
];

export const ENTITY_COLUMNS: readonly Column<EntityContext>[] = [
  text('RegionId', ({ region }) => region),
  text('RegionName', ({ region }) => region),
  text('ResourceId', ({ cost }) => cost.entityId),
  text('ResourceName', ({ cost }) => cost.entityName),
  plain('ResourceType', ({ cost }) => RESOURCE_TYPES[cost.entityType]),
  text('SubAccountId', ({ cost }) => cost.dataWarehouseId),
  text('SubAccountName', ({ warehouseName }) => warehouseName),
  plain('Tags', () => '{}'),
];

export const PRICE_COLUMNS: readonly Column<PriceContext>[] = [
  plain('ContractedUnitPrice', formatUnitPrice),
  plain('ListUnitPrice', formatUnitPrice),
  plain('PricingCurrencyContractedUnitPrice', formatUnitPrice),
  plain('PricingCurrencyListUnitPrice', formatUnitPrice),
  plain('PricingUnit', ({ meter, isMetered }) => (isMetered ? METERS[meter].focus.pricingUnit : AMOUNT_UNIT)),
  plain('SkuId', ({ entityType, meter }) => `${entityType}.${meter}`),
  text('SkuMeter', ({ meter }) => METERS[meter].label),
  plain('SkuPriceDetails', () => ''),
  text('SkuPriceId', ({ skuPriceId }) => skuPriceId),
];

export const CHARGE_COLUMNS: readonly Column<ChargeContext>[] = [
  plain('BilledCost', ({ amount }) => amount),
  plain('ContractedCost', ({ amount }) => amount),
  plain('EffectiveCost', ({ amount }) => amount),
  plain('ListCost', ({ amount }) => amount),
  plain('PricingCurrencyEffectiveCost', ({ amount }) => amount),
  plain('PricingQuantity', ({ amount, pricedQuantity }) => pricedQuantity ?? amount),
  // Only usage is consumed. An adjustment corrects a day that is locked.
  plain('ConsumedQuantity', (context) => (context.isAdjustment ? '' : formatConsumedQuantity(context))),
  plain('ConsumedUnit', ({ charge, isAdjustment, pricedQuantity }) => {
    if (isAdjustment) return '';
    return pricedQuantity === undefined ? AMOUNT_UNIT : METERS[charge.meter].focus.consumedUnit;
  }),
  plain('ChargeCategory', ({ isAdjustment }) => (isAdjustment ? 'Adjustment' : 'Usage')),
  plain('ChargeClass', ({ charge }) => (isCorrection(charge) ? 'Correction' : '')),
  text('ChargeDescription', describeCharge),
  plain('ChargeFrequency', () => 'Usage-Based'),
  // Columns of FOCUS 1.3.
  plain('HostProviderName', ({ hostProvider }) => hostProvider),
  plain('ServiceProviderName', () => PROVIDER),
  // Custom columns come last.
  plain('x_EntityType', ({ charge }) => charge.cost.entityType),
  plain('x_Locked', ({ charge }) => String(charge.cost.isLocked)),
  plain('x_PriceVersion', ({ charge, pricedQuantity }) =>
    pricedQuantity === undefined ? '' : String(charge.entry?.priceVersion),
  ),
  plain('x_UsageDate', ({ charge }) => charge.entry?.usageDate ?? charge.cost.date),
];

export const FOCUS_COLUMN_NAMES: readonly string[] = [
  FILE_COLUMNS,
  DAY_COLUMNS,
  ENTITY_COLUMNS,
  PRICE_COLUMNS,
  CHARGE_COLUMNS,
].flatMap((columns) => columns.map(({ name }) => name));

/** Joined from an array: appending cell by cell builds a tree of strings, and garbage that doubled the memory of an export. */
export const formatCells = <Context>(columns: readonly Column<Context>[], context: Context): string =>
  columns.map(({ cell }) => cell(context)).join(',');

const RESOURCE_TYPES: Record<EntityType, string> = {
  datawarehouse: 'Data Warehouse',
  service: 'Service',
  clickpipe: 'ClickPipe',
};
const ENTITY_NOUNS: Record<EntityType, string> = {
  datawarehouse: 'warehouse',
  service: 'service',
  clickpipe: 'clickpipe',
};

const MIN_PRICE_DECIMALS = 2;

/** Readers that infer the type of a column would read a price of `1` as an integer. Only zeros are added. */
function formatUnitPrice({ price }: PriceContext): string {
  const [whole, decimals = ''] = price.split('.');
  return `${whole}.${decimals.padEnd(MIN_PRICE_DECIMALS, '0')}`;
}

function formatConsumedQuantity({ charge: { entry, meter }, amount, pricedQuantity }: ChargeContext): string {
  if (!entry || pricedQuantity === undefined) return amount;
  const { consumedExponent } = METERS[meter].focus;
  return consumedExponent === 0 ? entry.quantity : divideByPowerOfTen(entry.quantity, consumedExponent);
}

function describeCharge({ charge: { cost, entry, meter }, isAdjustment }: ChargeContext): string {
  const description = `${METERS[meter].label}, ${ENTITY_NOUNS[cost.entityType]} ${cost.entityName}`;
  return isAdjustment ? `${description}, late usage of ${entry?.usageDate}` : description;
}

/** FOCUS corrections refer to an earlier billing period. Late usage of the same month is not a correction. */
const isCorrection = ({ cost, entry }: Charge): boolean =>
  entry !== undefined && entry.usageDate.slice(0, 7) < cost.date.slice(0, 7);

function formatMidnight(day: Day): string {
  return isoSeconds(Date.parse(`${day}T00:00:00Z`));
}
