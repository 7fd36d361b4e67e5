/** Colors of cells, from the lowest to the highest value. */
export const LEVELS = ['level0', 'level1', 'level2', 'level3', 'level4', 'level5', 'level6'] as const;
type Level = (typeof LEVELS)[number];

interface Cells {
  /** SVG paths by level, in units of one cell. Cells of the same color are one element, so that large grids draw fast. */
  paths: { level: Level; path: string }[];
  low: number;
  high: number;
}

/** Cells without a value, or with 0, are not drawn. Levels are on a square-root scale: counts are often very different. */
export function drawCells(values: readonly (readonly (number | null)[])[]): Cells {
  const present = values.flat().filter((value) => value !== null && value !== 0) as number[];
  const low = present.reduce((least, value) => Math.min(least, value), present[0] ?? 0);
  const high = present.reduce((most, value) => Math.max(most, value), present[0] ?? 0);
  const paths = LEVELS.map((level) => ({ level, path: '' }));
  for (const [row, list] of values.entries())
    for (const [column, value] of list.entries()) {
      if (value === null || value === 0) continue;
      const share = high === low ? 1 : Math.sqrt((value - low) / (high - low));
      const cells = paths[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))];
      if (cells) cells.path += `M${column} ${row}h1v1h-1z`;
    }
  return { paths, low, high };
}
