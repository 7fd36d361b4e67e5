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
    byBytes(a.entityName, b.entityName) ||
    byText(a.entityId, b.entityId)
  );
}

/** As UTF-8 sorts, without writing any. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return inCodePoints(x) - inCodePoints(y);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs stand for what lies above all that is written with one unit. */
const inCodePoints = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
