import { describe, expect, it } from 'vitest';
import { formatIsoWeek, getPreviousWindow, listPeriods } from './period.ts';

describe('the periods of a window', () => {
  it('are days, compared with the previous day', () => {
    expect(listPeriods({ from: '2026-03-01', to: '2026-03-02' }, 'day')).toEqual([
      {
        name: '2026-03-01',
        from: '2026-03-01',
        to: '2026-03-01',
        previous: { from: '2026-02-28', to: '2026-02-28' },
      },
      {
        name: '2026-03-02',
        from: '2026-03-02',
        to: '2026-03-02',
        previous: { from: '2026-03-01', to: '2026-03-01' },
      },
    ]);
  });

  it('are ISO weeks, cut off at the ends of the window, compared with the same weekdays', () => {
    expect(listPeriods({ from: '2026-09-30', to: '2026-10-06' }, 'week')).toEqual([
      { name: '2026-W40', from: '2026-09-30', to: '2026-10-04', previous: { from: '2026-09-23', to: '2026-09-27' } },
      { name: '2026-W41', from: '2026-10-05', to: '2026-10-06', previous: { from: '2026-09-28', to: '2026-09-29' } },
    ]);
  });

  it.each([
    ['a whole month, compared with the whole previous month', '2026-03-01', '2026-03-31', '2026-02-01', '2026-02-28'],
    ['a short month, compared with a longer one to its end', '2026-02-01', '2026-02-28', '2026-01-01', '2026-01-31'],
    ['part of a month, compared with the same days', '2026-03-05', '2026-03-20', '2026-02-05', '2026-02-20'],
    [
      'days that the previous month lacks, compared with its last day',
      '2026-03-29',
      '2026-03-30',
      '2026-02-28',
      '2026-02-28',
    ],
    ['January, compared with December', '2026-01-01', '2026-01-31', '2025-12-01', '2025-12-31'],
  ])('are months: %s', (_, from, to, earlier, until) => {
    expect(listPeriods({ from, to }, 'month')).toEqual([
      { name: from.slice(0, 7), from, to, previous: { from: earlier, to: until } },
    ]);
  });

  it('are the whole window, compared with the same number of days before it', () => {
    expect(listPeriods({ from: '2026-10-01', to: '2026-10-10' }, 'all')).toEqual([
      {
        name: '2026-10-01/2026-10-10',
        from: '2026-10-01',
        to: '2026-10-10',
        previous: { from: '2026-09-21', to: '2026-09-30' },
      },
    ]);
  });

  it.each([
    ['all', '2026-10-01', '2026-10-01', '2026-09-30', '2026-09-30'],
    ['day', '2026-10-01', '2026-10-03', '2026-09-28', '2026-09-30'],
    ['week', '2026-09-30', '2026-10-06', '2026-09-16', '2026-09-22'],
    ['month', '2026-10-01', '2026-10-15', '2026-09-01', '2026-09-15'],
    ['month', '2026-09-01', '2026-10-31', '2026-07-01', '2026-08-31'],
    ['month', '2026-03-31', '2026-04-30', '2026-01-31', '2026-02-28'],
  ] as const)(
    'by %s, the window %s to %s is compared with the window as many periods earlier',
    (by, from, to, ...previous) => {
      expect(getPreviousWindow({ from, to }, by)).toEqual({ from: previous[0], to: previous[1] });
    },
  );

  it.each([
    ['2026-01-01', '2026-W01'],
    ['2027-01-01', '2026-W53'],
    ['2027-01-04', '2027-W01'],
    ['2024-12-30', '2025-W01'],
    ['2023-01-01', '2022-W52'],
    ['2026-11-15', '2026-W46'],
  ])('%s is in week %s', (day, week) => {
    expect(formatIsoWeek(day)).toBe(week);
  });
});
