import type { MapNode } from './map-conditions.ts';

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** 1.2K instead of 1,234. */
export const formatCompact = (count: number): string => compact.format(count);

export function formatShare(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0%';
  const percent = (part / whole) * 100;
  return percent < 0.1 ? '<0.1%' : `${Number(percent.toFixed(percent < 10 ? 1 : 0))}%`;
}

const KINDS: Record<MapNode['kind'], string> = {
  service: 'Service',
  database: 'Database',
  queue: 'Queue',
  external: 'External',
};

export const formatKind = ({ kind, system }: MapNode): string =>
  system === undefined ? KINDS[kind] : `${KINDS[kind]}, ${system}`;
