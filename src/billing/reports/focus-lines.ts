import { isoSeconds } from '../../kernel/clock.ts';
import { addDays, type Day } from '../../kernel/days.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { Service } from '../../services/service.ts';
import type { Cost, EntityType } from '../cost.ts';
import type { PriceBook } from '../price.ts';
import { type Charge, isAdjustment } from './charge.ts';
import { line, textCell } from './csv.ts';
import { AMOUNT_UNIT, FOCUS_METERS, RESOURCE_TYPES } from './focus-units.ts';
import { chcText, inLargerUnit, pricedQuantity } from './quantity.ts';
import { skuPriceId } from './sku.ts';

/** What a bill of one organization is written with. */
export interface FocusContext {
  organization: Organization;
  services: readonly Service[];
  books: readonly PriceBook[];
}

/**
 * FOCUS 1.2, in blocks of columns that are rendered as rarely as they change: once per file, day, entity, price, and
 * once per charge. Costs have 6 decimals, quantities and prices 12 at most.
 */
const FILE_COLUMNS = [
  'BillingAccountId',
  'BillingAccountName',
  'BillingCurrency',
  'InvoiceId',
  'InvoiceIssuerName',
  'PricingCategory',
  'PricingCurrency',
  'ProviderName',
  'PublisherName',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
] as const;
const DAY_COLUMNS = ['BillingPeriodStart', 'BillingPeriodEnd', 'ChargePeriodStart', 'ChargePeriodEnd'] as const;
const ENTITY_COLUMNS = [
  'RegionId',
  'RegionName',
  'ResourceId',
  'ResourceName',
  'ResourceType',
  'SubAccountId',
  'SubAccountName',
  'Tags',
] as const;
const PRICE_COLUMNS = [
  'ContractedUnitPrice',
  'ListUnitPrice',
  'PricingCurrencyContractedUnitPrice',
  'PricingCurrencyListUnitPrice',
  'PricingUnit',
  'SkuId',
  'SkuMeter',
  'SkuPriceDetails',
  'SkuPriceId',
] as const;
const CHARGE_COLUMNS = [
  'BilledCost',
  'ContractedCost',
  'EffectiveCost',
  'ListCost',
  'PricingCurrencyEffectiveCost',
  'PricingQuantity',
  'ConsumedQuantity',
  'ConsumedUnit',
  'ChargeCategory',
  'ChargeClass',
  'ChargeDescription',
  'ChargeFrequency',
] as const;
/** Names that 1.3 gives the providers, and then our own. */
const LAST_COLUMNS = [
  'HostProviderName',
  'ServiceProviderName',
  'x_EntityType',
  'x_Locked',
  'x_PriceVersion',
  'x_UsageDate',
] as const;

export const FOCUS_VERSION = '1.2';
export const FOCUS_COLUMNS: readonly string[] = [
  ...FILE_COLUMNS,
  ...DAY_COLUMNS,
  ...ENTITY_COLUMNS,
  ...PRICE_COLUMNS,
  ...CHARGE_COLUMNS,
  ...LAST_COLUMNS,
];
export const FOCUS_HEADER = line(FOCUS_COLUMNS);

const PROVIDER = 'Pilothouse';
const REMEMBERED = 20_000;

/** Nothing of the record it was made from is kept: one that lives long makes the engine of JavaScript expect it of all. */
interface KnownEntity extends Pick<Cost, 'entityType' | 'entityName' | 'dataWarehouseId'> {
  block: string;
  host: string;
}

const isSameEntity = (a: KnownEntity, b: Cost): boolean =>
  a.entityType === b.entityType && a.entityName === b.entityName && a.dataWarehouseId === b.dataWarehouseId;

type Cells<C extends readonly string[]> = Record<C[number], string>;

/** The cells of a block, in the order of its columns; a cell that is empty is null. */
const block = <const C extends readonly string[]>(columns: C, cells: Cells<C>): string =>
  columns.map((column) => textCell(cells[column as C[number]])).join(',');

