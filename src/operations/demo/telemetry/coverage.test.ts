import { describe, expect, it } from 'vitest';
import { missingRanges, newestFirst } from './coverage.ts';

const STEP = 30_000;
const range = { fromMs: 0, toMs: 6 * STEP };
const missing = (...present: number[]) => missingRanges(new Set(present.map((at) => at * STEP)), range);

describe('missing ranges', () => {
  it('are the whole range without reports, and empty with all reports', () => {
    expect(missing()).toEqual([range]);
    expect(missing(0, 1, 2, 3, 4, 5)).toEqual([]);
  });

  it('are the start, the gaps and the end', () => {
    expect(missing(1, 4)).toEqual([
      { fromMs: 0, toMs: STEP },
      { fromMs: 2 * STEP, toMs: 4 * STEP },
      { fromMs: 5 * STEP, toMs: 6 * STEP },
    ]);
  });
});

describe('parts of ranges', () => {
  it('start with the newest and cover the ranges exactly', () => {
    const HOUR = 3_600_000;
    const ranges = [
      { fromMs: 0, toMs: HOUR },
      { fromMs: 2 * HOUR, toMs: 7 * HOUR },
    ];
    expect(newestFirst(ranges)).toEqual([
      { fromMs: 5 * HOUR, toMs: 7 * HOUR },
      { fromMs: 3 * HOUR, toMs: 5 * HOUR },
      { fromMs: 2 * HOUR, toMs: 3 * HOUR },
      { fromMs: 0, toMs: HOUR },
    ]);
  });
});
