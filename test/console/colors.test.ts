import { describe, expect, it } from 'vitest';
import {
  assignColors,
  assignStyles,
  getOrderedColor,
  PALETTES,
  SOLID_COLORS,
} from '../../console/src/parts/costs/colors.ts';

type Triple = [number, number, number];

const parseHex = (hex: string): Triple =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
const multiply = (matrix: Triple[], [r, g, b]: Triple): Triple =>
  matrix.map(([x, y, z]) => Math.min(1, Math.max(0, x * r + y * g + z * b))) as Triple;

/** OKLab (Ottosson): the distance of two colors is close to the perceived difference. */
function toOklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** How linear RGB appears with a complete deficiency (Machado et al.). */
const VISION: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function findSmallestDistance(colors: readonly string[], vision: string): number {
  const seen = colors.map((hex) => toOklab(multiply(VISION[vision] ?? [], parseHex(hex))));
  const distances = seen.flatMap((one, at) =>
    seen.slice(at + 1).map((other) => Math.hypot(...one.map((value, axis) => value - (other[axis] ?? 0)))),
  );
  return Math.min(...distances);
}

const luminance = (hex: string) => {
  const [r, g, b] = parseHex(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one: string, other: string) => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

describe('colors of series', () => {
  it.each([
    ['light', '#ffffff'],
    ['dark', '#242d32'],
  ] as const)('%s: twenty colors differ, ten of them also with a color vision deficiency', (name, background) => {
    const palette = PALETTES[name];
    expect(new Set(palette).size).toBe(20);
    expect(findSmallestDistance(palette, 'normal')).toBeGreaterThan(0.09);
    const solid = palette.slice(0, SOLID_COLORS);
    expect(findSmallestDistance(solid, 'normal')).toBeGreaterThan(0.14);
    for (const vision of ['protanopia', 'deuteranopia']) {
      expect(findSmallestDistance(solid, vision)).toBeGreaterThan(0.08);
      expect(findSmallestDistance(palette, vision)).toBeGreaterThan(0.05);
    }
    for (const color of palette) expect(contrast(color, background)).toBeGreaterThanOrEqual(3);
  });

  it.each(['light', 'dark'] as const)('%s: no color but the one for debug messages is brown, olive or gray', (name) => {
    const muddy = PALETTES[name].filter((hex) => {
      const [lightness, a, b] = toOklab(parseHex(hex));
      const hue = (Math.atan2(b, a) * 180) / Math.PI;
      return Math.hypot(a, b) < 0.05 || (hue > 40 && hue < 125 && lightness < 0.6);
    });
    expect(muddy).toEqual(assignColors(['DEBUG'], name === 'dark'));
  });

  it.each([false, true])('dark %s: ten meters have different colors, and none is red before the last', (isDark) => {
    const colors = Array.from({ length: 10 }, (_, place) => getOrderedColor(place, isDark));
    expect(new Set(colors).size).toBe(10);
    expect(colors.indexOf(PALETTES[isDark ? 'dark' : 'light'][1] ?? '')).toBe(9);
  });

  it.each([false, true])('dark %s: twenty names have different colors, from the eleventh on dashed', (isDark) => {
    const names = Array.from({ length: 20 }, (_, index) => `service-${index * 7}`);
    const styles = assignStyles(names, isDark);
    expect(new Set(styles.map(({ color }) => color)).size).toBe(20);
    expect(styles.filter(({ dash }) => dash.length > 0)).toHaveLength(10);
    expect(assignStyles(names.slice(0, 10), isDark).every(({ dash }) => dash.length === 0)).toBe(true);
    const many = assignStyles(
      Array.from({ length: 40 }, (_, index) => `pod-${index}`),
      isDark,
    );
    expect(new Set(many.map(({ color, dash }) => `${color} ${dash}`)).size).toBe(40);
  });

  it('a name keeps its color in another chart, and log levels have conventional colors', () => {
    expect(assignColors(['checkout'], false)).toEqual(assignColors(['checkout', 'web'], false).slice(0, 1));
    expect(assignColors(['ERROR', 'WARN', 'INFO', 'DEBUG'], false)).toEqual([
      '#d6293e',
      '#e8721c',
      '#5b8cff',
      '#51565b',
    ]);
    expect(assignStyles(['INFO', 'DEBUG'], false).every(({ dash }) => dash.length === 0)).toBe(true);
  });
});
