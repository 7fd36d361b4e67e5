/**
 * Twenty colors per theme with a contrast of at least 3:1 on the background. The first ten are the most different, also with
 * a color vision deficiency; a test checks the distances. Lines with a color of the second ten are dashed as well.
 */
const LIGHT = [
  ...['#0b7285', '#d6293e', '#b876e5', '#2128aa', '#633416', '#24a592', '#6f4bd4', '#6f046c', '#e8721c', '#2f751d'],
  ...['#578db2', '#704060', '#3d52a8', '#e07084', '#7370fa', '#c32e85', '#a86a69', '#7f64ab', '#5da34d', '#990b3d'],
];
const DARK = [
  ...['#4fc3d4', '#ff7b7b', '#eeef08', '#9257e0', '#84fcf5', '#6e7b44', '#d84497', '#f3c898', '#9196f7', '#3baa18'],
  ...['#e2c812', '#4e84a8', '#d9c6fe', '#c88da8', '#a5d3c8', '#d3f0b8', '#73a967', '#a07e6b', '#bb68ce', '#9eb919'],
];
export const PALETTES = { light: LIGHT, dark: DARK };

/** The colors that are distinct without a dash. */
export const SOLID_COLORS = 10;

/** Lengths of dashes and gaps in pixels, for names beyond the solid colors and for names beyond the palette. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3]];

/** The red one. */
const ERROR_SLOT = 1;

/** Log levels have conventional colors: red, orange or yellow, and blue. */
const CONVENTIONAL_SLOTS: { pattern: RegExp; light: number; dark: number }[] = [
  { pattern: /^(fatal|critical|error)$/i, light: ERROR_SLOT, dark: ERROR_SLOT },
  { pattern: /^warn(ing)?$/i, light: 8, dark: 2 },
  { pattern: /^info$/i, light: 3, dark: 8 },
];

export interface SeriesStyle {
  color: string;
  /** Empty for a solid line. */
  dash: readonly number[];
}

/**
 * One style per name. A color is derived from a hash, so that a name keeps it across charts. Names share a color only when
 * the palette is exhausted, and then their dashes differ.
 */
export function assignStyles(names: readonly string[], isDark: boolean): SeriesStyle[] {
  const palette = isDark ? DARK : LIGHT;
  const chosen = new Map<string, { slot: number; dash: number }>();
  const unique = [...new Set(names)];
  const used = new Set<number>();
  for (const name of unique) {
    const found = CONVENTIONAL_SLOTS.find(({ pattern }) => pattern.test(name));
    if (!found) continue;
    const slot = found[isDark ? 'dark' : 'light'];
    chosen.set(name, { slot, dash: used.has(slot) ? 2 : 0 });
    used.add(slot);
  }
  for (const name of unique.filter((one) => !chosen.has(one)).toSorted()) {
    if (used.size === palette.length) used.clear();
    const slot = findFreeSlot(used, hashText(name));
    const dash = chosen.size >= palette.length ? 2 : slot < SOLID_COLORS ? 0 : 1;
    used.add(slot);
    chosen.set(name, { slot, dash });
  }
  return names.map((name) => {
    const { slot, dash } = chosen.get(name) ?? { slot: 0, dash: 0 };
    return { color: palette[slot] ?? '', dash: DASHES[dash] ?? [] };
  });
}

export const assignColors = (names: readonly string[], isDark: boolean): string[] =>
  assignStyles(names, isDark).map(({ color }) => color);

/** Red is the last of the solid colors, because it means an error. Dashed ones follow. */
const ORDINARY_SLOTS = [0, 2, 3, 4, 5, 6, 7, 8, 9];
const DASHED_SLOTS = Array.from({ length: LIGHT.length - SOLID_COLORS }, (_, index) => SOLID_COLORS + index);

function findFreeSlot(used: ReadonlySet<number>, hash: number): number {
  const candidates = [...rotate(ORDINARY_SLOTS, hash), ERROR_SLOT, ...rotate(DASHED_SLOTS, hash)];
  return candidates.find((slot) => !used.has(slot)) ?? 0;
}

const rotate = (slots: readonly number[], by: number): number[] => {
  const at = by % slots.length;
  return [...slots.slice(at), ...slots.slice(0, at)];
};

function hashText(text: string): number {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
