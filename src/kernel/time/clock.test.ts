import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoSeconds, isoTime, parseDate, parseDateTime } from './clock.ts';

const FIRST = Date.parse('0000-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const time = fc.integer({ min: FIRST, max: LAST });
const optional = { offset: 'optional' } as const;
const required = { offset: 'required' } as const;

describe('date-times', () => {
  it('K4: round-trip to the same millisecond', () => {
    fc.assert(
      fc.property(time, (ms) => {
        expect(parseDateTime(isoTime(ms), required)).toBe(ms);
        expect(parseDateTime(new Date(ms).toISOString(), required)).toBe(ms);
      }),
    );
  });

  it('every millisecond of a second round-trips', () => {
    const all = Array.from({ length: 1000 }, (_, ms) => ms);
    expect(all.map((ms) => parseDateTime(new Date(ms).toISOString(), required))).toEqual(all);
  });

  it('S7, K2: whole seconds are truncated, never rounded up', () => {
    fc.assert(
      fc.property(time, (ms) => {
        expect(isoSeconds(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(parseDateTime(isoSeconds(ms), required)).toBe(Math.floor(ms / 1000) * 1000);
      }),
    );
  });

  it('K4: milliseconds are omitted if they are zero', () => {
    expect(isoTime(Date.UTC(2026, 9, 1, 2, 3, 4))).toBe('2026-10-01T02:03:04Z');
    expect(isoTime(Date.UTC(2026, 9, 1, 2, 3, 4, 50))).toBe('2026-10-01T02:03:04.050Z');
  });

  it('U2, K4: an offset shifts the time', () => {
    const inRange = fc.integer({ min: FIRST + 86_400_000, max: LAST - 86_400_000 });
    fc.assert(
      fc.property(
        inRange,
        fc.constantFrom('+', '-'),
        fc.nat(23),
        fc.nat(59),
        fc.constantFrom(':', ''),
        (ms, sign, hours, minutes, colon) => {
          const two = (number: number) => String(number).padStart(2, '0');
          const shift = (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
          const local = new Date(ms + shift).toISOString().slice(0, -1);
          expect(parseDateTime(`${local}${sign}${two(hours)}${colon}${two(minutes)}`, required)).toBe(ms);
        },
      ),
    );
  });

  it('U2: without an offset means UTC, unless one is required (K4)', () => {
    fc.assert(
      fc.property(time, (ms) => {
        const text = new Date(ms).toISOString().slice(0, -1);
        expect(parseDateTime(text, optional)).toBe(ms);
        expect(parseDateTime(text, required)).toBeUndefined();
      }),
    );
  });

  it.each([
    ['2026-10-01T10:00Z', '2026-10-01T10:00:00.000Z'],
    ['2026-10-01t10:00:00z', '2026-10-01T10:00:00.000Z'],
    ['2026-10-01T10:00:00,5Z', '2026-10-01T10:00:00.500Z'],
    ['2026-10-01T10:00:00.123456789Z', '2026-10-01T10:00:00.123Z'],
    ['2026-10-01T10:00:00.9999Z', '2026-10-01T10:00:00.999Z'],
    ['2024-02-29T00:00:00-00:30', '2024-02-29T00:30:00.000Z'],
  ])('K4: %s is %s', (text, expected) => {
    expect(new Date(parseDateTime(text, required) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'now',
    '2026-10-01',
    '2026-10-01T10Z',
    '2026-10-01T10:00:00',
    '2026-10-01 10:00:00Z',
    '2026-10-01T24:00:00Z',
    '2026-10-01T10:60:00Z',
    '2026-10-01T00:00:60Z',
    '2026-12-31T23:59:60Z',
    '2026-10-01T10:00:61Z',
    '2026-02-30T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-10-01T10:00:00+24:00',
    '2026-10-01T10:00:00+10:60',
    '2026-10-01T10:00:00+1',
    '2026-10-01T10:00:00 Z',
    '2026-10-01T10:00:00.Z',
    '2026-10-01T10:00:00.1234567890Z',
    '+002026-10-01T10:00:00Z',
    '2026-10-01T10:00:00Z\n',
    '2026-W40-4T10:00:00Z',
    '1790848800',
  ])('K4: %j is not a date-time with an offset', (text) => {
    expect(parseDateTime(text, required)).toBeUndefined();
  });

  it('U2, K4: accepts exactly the hours 0 to 23, the minutes 0 to 59 and the seconds 0 to 59', () => {
    const two = (number: number) => String(number).padStart(2, '0');
    const day = fc.integer({ min: FIRST + 86_400_000, max: LAST - 86_400_000 });
    const field = (last: number) => fc.oneof(fc.nat(last), fc.integer({ min: last, max: last + 2 }), fc.nat(99));
    const zone = fc.constantFrom('Z', 'z', '+00:00', '-0530', '+14:00');
    fc.assert(
      fc.property(
        day,
        field(23),
        field(59),
        field(59),
        fc.constantFrom('', '.0', ',999'),
        zone,
        (ms, h, m, s, f, z) => {
          const text = `${new Date(ms).toISOString().slice(0, 10)}T${two(h)}:${two(m)}:${two(s)}${f}`;
          const exists = h <= 23 && m <= 59 && s <= 59;
          expect(parseDateTime(text + z, required) !== undefined).toBe(exists);
          expect(parseDateTime(text, optional) !== undefined).toBe(exists);
        },
      ),
    );
  });

  it('K4: second 60 does not exist in any minute', () => {
    fc.assert(
      fc.property(time, fc.constantFrom('', '.5', ',000'), (ms, fraction) => {
        const minute = new Date(ms).toISOString().slice(0, 17);
        expect(parseDateTime(`${minute}60${fraction}Z`, required)).toBeUndefined();
        expect(parseDateTime(`${minute}60${fraction}`, optional)).toBeUndefined();
      }),
    );
  });

  it.each(['9999-12-31T23:30:00-01:00', '0000-01-01T00:30:00+01:00'])(
    'K4: %s is in a year that does not fit four digits',
    (text) => {
      expect(parseDateTime(text, required)).toBeUndefined();
    },
  );
});

describe('U2: dates', () => {
  it('are the midnight of their UTC day', () => {
    fc.assert(
      fc.property(time, (ms) => {
        expect(parseDate(new Date(ms).toISOString().slice(0, 10))).toBe(Math.floor(ms / 86_400_000) * 86_400_000);
      }),
    );
  });

  it('exist only if they are in the calendar', () => {
    const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const lengths = (year: number) => [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9999 }), fc.nat(14), fc.nat(32), (year, month, day) => {
        const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        expect(parseDate(text) !== undefined).toBe(day >= 1 && day <= (lengths(year)[month - 1] ?? 0));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '',
    '2026-1-01',
    '20261001',
    '2026-10-01T00:00:00Z',
    '2026/10/01',
    ' 2026-10-01',
    '2026-10-01\n',
    '-2026-10-01',
    '12026-10-01',
  ])('%j is not a date', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });
});
