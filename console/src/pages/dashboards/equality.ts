import type { Series, Tile } from './queries.ts';

/** Equal by meaning: the order of members does not matter, and a member without a value is the same as none. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isEqual(item, other[index]))
    );
  const names = new Set([...listMembers(one), ...listMembers(other)]);
  return [...names].every((name) => isEqual(Reflect.get(one, name), Reflect.get(other, name)));
}

const listMembers = (value: object): string[] =>
  Object.keys(value).filter((name) => Reflect.get(value, name) !== undefined);

/** Members that mean the same as none. The server and the console treat them alike. */
const SERIES_DEFAULTS: Partial<Series> = {
  where: '',
  whereLanguage: 'lucene',
  groupBy: [],
  field: '',
  alias: '',
  displayType: 'line',
};

const normalizeSeries = (series: Series): object =>
  Object.fromEntries(
    Object.entries(series).filter(
      ([name, value]) => !isEqual(value, SERIES_DEFAULTS[name as keyof Series]) && !isEqual(value, {}),
    ),
  );

/** True if two tiles show the same, wherever they are. */
export const hasEqualQuery = (
  one: Pick<Tile, 'series' | 'asRatio'>,
  other: Pick<Tile, 'series' | 'asRatio'>,
): boolean =>
  (one.asRatio ?? false) === (other.asRatio ?? false) &&
  isEqual(one.series.map(normalizeSeries), other.series.map(normalizeSeries));
