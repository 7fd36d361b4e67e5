import { describe, expect, it } from 'vitest';
import { type DemoMeter, generateUsage } from './generator.ts';

const compute: DemoMeter = {
  entityType: 'service',
  entityId: 'a',
  meter: 'compute',
  everyMinutes: 1,
  quantity: 6,
  shape: 'used',
  isAnomalous: true,
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

  it('drops at weekends, grows for storage, and has one anomaly in ninety days', () => {
    expect(total(compute, '2026-10-04')).toBeLessThan(0.5 * total(compute, '2026-10-05'));
    expect(total(storage, '2026-10-05')).toBeGreaterThan(total(storage, '2026-09-05'));
    const days = Array.from({ length: 90 }, (_, index) =>
      total(compute, dayAt(Date.parse('2026-08-01') + index * DAY)),
    );
    const ordinary = [...days].sort((a, b) => a - b)[60] ?? 0;
    expect(days.filter((one) => one > 1.7 * ordinary)).toHaveLength(1);
  });
});
