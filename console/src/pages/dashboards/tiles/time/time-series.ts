import type { Unit } from '../../number-format.ts';
import type { TileDataByType } from '../../tile-types.ts';
import { sumValues, toNumbers } from '../../time-values.ts';

/** How the series are drawn. Bars and areas are stacked. */
export type Drawing = 'line' | 'stacked_bar' | 'stacked_line';

/** One line, or one segment of stacked bars. */
export interface Line {
  /** Unique within the tile. */
  label: string;
  values: (number | null)[];
  /** In the previous period. */
  previous?: (number | null)[];
}

/** The total of a stack in the previous period: of the series that are not hidden, and of those that only that period has. */
export const sumPrevious = (
  lines: readonly Line[],
  unmatched: (number | null)[],
  hidden: ReadonlySet<string>,
): (number | null)[] =>
  sumValues(
    [unmatched, ...lines.flatMap(({ label, previous }) => (previous && !hidden.has(label) ? [previous] : []))],
    lines[0]?.values.length ?? 0,
  );

/** The unit of all series, unless they differ. */
export function findCommonUnit({ series }: TileDataByType<'time'>): Unit | undefined {
  const units = new Set(series.map(({ unit }) => unit));
  return units.size === 1 ? series[0]?.unit : undefined;
}

/** Labels contain only what differs: just the group if all series have the same name. */
export function toLines({ series }: TileDataByType<'time'>, fillNulls = false): Line[] {
  const hasOneName = new Set(series.map(({ name }) => name)).size === 1;
  const seen = new Map<string, number>();
  // Series may have equal names; the legend needs unique labels.
  const unique = (label: string): string => {
    const count = (seen.get(label) ?? 0) + 1;
    seen.set(label, count);
    return count === 1 ? label : `${label} (${count})`;
  };
  return series.map(({ name, group, isOthers, values }) => {
    const groupLabel = isOthers ? 'Other' : group.map((value) => (value === '' ? '(empty)' : value)).join(', ');
    const label = groupLabel === '' ? name : hasOneName ? groupLabel : `${name} · ${groupLabel}`;
    return { label: unique(label), values: toNumbers(values, fillNulls) };
  });
}

/** Cumulative values. Series are drawn in order, so later ones cover the lower part of earlier ones. */
export function stackValues(lines: readonly Line[], isHidden: (index: number) => boolean): (number | null)[][] {
  const sums: (number | null)[] = (lines[0]?.values ?? []).map(() => null);
  const result: (number | null)[][] = [];
  for (const [index, { values }] of [...lines.entries()].reverse()) {
    if (!isHidden(index)) {
      for (const [at, value] of values.entries()) if (value !== null) sums[at] = (sums[at] ?? 0) + value;
    }
    result.unshift([...sums]);
  }
  return result;
}
