import { describe, expect, it } from 'vitest';
import { findWorst, type Groups, type GroupValue, isBreach, judgeWindow, type Rule } from './judgment.ts';

const MINUTE = 60_000;
const rule: Rule = {
  threshold: 10,
  thresholdMax: null,
  thresholdType: 'above',
  stepMs: MINUTE,
  windowsToFire: 1,
  windowsToResolve: 1,
  noData: 'no_data',
  isCount: false,
  forgetsMissing: false,
};

/** The states of the only group after each window. */
function judge(given: Partial<Rule>, values: readonly (number | null)[], labels: string[] = []): string[] {
  let groups: Groups = new Map();
  const { stepMs } = { ...rule, ...given };
  return values.map((value, index) => {
    const list: GroupValue[] = value === null ? [] : [{ labels, value }];
    groups = judgeWindow({ ...rule, ...given }, groups, list, (index + 1) * stepMs);
    return findWorst(groups.values());
  });
}

describe('a threshold', () => {
  it.each([
    ['above', 10, true],
    ['above', 9.99, false],
    ['below', 10, false],
    ['below', 9.99, true],
    ['above_exclusive', 10, false],
    ['above_exclusive', 10.01, true],
    ['below_or_equal', 10, true],
    ['equal', 10, true],
    ['not_equal', 10, false],
    ['between', 10, true],
    ['between', 20, true],
    ['between', 20.01, false],
    ['not_between', 20, false],
    ['not_between', 9, true],
  ] as const)('%s 10 (and 20): %d is a breach: %s', (thresholdType, value, expected) => {
    expect(isBreach({ ...rule, thresholdType, thresholdMax: 20 }, value)).toBe(expected);
  });
});

describe('a group', () => {
  it('fires and is resolved', () => {
    expect(judge({}, [1, 10, 11, 9])).toEqual(['ok', 'firing', 'firing', 'ok']);
  });

  it('is pending until enough windows in a row are beyond the threshold', () => {
    expect(judge({ windowsToFire: 3 }, [10, 10, 1, 10, 10, 10, 1])).toEqual([
      'pending',
      'pending',
      'ok',
      'pending',
      'pending',
      'firing',
      'ok',
    ]);
  });

  it('keeps firing until enough windows in a row are normal', () => {
    expect(judge({ windowsToResolve: 2 }, [10, 1, 10, 1, 1])).toEqual(['firing', 'firing', 'firing', 'firing', 'ok']);
  });

  it.each([
    ['no_data', ['firing', 'no_data', 'no_data', 'ok']],
    ['alert', ['firing', 'firing', 'firing', 'ok']],
    ['ok', ['firing', 'ok', 'ok', 'ok']],
    ['keep', ['firing', 'firing', 'firing', 'ok']],
  ] as const)('without a value behaves as set: %s', (noData, expected) => {
    expect(judge({ noData }, [10, null, null, 1])).toEqual(expected);
  });

  it('is resolved by a normal window only, not by one that is pending and one without a value', () => {
    const given = { windowsToFire: 3 };
    expect(judge(given, [null, null, null, 10, null, 10, 10, null, 1])).toEqual([
      ...['ok', 'ok', 'no_data', 'pending', 'no_data', 'pending', 'pending', 'no_data', 'ok'],
    ]);
    expect(judge(given, [10, null, 10, 10, 10, null, 1, 10, null])).toEqual([
      ...['pending', 'ok', 'pending', 'pending', 'firing', 'firing', 'ok', 'pending', 'ok'],
    ]);
  });

  it('has no data only after enough windows in a row, if windows must be pending', () => {
    expect(judge({ windowsToFire: 2 }, [1, null, null, 1])).toEqual(['ok', 'ok', 'no_data', 'ok']);
  });

  it('of a count without rows has the value 0', () => {
    expect(judge({ isCount: true }, [10, null])).toEqual(['firing', 'ok']);
    expect(judge({ isCount: true, thresholdType: 'below' }, [10, null])).toEqual(['ok', 'firing']);
    expect(judge({ isCount: true, thresholdType: 'below' }, [null])).toEqual(['firing']);
  });

  it('that vanishes is resolved after a day, and at once if that means that it does not exist', () => {
    const hourly = { ...rule, stepMs: 60 * MINUTE, noData: 'alert' as const };
    const other = { labels: ['web'], value: 1 };
    let groups = judgeWindow(hourly, new Map(), [{ labels: ['api'], value: 10 }, other], hourly.stepMs);
    const states = Array.from({ length: 24 }, (_, index) => {
      groups = judgeWindow(hourly, groups, [other], (index + 2) * hourly.stepMs);
      return groups.get('["api"]')?.status;
    });
    expect(states.slice(-2)).toEqual(['firing', undefined]);
    expect(judge({ forgetsMissing: true, noData: 'alert' }, [10, null], ['api'])).toEqual(['firing', 'ok']);
  });

  it('of an alert without groups is never forgotten', () => {
    const hourly = { stepMs: 60 * MINUTE, thresholdType: 'below', isCount: true } as const;
    expect(new Set(judge(hourly, [10, ...Array<null>(50).fill(null)]).slice(1))).toEqual(new Set(['firing']));
  });

  it('that never had a value has no data after enough windows in a row', () => {
    expect(judge({ windowsToFire: 3 }, [null, null, null])).toEqual(['ok', 'ok', 'no_data']);
  });

  it('that was forgotten is not judged again, also if the clock is set back', () => {
    const hourly = { ...rule, stepMs: 60 * MINUTE, noData: 'alert' as const };
    const [at, api] = [(hour: number) => (1000 + hour) * hourly.stepMs, { labels: ['api'], value: 10 }];
    const announced = { status: 'firing' as const, at: at(1), isShared: false };
    const [fired] = judgeWindow(hourly, new Map(), [api], at(1)).values();
    const before: Groups = new Map(fired && [['["api"]', { ...fired, announced }]]);
    const forgotten = judgeWindow(hourly, before, [{ labels: ['web'], value: 1 }], at(26));
    expect(forgotten.get('["api"]')).toMatchObject({ status: 'ok', announced });
    expect(judgeWindow(hourly, forgotten, [], at(3)).get('["api"]')).toMatchObject({ status: 'ok', announced });
  });

  it('with a name ends the state of an alert without rows', () => {
    const silent: Groups = judgeWindow(rule, new Map(), [], MINUTE);
    expect([...silent.keys()]).toEqual(['[]']);
    const after = judgeWindow(rule, silent, [{ labels: ['api'], value: 1 }], 2 * MINUTE);
    expect([...after.keys()]).toEqual(['["api"]']);
  });
});