/** A function from a charge to its line. */
export function createFocusLines({ organization, services, books }: FocusContext): (charge: Charge) => string {
  const servicesById = new Map(services.map((service) => [service.id, service]));
  const warehouses = warehousesOf(services);
  const versions = new Map(books.map((book) => [book.version, book]));
  const file = block(FILE_COLUMNS, {
    BillingAccountId: organization.id,
    BillingAccountName: organization.name,
    BillingCurrency: 'USD',
    // Null: no invoice is written here.
    InvoiceId: '',
    InvoiceIssuerName: PROVIDER,
    PricingCategory: 'Standard',
    PricingCurrency: 'CHC',
    ProviderName: PROVIDER,
    PublisherName: PROVIDER,
    ServiceCategory: 'Databases',
    ServiceName: 'Pilothouse',
    ServiceSubcategory: 'Data Warehouses',
  });
  const days = remembering((day: Day) => dayBlock(day));
  const entities = new Map<string, KnownEntity>();
  const prices = new Map<string, string>();

  const serviceOf = ({ entityType, serviceId, dataWarehouseId }: Cost): Service | undefined =>
    entityType === 'datawarehouse' ? warehouses.get(dataWarehouseId) : servicesById.get(serviceId ?? '');

  function entityOf(cost: Cost): KnownEntity {
    const known = entities.get(cost.entityId);
    if (known && isSameEntity(known, cost)) return known;
    const { provider = PROVIDER, region = '' } = serviceOf(cost)?.details ?? {};
    const first = warehouses.get(cost.dataWarehouseId);
    const { entityType, entityName, dataWarehouseId } = cost;
    const made = {
      entityType,
      entityName,
      dataWarehouseId,
      host: textCell(provider),
      block: block(ENTITY_COLUMNS, {
        RegionId: region,
        RegionName: region,
        ResourceId: cost.entityId,
        ResourceName: cost.entityName,
        ResourceType: RESOURCE_TYPES[cost.entityType],
        SubAccountId: cost.dataWarehouseId,
        SubAccountName: first ? `${first.name} warehouse` : cost.dataWarehouseId,
        Tags: '{}',
      }),
    };
    if (entities.size >= REMEMBERED) entities.clear();
    entities.set(cost.entityId, made);
    return made;
  }

  function priceOf({ cost, metric, entry }: Charge, isMetered: boolean): string {
    const region = entry && isMetered ? serviceOf(cost)?.details.region : undefined;
    const version = entry && isMetered ? entry.priceVersion : 0;
    const price = entry && isMetered ? entry.unitPrice : '1';
    return found(prices, `${cost.entityType} ${metric} ${version} ${price} ${region}`, () => {
      const usage = { meter: metric, entityType: cost.entityType, tier: organization.tier, region };
      const sku = `${cost.entityType}.${metric}`;
      return block(PRICE_COLUMNS, {
        ContractedUnitPrice: price,
        ListUnitPrice: price,
        PricingCurrencyContractedUnitPrice: price,
        PricingCurrencyListUnitPrice: price,
        PricingUnit: isMetered ? FOCUS_METERS[metric].pricingUnit : AMOUNT_UNIT,
        SkuId: sku,
        SkuMeter: FOCUS_METERS[metric].label,
        SkuPriceDetails: '',
        SkuPriceId: isMetered ? skuPriceId(sku, versions.get(version), usage, price) : `${sku}/amount`,
      });
    });
  }

  return (charge) => {
    const { cost, entry, micros } = charge;
    const quantity = entry && pricedQuantity(entry.meter, entry.quantity, entry.unitPrice, micros);
    const isMetered = quantity !== undefined;
    const entity = entityOf(cost);
    return `${file},${days(cost.date)},${entity.block},${priceOf(charge, isMetered)},${chargeBlock(charge, quantity)},${entity.host},${PROVIDER},${cost.entityType},${cost.isLocked},${isMetered ? entry?.priceVersion : ''},${entry?.usageDate ?? cost.date}\r\n`;
  };
}

function chargeBlock(charge: Charge, quantity: string | undefined): string {
  const { cost, entry, metric, micros } = charge;
  const { label, consumedUnit, consumedPlaces } = FOCUS_METERS[metric];
  const amount = chcText(micros);
  const isLate = isAdjustment(charge);
  const description = `${label}, ${NOUNS[cost.entityType]} ${cost.entityName}${isLate ? `, late usage of ${entry?.usageDate}` : ''}`;
  // Only usage is consumed; what was late is an adjustment of a bill that is closed.
  const consumed =
    entry && quantity !== undefined
      ? `${consumedPlaces === 0 ? entry.quantity : inLargerUnit(entry.quantity, consumedPlaces)},${consumedUnit}`
      : `${amount},${AMOUNT_UNIT}`;
  return `${amount},${amount},${amount},${amount},${amount},${quantity ?? amount},${isLate ? ',' : consumed},${isLate ? 'Adjustment' : 'Usage'},${isCorrection(charge) ? 'Correction' : ''},${textCell(description)},Usage-Based`;
}

/** Of a billing period that was closed before: late usage within the month it is booked in corrects nothing. */
const isCorrection = ({ cost, entry }: Charge): boolean =>
  entry !== undefined && entry.usageDate.slice(0, 7) < cost.date.slice(0, 7);

const NOUNS: Record<EntityType, string> = { datawarehouse: 'warehouse', service: 'service', clickpipe: 'clickpipe' };

/** Half-open, as every period of FOCUS. */
function dayBlock(day: Day): string {
  const month = `${day.slice(0, 7)}-01`;
  const next = `${addDays(month, 32).slice(0, 7)}-01`;
  const [monthStart, monthEnd, start, end] = [month, next, day, addDays(day, 1)].map(midnight);
  return [monthStart, monthEnd, start, end].join(',');
}

const midnight = (day: Day): string => isoSeconds(Date.parse(`${day}T00:00:00Z`));

/** By warehouse: its first service, after which it is named. */
function warehousesOf(services: readonly Service[]): Map<string, Service> {
  const warehouses = new Map<string, Service>();
  for (const service of services)
    if (service.isPrimary || !warehouses.has(service.dataWarehouseId)) warehouses.set(service.dataWarehouseId, service);
  return warehouses;
}

function found<T>(known: Map<string, T>, id: string, make: () => T): T {
  const value = known.get(id);
  if (value !== undefined) return value;
  if (known.size >= REMEMBERED) known.clear();
  const made = make();
  known.set(id, made);
  return made;
}

/** The last one only: days come in order. */
function remembering<T>(make: (input: string) => T): (input: string) => T {
  let last: { input: string; value: T } | undefined;
  return (input) => {
    if (last?.input !== input) last = { input, value: make(input) };
    return last.value;
  };
}
