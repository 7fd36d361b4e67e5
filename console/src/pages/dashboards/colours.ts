/** At least 3 to 1 on the surface of either scheme, neighbours far apart. */
const LIGHT = [
  '#0b7285',
  '#d9480f',
  '#5f3dc4',
  '#2b8a3e',
  '#c2255c',
  '#1864ab',
  '#9c6a00',
  '#6b4423',
  '#087f5b',
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
  '#38d9a9',
  '#f783ac',
  '#91a7ff',
  '#adb5bd',
];

/** What everybody expects in these colours. */
const MEANINGS: [RegExp, number][] = [
  [/^(fatal|critical|error)$/i, 4],
  [/^warn(ing)?$/i, 6],
  [/^info$/i, 5],
];

/** One for each name; the same as long as the same names are there, whichever is largest. */
export function coloursOf(names: readonly string[], isDark: boolean): string[] {
  const palette = isDark ? DARK : LIGHT;
  const meaning = (name: string) => MEANINGS.find(([pattern]) => pattern.test(name))?.[1];
  const taken = new Set(names.map(meaning));
  const free = palette.filter((_, index) => !taken.has(index));
  const order = [...new Set(names)].filter((name) => meaning(name) === undefined).toSorted();
  const choice = (name: string) => {
    const slot = meaning(name);
    return slot === undefined ? free[order.indexOf(name) % free.length] : palette[slot];
  };
  return names.map((name) => choice(name) ?? '#0b7285');
}
