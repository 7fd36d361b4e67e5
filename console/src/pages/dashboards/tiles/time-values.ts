/** Intervals without a number are gaps, or 0 with `fillNulls`. */
export const toNumbers = (values: readonly (number | string | null)[], fillNulls: boolean): (number | null)[] =>
  values.map((value) => toNumber(value) ?? (fillNulls ? 0 : null));

function toNumber(value: number | string | null): number | null {
  if (typeof value === 'number') return value;
  const parsed = value === null || value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}
