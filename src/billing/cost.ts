import type { Day } from '../kernel/days.ts';

export const ENTITY_TYPES = ['datawarehouse', 'service', 'clickpipe'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** What a day is made of. On the wire each is `<name>CHC`. */
export const METRICS = [
  'backup',
  'compute',
  'dataTransfer',
  'initialLoad',
  'interRegionTier1DataTransfer',
  'interRegionTier2DataTransfer',
  'interRegionTier3DataTransfer',
  'interRegionTier4DataTransfer',
  'publicDataTransfer',
  'storage',
] as const;
export type Metric = (typeof METRICS)[number];

/** What one entity cost on one UTC day, in micro-CHC. */
export interface Cost {
  organizationId: string;
  date: Day;
  entityType: EntityType;
  entityId: string;
  entityName: string;
  dataWarehouseId: string;
  /** None on a warehouse; its own on a service; the owner's on a clickpipe. */
  serviceId: string | undefined;
  /** Final: such a record never changes again. */
  isLocked: boolean;
  micros: Record<Metric, number>;
}

export const totalMicros = ({ micros }: Pick<Cost, 'micros'>): number =>
  METRICS.reduce((sum, metric) => sum + micros[metric], 0);

/** By day, then kind, then name by its bytes, then id. The same order whatever a store's collation is. */
export function inOrder(a: Cost, b: Cost): number {
  return (
    byText(a.date, b.date) ||
    byText(a.entityType, b.entityType) ||
    Buffer.compare(Buffer.from(a.entityName), Buffer.from(b.entityName)) ||
    byText(a.entityId, b.entityId)
  );
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
