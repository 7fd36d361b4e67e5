import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findZone, localDay, startOfLocalDay, type Zone } from '../../../kernel/time/zone.ts';
import {
  chooseGranularity,
  countBuckets,
  findGranularity,
  GRANULARITIES,
  type Granularity,
  splitRange,
} from './time-buckets.ts';

const zone = (name: string): Zone => findZone(name) as Zone;
const at = (text: string): number => Date.parse(text);
const iso = (list: number[]) => list.map((ms) => new Date(ms).toISOString());
const HOUR = 3_600_000;

describe('auto granularity', () => {
  it.each([
    [1 * 60_000, '15s'],
    [15 * 60_000, '15s'],
    [15 * 60_000 + 1, '30s'],
    [HOUR, '1m'],
    [HOUR + 1, '5m'],
    [6 * HOUR, '15m'],
    [24 * HOUR, '30m'],
    [7 * 24 * HOUR, '6h'],
    [30 * 24 * HOUR, '12h'],
    [365 * 24 * HOUR, '7d'],
    [10 * 365 * 24 * HOUR, '30d'],
  ])('for %d ms is %s', (length, expected) => {
    expect(chooseGranularity({ startMs: 0, endMs: length })).toBe(expected);
  });
});

describe('buckets', () => {
  it('cover the range completely', () => {
    const buckets = splitRange(
      { startMs: at('2026-03-01T10:07:10Z'), endMs: at('2026-03-01T10:21:00Z') },
      '5m',
      zone('UTC'),
    );
    expect(iso(buckets.starts)).toEqual([
      '2026-03-01T10:05:00.000Z',
      '2026-03-01T10:10:00.000Z',
      '2026-03-01T10:15:00.000Z',
      '2026-03-01T10:20:00.000Z',
    ]);
    expect(new Date(buckets.endMs).toISOString()).toBe('2026-03-01T10:25:00.000Z');
  });

  it('of days start at local midnight, even when the clocks change', () => {
    const range = { startMs: at('2026-03-28T12:00:00Z'), endMs: at('2026-03-30T12:00:00Z') };
    const buckets = splitRange(range, '1d', zone('Europe/Berlin'));
    expect(iso(buckets.starts)).toEqual([
      '2026-03-27T23:00:00.000Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ]);
    expect([0, 1, 2].map((index) => buckets.durationSeconds(index) / 3600)).toEqual([24, 23, 24]);
  });

  it('of hours align with a zone that has a half-hour offset', () => {
    const buckets = splitRange(
      { startMs: at('2026-03-01T10:00:00Z'), endMs: at('2026-03-01T11:00:00Z') },
      '1h',
      zone('Asia/Kolkata'),
    );
    expect(iso(buckets.starts)).toEqual(['2026-03-01T09:30:00.000Z', '2026-03-01T10:30:00.000Z']);
  });

  it('are contiguous, in order, and cover the requested range', () => {
    const moments = fc.integer({ min: at('2001-01-01'), max: at('2037-01-01') });
    const names = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/Sao_Paulo',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    );
    const steps = fc.constantFrom(...(Object.keys(GRANULARITIES) as Granularity[]));
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 200 }), names, steps, (startMs, count, name, granularity) => {
        const endMs = startMs + count * GRANULARITIES[granularity];
        const buckets = splitRange({ startMs, endMs }, granularity, zone(name));
        expect(buckets.startMs).toBeLessThanOrEqual(startMs);
        expect(buckets.endMs).toBeGreaterThanOrEqual(endMs);
        const bounds = [...buckets.starts, buckets.endMs];
        buckets.starts.forEach((start, index) => {
          expect((bounds[index + 1] as number) - start).toBe(buckets.durationSeconds(index) * 1000);
          expect(buckets.durationSeconds(index)).toBeGreaterThanOrEqual(0);
        });
        expect(buckets.starts[1] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(startMs);
        expect(buckets.starts.at(-1) as number).toBeLessThan(endMs);
      }),
      { numRuns: 300, examples: [[1_308_132_000_001, 197, 'Pacific/Apia', '1d']] },
    );
  });

  it('are as many as counted, from 1970 to 2261 and in any time zone', () => {
    const moments = fc.integer({ min: 0, max: at('2261-01-01') });
    const names = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia');
    const steps = fc.constantFrom(...(Object.keys(GRANULARITIES) as Granularity[]));
    const lengths = fc.double({ min: 0.001, max: 50, noNaN: true });
    fc.assert(
      fc.property(moments, lengths, names, steps, (startMs, length, name, granularity) => {
        const range = { startMs, endMs: startMs + Math.ceil(length * GRANULARITIES[granularity]) };
        const { starts } = splitRange(range, granularity, zone(name));
        expect(countBuckets(range, granularity, zone(name))).toBe(starts.length);
      }),
      { numRuns: 300, examples: [[1_325_160_000_000, 2, 'Pacific/Apia', '1d']] },
    );
  });

  it('are counted without creating them', () => {
    const range = { startMs: 0, endMs: at('2262-01-01') };
    expect(countBuckets(range, '1s', zone('UTC'))).toBe(range.endMs / 1000);
    expect(countBuckets(range, '1d', zone('Europe/Berlin'))).toBe(range.endMs / 86_400_000 + 1);
  });

  it('fit into a limit from the smallest granularity that is found', () => {
    const moments = fc.integer({ min: 0, max: at('2262-01-01') });
    const all = Object.keys(GRANULARITIES) as Granularity[];
    fc.assert(
      fc.property(moments, moments, fc.integer({ min: 1, max: 5000 }), (a, b, maxBuckets) => {
        const range = { startMs: Math.min(a, b), endMs: Math.max(a, b) + 1 };
        const found = findGranularity(range, zone('Europe/Berlin'), maxBuckets);
        const smaller = found === undefined ? all : all.slice(0, all.indexOf(found));
        for (const name of smaller)
          expect(countBuckets(range, name, zone('Europe/Berlin'))).toBeGreaterThan(maxBuckets);
        if (found) expect(countBuckets(range, found, zone('Europe/Berlin'))).toBeLessThanOrEqual(maxBuckets);
      }),
    );
  });

  it('are empty for a day that the time zone skipped', () => {
    // Samoa crossed the date line at the end of 2011-12-29 and skipped the 30th.
    const range = { startMs: at('2011-12-29T12:00:00Z'), endMs: at('2011-12-30T12:00:00Z') };
    const buckets = splitRange(range, '1d', zone('Pacific/Apia'));
    expect(iso(buckets.starts)).toEqual([
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
    ]);
    expect([0, 1, 2].map((index) => buckets.durationSeconds(index) / 3600)).toEqual([24, 0, 24]);
  });
});

describe('time zones', () => {
  it.each(['Mars/Base', '', '+02:00', "UTC'", 'Europe/../Berlin'])('%j is not a time zone', (name) => {
    expect(findZone(name)).toBeUndefined();
  });

  it('find the start of a local day, even where midnight does not exist', () => {
    // In São Paulo, 2018-11-04 started at 01:00.
    const day = localDay(zone('America/Sao_Paulo'), at('2018-11-04T12:00:00Z'));
    expect(new Date(startOfLocalDay(zone('America/Sao_Paulo'), day)).toISOString()).toBe('2018-11-04T03:00:00.000Z');
  });
});
