import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useEngine } from '../../../../test/support/engine.ts';
import { findZone, type Zone } from '../../../kernel/time/zone.ts';
import { GRANULARITIES, splitRange, type TimeBuckets } from './time-buckets.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = ['30m', '1h', '2h', '6h', '12h'] as const;
const zone = (name: string): Zone => findZone(name) as Zone;

/** The local date and time by a formatter that the code does not use, and the time as milliseconds since midnight. */
function readClock(format: Intl.DateTimeFormat, ms: number): { date: string; time: number } {
  const [date = '', time = ''] = format.format(ms).split(' ');
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return { date, time: hours * HOUR + minutes * MINUTE + seconds * 1000 };
}
const createClock = (timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });

/** What local clocks skip at this time: 0 if they do not jump. */
function measureJump(format: Intl.DateTimeFormat, ms: number): number {
  const [before, at] = [readClock(format, ms - 1000), readClock(format, ms)];
  const days = (Date.parse(at.date) - Date.parse(before.date)) / DAY;
  return at.time + days * DAY - before.time - 1000;
}

const at = (text: string): number => Date.parse(text);
const CHANGES = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['America/Sao_Paulo', '2019-02-17T02:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['Atlantic/Azores', '2026-10-25T01:00:00Z'],
  ['Africa/Cairo', '2026-04-23T22:00:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
] as const;

type Case = [string, number, number, (typeof STEPS)[number]];
const aroundChanges: fc.Arbitrary<Case> = fc
  .tuple(
    fc.constantFrom(...CHANGES),
    fc.integer({ min: -60, max: 30 }),
    fc.integer({ min: 1, max: 120 }),
    fc.constantFrom(...STEPS),
  )
  .map(([[name, change], before, length, step]) => [name, at(change) + before * HOUR, length, step]);
const anywhere: fc.Arbitrary<Case> = fc.tuple(
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  fc.integer({ min: at('1973-01-01'), max: at('2037-01-01') }),
  fc.integer({ min: 1, max: 300 }),
  fc.constantFrom(...STEPS),
);

describe('buckets of part of a day', () => {
  it('start at multiples of their length on local clocks, on both sides of a change', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fc.oneof(aroundChanges, anywhere), ([name, startMs, length, granularity]) => {
        const step = GRANULARITIES[granularity];
        const format = createClock(name);
        const { starts, endMs } = splitRange({ startMs, endMs: startMs + length * HOUR }, granularity, zone(name));
        for (const start of [...starts, endMs]) {
          const { time } = readClock(format, start);
          if (time % step === 0) continue;
          const jump = measureJump(format, start);
          // The clocks skip the multiple of the step.
          expect(jump, `${name} ${new Date(start).toISOString()}`).toBeGreaterThan(0);
          expect(time % step).toBeLessThanOrEqual(jump);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('are as many as a day has, and one starts with each day', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(aroundChanges, ([name, startMs, length, granularity]) => {
        const step = GRANULARITIES[granularity];
        if (step < 2 * HOUR || name === 'Antarctica/Troll') return;
        const format = createClock(name);
        const { starts } = splitRange({ startMs, endMs: startMs + (length + 72) * HOUR }, granularity, zone(name));
        const days = starts.map((start) => readClock(format, start).date);
        const whole = [...new Set(days)].slice(1, -1);
        for (const day of whole) expect([day, days.filter((one) => one === day).length]).toEqual([day, DAY / step]);
      }),
      { numRuns: 200 },
    );
  });

  it('of six hours keep their alignment after a change', () => {
    const range = { startMs: at('2026-03-28T23:00:00Z'), endMs: at('2026-03-30T22:00:00Z') };
    const buckets = splitRange(range, '6h', zone('Europe/Berlin'));
    const clock = createClock('Europe/Berlin');
    expect(buckets.starts.map((start) => clock.format(start))).toEqual(
      ['29', '30'].flatMap((day) => ['00', '06', '12', '18'].map((hour) => `2026-03-${day} ${hour}:00:00`)),
    );
    expect(buckets.starts.map((_, index) => buckets.durationSeconds(index) / 3600)).toEqual([5, 6, 6, 6, 6, 6, 6, 6]);
  });
});

describe('the index in SQL', () => {
  const engine = useEngine();

  it('is that of the bucket that contains the time', { timeout: 120_000 }, async () => {
    for (const [name, change] of CHANGES)
      for (const granularity of STEPS) {
        const range = { startMs: at(change) - 47 * HOUR, endMs: at(change) + 31 * HOUR };
        const buckets = splitRange(range, granularity, zone(name));
        const parameters: Record<string, unknown> = {};
        const bind = (value: unknown, type: string) => {
          const key = `p${Object.keys(parameters).length}`;
          parameters[key] = value;
          return `{${key}:${type}}`;
        };
        const time = `fromUnixTimestamp64Milli(${bind(buckets.startMs, 'Int64')} + toInt64(number) * 300000)`;
        const sql = `SELECT ${buckets.indexSql('t', bind)} FROM (SELECT ${time} AS t FROM system.numbers LIMIT ${bind(Math.ceil((buckets.endMs - buckets.startMs) / 300_000), 'UInt32')})`;
        const found = (await engine.query({ sql, parameters })).map(([index]) => Number(index));
        expect(found, `${name} ${granularity}`).toEqual(
          found.map((_, index) => findBucket(buckets, buckets.startMs + index * 300_000)),
        );
      }
  });
});

const findBucket = ({ starts }: TimeBuckets, ms: number): number => starts.findLastIndex((start) => start <= ms);
