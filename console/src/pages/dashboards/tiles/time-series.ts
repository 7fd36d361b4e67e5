import type { TileDataByType } from '../queries.ts';

/** One line or one part of the bars. */
export interface Line {
  /** What sets it apart from the others of the tile. */
  label: string;
  values: (number | null)[];
}

/** Which part of a name differs is what is shown: the group alone where all series are called the same. */
export function toLines({ series }: TileDataByType<'time'>): Line[] {
  const hasOneName = new Set(series.map(({ name }) => name)).size === 1;
  const seen = new Map<string, number>();
  // Two series may be called the same; the legend has to tell them apart.
  const unique = (label: string): string => {
    const count = (seen.get(label) ?? 0) + 1;
    seen.set(label, count);
    return count === 1 ? label : `${label} (${count})`;
  };
  return series.map(({ name, group, isOthers, values }) => {
    const of = isOthers ? 'others' : group.map((value) => (value === '' ? '(empty)' : value)).join(', ');
    const label = of === '' ? name : hasOneName ? of : `${name} · ${of}`;
    return { label: unique(label), values: values.map(toNumber) };
  });
}

/** What is drawn has to be a number; a text that is none is a gap. */
function toNumber(value: number | string | null): number | null {
  if (typeof value === 'number') return value;
  const parsed = value === null || value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}

/** Each value with all that lie below it: drawn from the first to the last, the later paint over the earlier. */
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
