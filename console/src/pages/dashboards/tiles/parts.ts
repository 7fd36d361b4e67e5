import type { TileData } from '../tile-types.ts';

export type PartsData = Extract<TileData, { parts: unknown }>;
type Unit = PartsData['parts'][number]['unit'];

/** A slice of a pie, or a bar. */
interface Part {
  /** Unique within the tile. */
  label: string;
  value: number;
  unit: Unit;
}

/** The parts that have a number. Labels contain only what differs: just the group if all have the same name. */
export function toParts({ parts }: Pick<PartsData, 'parts'>): Part[] {
  const hasOneName = new Set(parts.map(({ name }) => name)).size === 1;
  const seen = new Map<string, number>();
  return parts.flatMap(({ name, group, isOthers, value, unit }) => {
    if (typeof value !== 'number') return [];
    const groupLabel = isOthers ? 'Other' : formatGroup(group);
    const label = groupLabel === '' ? name : hasOneName ? groupLabel : `${name} · ${groupLabel}`;
    const count = (seen.get(label) ?? 0) + 1;
    seen.set(label, count);
    return [{ label: count === 1 ? label : `${label} (${count})`, value, unit }];
  });
}

export const formatGroup = (group: readonly string[]): string =>
  group.map((value) => (value === '' ? '(empty)' : value)).join(', ');
