import { describe, expect, it } from 'vitest';
import { chooseBucketSeconds } from './count-queries.ts';
import { keyStatement } from './storage-queries.ts';

const HOUR_MS = 3_600_000;

describe('the queries of the Telemetry page', () => {
  it.each([
    [1, 60],
    [2, 60],
    [3, 300],
    [24, 900],
    [7 * 24, 6 * 3600],
    [30 * 24, 6 * 3600],
    [90 * 24, 24 * 3600],
  ])('%i hours have at most 120 buckets', (hours, seconds) => {
    expect(chooseBucketSeconds({ from: 0, to: hours * HOUR_MS })).toBe(seconds);
    expect((hours * 3600) / seconds).toBeLessThanOrEqual(120);
  });

  it.each([
    [1, 1],
    [100_000, 1],
    [100_001, 2],
    [1e9, 10_000],
  ])('of %i rows, about 100,000 are sampled', (rows, every) => {
    expect(keyStatement('o', 'logs', rows).parameters.every).toBe(every);
  });
});
