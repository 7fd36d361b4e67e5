import { describe, expect, it } from 'vitest';
import { estimateErrorBand, projectSeries, sum } from './projection.ts';

/** Pseudo-random numbers from 0 to 1, the same on every run. */
function createNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state >>> 0) % 100_000) / 100_000;
  };
}

interface Shape {
  days: number;
  noise: number;
  weeklyGrowth?: number;
  anomalyAt?: number;
  stepAt?: number;
}

/** Like the demo: weekends at 40 % of a weekday, with noise. The first day is a Monday. */
function compute(seed: number, { days, noise, weeklyGrowth = 1, anomalyAt, stepAt }: Shape): number[] {
  const next = createNoise(seed);
  return Array.from({ length: days }, (_, day) => {
    const load = day % 7 >= 5 ? 0.4 : 1;
    const level = weeklyGrowth ** (day / 7) * (stepAt !== undefined && day >= stepAt ? 2 : 1);
    const odd = day === anomalyAt ? 6 : 1;
    return Math.round(42_984_000 * load * level * odd * (1 - noise / 2 + next() * noise));
  });
}

const storage = (days: number) => Array.from({ length: days }, (_, day) => 1_612_500 + day * 1_000);

/** For each day of the last month: was the total of the remaining days within the band? */
function backtest(all: readonly (readonly number[])[]): boolean[] {
  const days = all[0]?.length ?? 0;
  return Array.from({ length: 30 }, (_, into) => {
    const today = days - 30 + into;
    const history = all.map((series) => series.slice(Math.max(0, today - 119), today));
    const weekday = Math.max(0, today - 119) % 7;
    const left = days - today;
    const expected = sum(history.map((series) => sum(projectSeries(series, weekday, left))));
    const actual = sum(all.map((series) => sum(series.slice(today))));
    const band = estimateErrorBand(history, weekday, left);
    return Math.abs(actual - expected) <= band * expected;
  });
}

describe('a projection', () => {
  it('is exact when every week is the same', () => {
    const series = compute(1, { days: 56, noise: 0 });
    expect(projectSeries(series, 0, 14)).toEqual(compute(1, { days: 14, noise: 0 }));
    expect(projectSeries(series.slice(3), 3, 9)).toEqual(compute(1, { days: 9, noise: 0 }));
  });

  it('ignores a single outlier', () => {
    const regular = compute(7, { days: 56, noise: 0.3 });
    const withOutlier = regular.map((value, day) => (day === 50 ? value * 6 : value));
    const ratio = sum(projectSeries(withOutlier, 0, 30)) / sum(projectSeries(regular, 0, 30));
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05);
  });

  it('adapts within two weeks when the cost doubles', () => {
    const series = compute(3, { days: 70, noise: 0, stepAt: 56 });
    expect(sum(projectSeries(series, 0, 7))).toBeCloseTo(2 * sum(compute(3, { days: 7, noise: 0 })), 0);
  });

  it('continues a trend of eight weeks, up to a limit', () => {
    const week = sum(compute(3, { days: 7, noise: 0 }));
    const growing = projectSeries(compute(3, { days: 56, noise: 0, weeklyGrowth: 1.02 }), 0, 7);
    expect(sum(growing) / (week * 1.02 ** 8)).toBeCloseTo(1, 1);
    const wild = sum(projectSeries(compute(3, { days: 56, noise: 0, weeklyGrowth: 1.5 }), 0, 28));
    const last = sum(compute(3, { days: 56, noise: 0, weeklyGrowth: 1.5 }).slice(-7));
    expect(wild).toBeLessThan(4 * last * 1.03 ** 5);
  });

  it('is 0 without history, and the mean of a short history', () => {
    expect(projectSeries([], 0, 2)).toEqual([0, 0]);
    expect(projectSeries([0, 0, 0], 0, 1)).toEqual([0]);
    expect(projectSeries([0, 0, 4, 2], 0, 2)).toEqual([3, 3]);
  });

  it('has the widest band without enough history', () => {
    expect(estimateErrorBand([[1, 2, 3]], 0, 30)).toBe(0.5);
    expect(estimateErrorBand([compute(1, { days: 119, noise: 0 })], 0, 20)).toBe(0.01);
  });
});

describe('the error band', () => {
  const seeds = Array.from({ length: 3 }, (_, seed) => seed * 7919 + 11);
  const share = (shape: Omit<Shape, 'days'>) => {
    const results = seeds.flatMap((seed) => backtest([compute(seed, { days: 150, ...shape }), storage(150)]));
    return results.filter(Boolean).length / results.length;
  };

  it.each([
    ['30 % noise', { noise: 0.3 }],
    ['an anomaly two months ago', { noise: 0.3, anomalyAt: 90 }],
    ['slow growth', { noise: 0.2, weeklyGrowth: 1.01 }],
  ])('contains the actual total on at least 8 of 10 days: %s', (_, shape) => {
    expect(share(shape)).toBeGreaterThanOrEqual(0.8);
  });

  it('is below 10 % for data like the demo’s', () => {
    for (const seed of seeds) {
      const series = [compute(seed, { days: 119, noise: 0.3 }), storage(119)];
      expect(estimateErrorBand(series, 0, 20)).toBeLessThan(0.1);
    }
  });
});
