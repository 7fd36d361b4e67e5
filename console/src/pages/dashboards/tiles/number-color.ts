import { PALETTES } from '../../../parts/costs/colors.ts';

type Rule = Readonly<Record<string, unknown>>;

/** The members of a config that color a number. */
interface NumberColors {
  color?: string | undefined;
  colorRules?: readonly Rule[] | undefined;
}

/** The colors that a config can name, as positions in the palettes. */
const COLORS: Record<string, { light: number; dark: number }> = {
  'chart-blue': { light: 12, dark: 8 },
  'chart-orange': { light: 8, dark: 11 },
  'chart-red': { light: 1, dark: 1 },
  'chart-cyan': { light: 0, dark: 0 },
  'chart-green': { light: 2, dark: 5 },
  'chart-pink': { light: 4, dark: 4 },
  'chart-purple': { light: 7, dark: 9 },
  'chart-light-blue': { light: 6, dark: 6 },
  'chart-brown': { light: 16, dark: 15 },
  'chart-gray': { light: 11, dark: 13 },
  'chart-success': { light: 2, dark: 5 },
  'chart-warning': { light: 8, dark: 2 },
  'chart-error': { light: 1, dark: 1 },
};

/** The color of the last rule that matches the value, or that of the config. Undefined for the color of the text. */
export function chooseNumberColor(
  config: NumberColors | undefined,
  value: unknown,
  isDark: boolean,
): string | undefined {
  const rule = config?.colorRules?.findLast((one) => isMatch(one, value));
  const name = String((rule ? rule.color : config?.color) ?? '');
  const slots = Object.hasOwn(COLORS, name) ? COLORS[name] : undefined;
  return slots && PALETTES[isDark ? 'dark' : 'light'][isDark ? slots.dark : slots.light];
}

/** The server keeps rules as they were written, so they may have any form. Large integers are strings. */
function isMatch({ operator, value: limit }: Rule, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  const isEqual = String(value) === String(limit) || Number(value) === toNumber(limit);
  if (operator === 'eq') return isEqual;
  if (operator === 'neq') return !isEqual;
  const number = Number(value);
  if (operator === 'between') {
    const [from, to] = Array.isArray(limit) ? limit.map(toNumber) : [];
    return from !== undefined && to !== undefined && number >= from && number <= to;
  }
  if (operator === 'gt') return number > toNumber(limit);
  if (operator === 'gte') return number >= toNumber(limit);
  if (operator === 'lt') return number < toNumber(limit);
  return operator === 'lte' && number <= toNumber(limit);
}

const toNumber = (limit: unknown): number => (typeof limit === 'number' ? limit : Number.NaN);
