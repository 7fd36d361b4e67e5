import { END_OF_LINE, formatLine, textCell } from '../../../kernel/csv.ts';
import { formatChc } from '../../../kernel/numbers/money.ts';
import type { Organization } from '../../organizations/organization.ts';
import type { Service } from '../../services/service.ts';
import type { Cost } from '../cost.ts';
import type { PriceBook } from '../prices/price-book.ts';
import { type Charge, isAdjustment } from './charge.ts';
import {
  CHARGE_COLUMNS,
  DAY_COLUMNS,
  ENTITY_COLUMNS,
  FILE_COLUMNS,
  FOCUS_COLUMN_NAMES,
  formatCells,
  PRICE_COLUMNS,
  PROVIDER,
} from './focus-columns.ts';
import { findPricedQuantity } from './priced-quantity.ts';
import { formatSkuPriceId } from './sku.ts';

interface FocusContext {
  organization: Organization;
  services: readonly Service[];
  books: readonly PriceBook[];
}

export const FOCUS_HEADER = formatLine(FOCUS_COLUMN_NAMES);

const MAX_CACHED_GROUPS = 20_000;

/** Holds no reference to the record it was rendered from, so that records stay short-lived garbage. */
interface RenderedEntity extends Pick<Cost, 'entityType' | 'entityName' | 'dataWarehouseId'> {
  cells: string;
  hostProvider: string;
}

const isSameEntity = (a: RenderedEntity, b: Cost): boolean =>
  a.entityType === b.entityType && a.entityName === b.entityName && a.dataWarehouseId === b.dataWarehouseId;

/** Returns a function that formats a charge. Rendered column groups are cached. */
export function createFocusFormatter({ organization, services, books }: FocusContext): (charge: Charge) => string {
  const servicesById = new Map(services.map((service) => [service.id, service]));
  const primaryServices = findPrimaryServices(services);
  const booksByVersion = new Map(books.map((book) => [book.version, book]));
  const fileCells = formatCells(FILE_COLUMNS, organization);
  const entities = new Map<string, RenderedEntity>();
  const prices = new Map<string, string>();
  // Records are ordered by day, so the last day is enough.
  let lastDay = { date: '', cells: '' };

  const findService = ({ entityType, serviceId, dataWarehouseId }: Cost): Service | undefined =>
    entityType === 'datawarehouse' ? primaryServices.get(dataWarehouseId) : servicesById.get(serviceId ?? '');

  function renderDay(date: string): string {
    if (lastDay.date !== date) lastDay = { date, cells: formatCells(DAY_COLUMNS, date) };
    return lastDay.cells;
  }

  function renderEntity(cost: Cost): RenderedEntity {
    const cached = entities.get(cost.entityId);
    if (cached && isSameEntity(cached, cost)) return cached;
    const { provider = PROVIDER, region = '' } = findService(cost)?.details ?? {};
    const { entityType, entityName, dataWarehouseId } = cost;
    const primary = primaryServices.get(dataWarehouseId);
    const ownName = cost.entityId === dataWarehouseId ? entityName : dataWarehouseId;
    const warehouseName = primary ? `${primary.name} warehouse` : ownName;
    const rendered = {
      entityType,
      entityName,
      dataWarehouseId,
      hostProvider: textCell(provider),
      cells: formatCells(ENTITY_COLUMNS, { cost, region, warehouseName }),
    };
    cacheGroup(entities, cost.entityId, rendered);
    return rendered;
  }

  function renderPrice({ cost, meter, entry }: Charge, isMetered: boolean): string {
    const { entityType } = cost;
    const metered = isMetered ? entry : undefined;
    const region = metered && findService(cost)?.details.region;
    const price = metered?.unitPrice ?? '1';
    const key = `${entityType} ${meter} ${metered?.priceVersion} ${price} ${region}`;
    const cached = prices.get(key);
    if (cached !== undefined) return cached;
    const usage = { meter, entityType, tier: organization.tier, region };
    const skuPriceId = metered
      ? formatSkuPriceId(booksByVersion.get(metered.priceVersion), usage, price)
      : `${entityType}.${meter}/amount`;
    const cells = formatCells(PRICE_COLUMNS, { entityType, meter, isMetered, price, skuPriceId });
    cacheGroup(prices, key, cells);
    return cells;
  }

  return (charge) => {
    const { cost, entry, micros } = charge;
    const pricedQuantity = entry && findPricedQuantity(entry.meter, entry.quantity, entry.unitPrice, micros);
    const { cells: entityCells, hostProvider } = renderEntity(cost);
    const context = {
      charge,
      isAdjustment: isAdjustment(charge),
      amount: formatChc(micros),
      pricedQuantity,
      hostProvider,
    };
    const priceCells = renderPrice(charge, pricedQuantity !== undefined);
    const chargeCells = formatCells(CHARGE_COLUMNS, context);
    return `${fileCells},${renderDay(cost.date)},${entityCells},${priceCells},${chargeCells}${END_OF_LINE}`;
  };
}

/** The primary service of each warehouse, which gives the warehouse its name and region. */
function findPrimaryServices(services: readonly Service[]): Map<string, Service> {
  const primary = new Map<string, Service>();
  for (const service of services)
    if (service.isPrimary || !primary.has(service.dataWarehouseId)) primary.set(service.dataWarehouseId, service);
  return primary;
}

function cacheGroup<T>(cache: Map<string, T>, key: string, value: T): void {
  if (cache.size >= MAX_CACHED_GROUPS) cache.clear();
  cache.set(key, value);
}
