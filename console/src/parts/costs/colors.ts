/**
 * Twenty colors per theme with a contrast of at least 3:1 on the background. The first ten are the most different, also with
 * a color vision deficiency; a test checks the distances. Lines with a color of the second ten are dashed as well.
 *
 * No published palette has ten colors with that contrast: of Okabe and Ito's eight, three fail on white and one on the dark
 * background. These were searched for by the distances of the test, among colors with enough chroma that none looks brown,
 * olive or gray, except the one for debug messages.
 */
const LIGHT = [
  ...['#0b7285', '#d6293e', '#00770e', '#1538af', '#d262c4', '#3fa17e', '#5b8cff', '#8554c4', '#e8721c', '#77154d'],
  ...['#4d3869', '#51565b', '#2370ee', '#770793', '#1c4d15', '#1ca838', '#930e15', '#0093b6', '#b6388c', '#158562'],
];
const DARK = [
  ...['#4fc3d4', '#ff7b7b', '#f5d33c', '#398eb8', '#de3788', '#1dad47', '#8ef7ff', '#4af193', '#586cfb', '#b482fd'],
  ...['#ec8bfd', '#f0a877', '#bafd77', '#c1cfc7', '#19af9e', '#bfb000', '#9e5bd6', '#d460c6', '#d8bcfc', '#8ecc9b'],
];
export const PALETTES = { light: LIGHT, dark: DARK };

/** The colors that are distinct without a dash. */
export const SOLID_COLORS = 10;

/** Lengths of dashes and gaps in pixels, for names beyond the solid colors and for names beyond the palette. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3]];

/** The red one. */
const ERROR_SLOT = 1;

/** Log levels and rejected records have conventional colors: red, orange or yellow, blue, and gray. */
const CONVENTIONAL_SLOTS: { pattern: RegExp; light: number; dark: number }[] = [
  { pattern: /^(fatal|critical|error|rejected)$/i, light: ERROR_SLOT, dark: ERROR_SLOT },
  { pattern: /^warn(ing)?$/i, light: 8, dark: 2 },
  { pattern: /^info$/i, light: 6, dark: 8 },
  { pattern: /^(debug|trace)$/i, light: 11, dark: 13 },
];

/** For names with a fixed order, such as meters: neighbors differ most. Red means an error, so it is the last. */
const ORDERED_SLOTS = { light: [0, 8, 7, 2, 6, 4, 3, 5, 9, 1], dark: [0, 2, 9, 7, 4, 8, 5, 6, 3, 1] };

/** The color at a place of a fixed order. */
export function getOrderedColor(place: number, isDark: boolean): string {
  const slots = ORDERED_SLOTS[isDark ? 'dark' : 'light'];
  return PALETTES[isDark ? 'dark' : 'light'][slots[place % slots.length] ?? 0] ?? '';
}

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
