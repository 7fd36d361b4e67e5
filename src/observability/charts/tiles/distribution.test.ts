import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExplicitHistogram, type ExponentialHistogram, estimateQuantile } from './distribution.ts';

const explicit = (bounds: number[], counts: number[]): ExplicitHistogram => ({ kind: 'explicit', bounds, counts });
const exponential = (given: Partial<ExponentialHistogram>): ExponentialHistogram => ({
  kind: 'exponential',
  scale: 0,
  positive: [],
  negative: [],
  zeros: 0,
  ...given,
});

describe('quantiles of a histogram with bounds', () => {
  it.each([
    ['in the middle of a bucket', [10, 20], [10, 10, 0], 0.25, 5],
    ['at the end of a bucket', [10, 20], [10, 10, 0], 0.5, 10],
    ['in the second bucket', [10, 20], [10, 10, 0], 0.75, 15],
    ['level 0: the start of the counts', [10, 20], [0, 10, 0], 0, 10],
    ['level 1: the end of the counts', [10, 20], [10, 10, 0], 1, 20],
    ['in the open bucket: the last bound', [10, 20], [0, 0, 5], 0.5, 20],
    ['past an empty bucket', [10, 20, 30], [5, 0, 5, 0], 0.75, 25],
    ['a negative lowest bound contains its whole bucket', [-10, 0, 10], [4, 4, 4, 0], 0.2, -10],
    ['without counts', [10, 20], [0, 0, 0], 0.5, null],
    ['without bounds', [], [7], 0.5, 0],
  ])('%s', (_, bounds, counts, level, expected) => {
    const quantile = estimateQuantile([explicit(bounds, counts)], level);
    if (expected === null) expect(quantile).toBeNull();
    else expect(quantile).toBeCloseTo(expected, 9);
  });

  it('combine histograms with different bounds', () => {
    // Ten values spread over 0..10 and ten over 0..20: 5 + 2.5 of them are below 5.
    const quantile = estimateQuantile([explicit([10], [10, 0]), explicit([20], [10, 0])], 7.5 / 20);
    expect(quantile).toBeCloseTo(5, 9);
  });

  it('increase with the level and stay within the bounds', () => {
    const histogram = fc
      .uniqueArray(fc.integer({ min: -100, max: 100 }), { minLength: 1, maxLength: 8 })
      .map((list) => list.sort((a, b) => a - b))
      .chain((bounds) =>
        fc
          .array(fc.nat(50), { minLength: bounds.length + 1, maxLength: bounds.length + 1 })
          .map((counts) => explicit(bounds, counts)),
      );
    fc.assert(
      fc.property(fc.array(histogram, { minLength: 1, maxLength: 3 }), (histograms) => {
        const levels = [0, 0.1, 0.5, 0.9, 0.99, 1].map((level) => estimateQuantile(histograms, level));
        if (levels[0] === null) return levels.every((value) => value === null);
        const values = levels as number[];
        const bounds = histograms.flatMap((one) => one.bounds);
        return (
          values.every((value, at) => at === 0 || value >= (values[at - 1] as number) - 1e-9) &&
          values.every((value) => value <= Math.max(...bounds, 0) && value >= Math.min(...bounds, 0))
        );
      }),
    );
  });
});

describe('quantiles of an exponential histogram', () => {
  it.each([
    ['scale 0: buckets double', exponential({ positive: [[0, 10]] }), 0.5, 2 ** 0.5],
    [
      'over two buckets',
      exponential({
        positive: [
          [0, 5],
          [3, 5],
        ],
      }),
      0.75,
      8 * 2 ** 0.5,
    ],
    ['zeros are exactly zero', exponential({ zeros: 6, positive: [[0, 4]] }), 0.5, 0],
    ['negative values mirror positive ones', exponential({ negative: [[0, 10]] }), 0.5, -(2 ** 0.5)],
    ['scale 1: each bucket is a root of two wide', exponential({ scale: 1, positive: [[2, 4]] }), 1, 2 ** 1.5],
  ])('%s', (_, histogram, level, expected) => {
    expect(estimateQuantile([histogram], level)).toBeCloseTo(expected, 9);
  });

  it('convert a finer scale to the coarser one', () => {
    // Buckets 2 and 3 of scale 1 correspond to bucket 1 of scale 0: (2, 4].
    const fine = exponential({
      scale: 1,
      positive: [
        [2, 5],
        [3, 5],
      ],
    });
    const coarse = exponential({ scale: 0, positive: [[1, 10]] });
    expect(estimateQuantile([fine, coarse], 0.5)).toBeCloseTo(2 * 2 ** 0.5, 9);
  });

  it('are null without data', () => {
    expect(estimateQuantile([exponential({})], 0.5)).toBeNull();
  });
});
