import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, countDaysBetween, listDaysBetween, parseDay, toUtcDay } from './days.ts';

const DAY_MS = 86_400_000;
const FIRST = Date.parse('0001-01-01T00:00:00Z') / DAY_MS;
const LAST = Date.parse('9999-12-31T00:00:00Z') / DAY_MS;
const number = fc.integer({ min: FIRST, max: LAST });
const formatDay = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

describe('U2: days', () => {
  it('are equal for a date and every time of that day', () => {
    fc.assert(
      fc.property(number, fc.nat(DAY_MS - 1), (day, ms) => {
        const moment = day * DAY_MS + ms;
        expect(toUtcDay(moment)).toBe(formatDay(day));
        expect(parseDay(formatDay(day))).toBe(formatDay(day));
        expect(parseDay(new Date(moment).toISOString())).toBe(formatDay(day));
      }),
    );
  });

  it.each([
    ['2026-10-02T01:30:00+02:00', '2026-10-01'],
    ['2026-10-01T23:30:00-01:00', '2026-10-02'],
    ['2026-10-01T23:30:00', '2026-10-01'],
    ['2027-01-01T00:00:00+00:01', '2026-12-31'],
    ['2024-02-28T23:00:00-02:00', '2024-02-29'],
  ])('%s is in the UTC day %s', (text, day) => {
    expect(parseDay(text)).toBe(day);
  });

  it.each([
    '0000-12-31',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '10000-01-01',
    '2026-02-30',
    '2026-10-01T25:00:00Z',
    'today',
    '',
  ])('%j is not a day', (text) => {
    expect(parseDay(text)).toBeUndefined();
  });

  it('sort as strings in time order', () => {
    fc.assert(
      fc.property(number, number, (one, other) => {
        expect(formatDay(one) < formatDay(other)).toBe(one < other);
      }),
    );
  });

  it('adding days and counting days are inverse operations', () => {
    fc.assert(
      fc.property(number, number, (from, to) => {
        expect(countDaysBetween(formatDay(from), formatDay(to))).toBe(to - from);
        expect(addDays(formatDay(from), to - from)).toBe(formatDay(to));
      }),
    );
  });

  it('a range contains each day once, in order, including both ends', () => {
    fc.assert(
      fc.property(number, fc.nat(40), (from, length) => {
        const to = Math.min(from + length, LAST);
        const days = listDaysBetween(formatDay(from), formatDay(to));
        expect(days).toEqual(Array.from({ length: to - from + 1 }, (_, index) => formatDay(from + index)));
      }),
    );
  });

  it('a range that ends before it starts is empty; a range can end on the last possible day', () => {
    expect(listDaysBetween('2026-10-02', '2026-10-01')).toEqual([]);
    expect(listDaysBetween('9999-12-30', '9999-12-31')).toEqual(['9999-12-30', '9999-12-31']);
  });
});
