import { describe, expect, it } from 'vitest';
import { normalizeDecimal, sumDecimals } from '../../../kernel/numbers/decimal.ts';
import { type DemoMeter, generateUsage, sumUsage } from './generator.ts';

const compute: DemoMeter = {
  entityType: 'service',
  entityId: 'a',
  meter: 'compute',
  everyMinutes: 1,
  quantity: 6,
  shape: 'used',
  hasSpikes: true,
};
const storage: DemoMeter = { ...compute, meter: 'storage', everyMinutes: 60, quantity: 1e12, shape: 'stored' };
const END = Number.POSITIVE_INFINITY;
const DAY = 86_400_000;

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const total = (meter: DemoMeter, date: string) =>
  [...generateUsage([meter], date, END)].reduce((sum, text) => sum + Number(JSON.parse(text).quantity), 0);

describe('generated demo usage', () => {
  it('is deterministic, with one event per interval and unique ids', () => {
    const first = [...generateUsage([compute, storage], '2026-10-05', END)];
    expect(first).toHaveLength(1440 + 24);
    expect([...generateUsage([compute, storage], '2026-10-05', END)]).toEqual(first);
    expect(new Set(first.map((text) => JSON.parse(text).id)).size).toBe(first.length);
  });

  it('contains only intervals that have ended', () => {
    const noon = Date.parse('2026-10-05T12:00:30Z');
    expect([...generateUsage([compute, storage], '2026-10-05', noon)]).toHaveLength(720 + 12);
  });

  it('drops at weekends and grows for storage', () => {
    expect(total(compute, '2026-10-04')).toBeLessThan(0.5 * total(compute, '2026-10-05'));
    expect(total(storage, '2026-10-05')).toBeGreaterThan(total(storage, '2026-09-05'));
  });

  it('has a spike in the last week on any day and at any time of day, and none before', () => {
    for (let hour = 0; hour < 24 * 8; hour += 11) {
      const now = Date.parse('2026-11-02T00:30:00Z') + hour * 3_600_000;
      const days = Array.from({ length: 15 }, (_, back) =>
        Number(sumUsage(compute, dayAt(now - back * DAY), now) ?? 0),
      );
      const ordinary = days.toSorted((a, b) => a - b)[8] ?? 0;
      const spikes = days.flatMap((one, back) => (one > 1.7 * ordinary ? [back] : []));
      expect(spikes.filter((back) => back > 0 && back <= 6)).toHaveLength(1);
      expect(spikes.filter((back) => back > 6)).toEqual([]);
    }
  });

  it('adds up to the sum that provisional costs are computed from', () => {
    const now = Date.parse('2026-11-02T13:45:10Z');
    for (const meter of [compute, storage]) {
      const quantities = [...generateUsage([meter], '2026-11-02', now)].map((text) => JSON.parse(text).quantity);
      expect(normalizeDecimal(sumUsage(meter, '2026-11-02', now) ?? '')).toBe(sumDecimals(quantities));
    }
    expect(sumUsage(compute, '2026-11-03', now)).toBeUndefined();
  });
});
