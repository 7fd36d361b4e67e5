/** Intervals without a number are gaps, or 0 with `fillNulls`. */
export const toNumbers = (values: readonly (number | string | null)[], fillNulls: boolean): (number | null)[] =>
  values.map((value) => toNumber(value) ?? (fillNulls ? 0 : null));

/** One sum per interval; null where no list has a number. */
export const sumValues = (lists: readonly (number | null)[][], intervals: number): (number | null)[] =>
  Array.from({ length: intervals }, (_, at) => {
    const present = lists.flatMap((values) => values[at] ?? []);
    return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0);
  });

function toNumber(value: number | string | null): number | null {
  if (typeof value === 'number') return value;
  const parsed = value === null || value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}
