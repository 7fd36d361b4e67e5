import type { Day } from '../../kernel/time/days.ts';
import type { EntityRef } from './entity.ts';
import { METRICS, type Metric } from './meter.ts';

/** An amount in micro-CHC for each metric. */
export type MetricMicros = Record<Metric, number>;

/** The cost record of one entity for one UTC day. */
export interface Cost extends EntityRef {
  organizationId: string;
  date: Day;
  entityName: string;
  dataWarehouseId: string;
  /** Undefined for a warehouse, the entity itself for a service, the owning service for a clickpipe. */
  serviceId: string | undefined;
  /** A locked record never changes. */
  isLocked: boolean;
  micros: MetricMicros;
}

export const zeroMicros = (): MetricMicros => Object.fromEntries(METRICS.map((metric) => [metric, 0])) as MetricMicros;

/** The sum over all metrics. */
export const totalMicros = (micros: MetricMicros): number => METRICS.reduce((sum, metric) => sum + micros[metric], 0);

/** Adds amounts metric by metric. */
export function addMicros(amounts: readonly MetricMicros[]): MetricMicros {
  const sum = zeroMicros();
  for (const micros of amounts) for (const metric of METRICS) sum[metric] += micros[metric];
  return sum;
}

/** By day, entity type, UTF-8 bytes of the name, then id: independent of the store's collation. */
export function compareCosts(a: Cost, b: Cost): number {
  return (
    compareText(a.date, b.date) ||
    compareText(a.entityType, b.entityType) ||
    compareBytes(a.entityName, b.entityName) ||
    compareText(a.entityId, b.entityId)
  );
}

/** The order of the UTF-8 encodings, without encoding. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above every single UTF-16 unit. */
const codePointRank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);

export const compareText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);
