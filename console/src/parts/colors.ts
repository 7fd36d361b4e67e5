/** Contrast of at least 3:1 on the background; adjacent entries differ clearly. */
const LIGHT = [
  '#0b7285',
  '#d9480f',
  '#5f3dc4',
  '#2b8a3e',
  '#c2255c',
  '#1864ab',
  '#9c6a00',
  '#6b4423',
  '#862e9c',
  '#a61e4d',
  '#364fc7',
  '#5c6b73',
];
const DARK = [
  '#4fc3d4',
  '#ff922b',
  '#b197fc',
  '#69db7c',
  '#faa2c1',
  '#74c0fc',
  '#ffd43b',
  '#d0a784',
  '#e599f7',
  '#f783ac',
  '#91a7ff',
  '#adb5bd',
];

/** Log levels have conventional colors. */
const CONVENTIONAL_COLORS: [RegExp, number][] = [
  [/^(fatal|critical|error)$/i, 4],
  [/^warn(ing)?$/i, 6],
  [/^info$/i, 5],
  [/^(debug|trace)$/i, 11],
];

/** One color per name, derived from a hash so that a name keeps its color across charts. Names share colors only when the palette is exhausted. */
export function assignColors(names: readonly string[], isDark: boolean): string[] {
  const palette = isDark ? DARK : LIGHT;
  const chosen = new Map<string, number>();
  const usedSlots = new Set<number>();
  const assign = (name: string, slot: number) => {
    chosen.set(name, slot);
    usedSlots.add(slot);
  };
  for (const name of names) {
    const slot = CONVENTIONAL_COLORS.find(([pattern]) => pattern.test(name))?.[1];
    if (slot !== undefined) assign(name, slot);
  }
  for (const name of [...new Set(names)].filter((one) => !chosen.has(one)).toSorted()) {
    if (usedSlots.size >= palette.length) usedSlots.clear();
    let slot = hashText(name) % (palette.length - 1);
    while (usedSlots.has(slot)) slot = (slot + 1) % palette.length;
    assign(name, slot);
  }
  return names.map((name) => palette[chosen.get(name) ?? 0] ?? '#0b7285');
}

function hashText(text: string): number {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
