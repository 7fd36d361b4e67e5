import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../kernel/time/clock.ts';
import {
  CUMULATIVE,
  DELTA,
  type MetricRow,
  TABLE_KINDS,
  type TelemetryRows,
} from '../../../observability/own-telemetry/rows.ts';
import { createDemoTelemetry, wholeSteps } from './generator.ts';
import { fullHour, INCIDENT, METRICS_EVERY_MS, STEP_MS, severityAt } from './traffic.ts';

const WEDNESDAY = Date.parse('2026-11-11T15:20:30Z');
const ORGANIZATION = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';

const generateRows = (fromMs: number, toMs: number, seed = 'test'): TelemetryRows =>
  createDemoTelemetry({ organizationId: ORGANIZATION, seed, fromMs }).advance(toMs);

const day = generateRows(WEDNESDAY - DAY_MS, WEDNESDAY);
const toMs = (time: string) => Number(time) * 1000;

/** Groups points into series in time order, ignoring process restarts. */
function groupSeries<T extends MetricRow>(rows: readonly T[]): T[][] {
  const series = new Map<string, T[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.MetricName, row.ServiceName, row.ResourceAttributes, row.Attributes]);
    const points = series.get(key);
    if (points) points.push(row);
    else series.set(key, [row]);
  }
  return [...series.values()];
}

/** Whether two consecutive points come from the same process and satisfy `matches`. */
const matchesWithinProcess = <T extends MetricRow>(
  before: T | undefined,
  point: T,
  matches: (before: T) => boolean,
): boolean => before?.StartTimeUnix === point.StartTimeUnix && matches(before);

describe('demo telemetry', () => {
  it('is the same for the same seed and time, and different for another seed', () => {
    const [from, to] = [WEDNESDAY - 10 * MINUTE_MS, WEDNESDAY];
    expect(generateRows(from, to)).toEqual(generateRows(from, to));
    expect(generateRows(from, to, 'other').logs).not.toEqual(generateRows(from, to).logs);
  });

  it('is the same whether generated at once or in parts', () => {
    const from = fullHour(WEDNESDAY) + INCIDENT.startMs - MINUTE_MS;
    const to = from + 30 * MINUTE_MS;
    const whole = generateRows(from, to);
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), fc.integer({ min: 0, max: 2 }), (cut, way) => {
        const at = wholeSteps(cut);
        const generator = createDemoTelemetry({ organizationId: ORGANIZATION, seed: 'test', fromMs: from });
        const first = generator.advance(at);
        const options = { organizationId: ORGANIZATION, seed: 'test', fromMs: at };
        const ways = [
          () => generator.advance(to),
          () => generateRows(at, to),
          () => createDemoTelemetry({ ...options, counters: generator.counters() }).advance(to),
        ];
        const second = ways[way]?.() ?? whole;
        for (const kind of TABLE_KINDS) expect([...first[kind], ...second[kind]]).toEqual(whole[kind]);
      }),
      { numRuns: 6 },
    );
  });

  it('has the documented size', () => {
    const counts = Object.fromEntries(TABLE_KINDS.map((kind) => [kind, day[kind].length]));
    expect(counts.logs).toBeGreaterThan(60_000);
    expect(counts.logs).toBeLessThan(100_000);
    expect(counts.traces).toBeGreaterThan(50_000);
    expect(counts.traces).toBeLessThan(90_000);
    for (const kind of ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const) {
      expect(counts[kind]).toBeGreaterThan(2 * (DAY_MS / METRICS_EVERY_MS) - 1);
      expect(counts[kind]).toBeLessThan(60_000);
    }
  });

  it('belongs to its organization and is within its time range', () => {
    for (const kind of TABLE_KINDS)
      expect(new Set(day[kind].map(({ OrganizationId }) => OrganizationId))).toEqual(new Set([ORGANIZATION]));
    const traceStarts = day.traces
      .filter(({ ParentSpanId }) => ParentSpanId === '')
      .map(({ Timestamp }) => toMs(Timestamp));
    expect(Math.min(...traceStarts.slice(0, 1000))).toBeGreaterThanOrEqual(WEDNESDAY - DAY_MS);
    expect(traceStarts.every((ms) => ms < WEDNESDAY + STEP_MS)).toBe(true);
    expect(day.gauge.every(({ TimeUnix }) => toMs(TimeUnix) % METRICS_EVERY_MS === 0)).toBe(true);
  });

  it('has spans whose parents exist in the same trace and are not shorter', () => {
    const spans = new Map(day.traces.map((span) => [`${span.TraceId} ${span.SpanId}`, span]));
    expect(spans.size).toBe(day.traces.length);
    const invalidSpans = day.traces.filter((span) => {
      const parent = spans.get(`${span.TraceId} ${span.ParentSpanId}`);
      if (!parent) return span.ParentSpanId !== '';
      return parent.Duration < span.Duration || Number(parent.Timestamp) > Number(span.Timestamp);
    });
    expect(invalidSpans).toEqual([]);
  });

  it('has logs that reference their span', () => {
    const spans = new Set(day.traces.map(({ TraceId, SpanId }) => `${TraceId} ${SpanId}`));
    const traced = day.logs.filter(({ TraceId }) => TraceId !== '');
    expect(traced.length).toBeGreaterThan(day.logs.length / 2);
    expect(traced.every(({ TraceId, SpanId }) => spans.has(`${TraceId} ${SpanId}`))).toBe(true);
  });

  it('has cumulative sums that reset only when a process restarts; payments restarts in every incident', () => {
    const counters = day.sum.filter((row) => row.AggregationTemporality === CUMULATIVE && row.IsMonotonic);
    for (const points of groupSeries(counters)) {
      const decreases = points.filter((point, at) =>
        matchesWithinProcess(points[at - 1], point, (before) => before.Value > point.Value),
      );
      expect(decreases).toEqual([]);
      const starts = new Set(points.map(({ StartTimeUnix }) => toMs(StartTimeUnix)));
      const restarts = [...starts].filter((ms) => ms > WEDNESDAY - DAY_MS && ms - fullHour(ms) === INCIDENT.restartMs);
      expect(restarts).toHaveLength(points[0]?.ServiceName === 'payments' ? 24 : 0);
      expect(points.every((point) => toMs(point.StartTimeUnix) < toMs(point.TimeUnix))).toBe(true);
    }
    expect(day.sum.some((row) => row.AggregationTemporality === DELTA)).toBe(true);
    expect(day.sum.some((row) => !row.IsMonotonic)).toBe(true);
  });

  it('has histograms whose buckets add up to their count and never decrease', () => {
    const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
    const isConsistent = ({ BucketCounts, ExplicitBounds, Count }: (typeof day.histogram)[number]) =>
      BucketCounts.length === ExplicitBounds.length + 1 && total(BucketCounts) === Count;
    expect(day.histogram.every(isConsistent)).toBe(true);
    const counted = ({
      PositiveBucketCounts,
      NegativeBucketCounts,
      ZeroCount,
    }: (typeof day.exponentialHistogram)[number]) =>
      total(PositiveBucketCounts) + total(NegativeBucketCounts) + ZeroCount;
    expect(day.exponentialHistogram.every((row) => counted(row) === row.Count)).toBe(true);
    for (const points of groupSeries(day.histogram)) {
      const decreases = points.filter((point, at) =>
        matchesWithinProcess(points[at - 1], point, ({ BucketCounts }) =>
          BucketCounts.some((count, bucket) => count > (point.BucketCounts[bucket] ?? 0)),
        ),
      );
      expect(decreases).toEqual([]);
    }
  });

  it('contains an incident in the last hour at any time of day', () => {
    for (let minute = 0; minute < 24 * 60; minute++) {
      const now = WEDNESDAY + minute * MINUTE_MS;
      const severe = Array.from({ length: 60 }, (_, back) => severityAt(now - back * MINUTE_MS)).filter(
        (one) => one > 0.9,
      );
      expect(severe.length).toBeGreaterThanOrEqual(8);
    }
  });

  it('contains incidents: slow spans, errors in logs and traces, a longer queue', () => {
    const isInIncident = (time: string) => severityAt(toMs(time)) === 1;
    const isOutside = (time: string) => severityAt(toMs(time)) === 0 && severityAt(toMs(time) - 10_000) === 0;
    const share = <T>(rows: T[], matches: (row: T) => boolean) => rows.filter(matches).length / rows.length;
    const charges = day.traces.filter(({ SpanName }) => SpanName === 'POST /charge');
    const inside = charges.filter(({ Timestamp }) => isInIncident(Timestamp));
    const outside = charges.filter(({ Timestamp }) => isOutside(Timestamp));
    const hasFailed = ({ StatusCode }: (typeof charges)[number]) => StatusCode === 'Error';
    expect(share(inside, hasFailed)).toBeGreaterThan(0.1);
    expect(share(outside, hasFailed)).toBe(0);
    const isSlow = ({ Duration }: (typeof charges)[number]) => Duration > 1e9;
    expect([share(inside, isSlow) > 0.5, share(outside, isSlow) < 0.01]).toEqual([true, true]);
    expect(day.logs.some(({ Timestamp, SeverityText }) => isInIncident(Timestamp) && SeverityText === 'ERROR')).toBe(
      true,
    );
    const depths = day.gauge.filter(({ Attributes }) => Attributes['queue.name'] === 'charges');
    const deepest = (isIn: boolean) =>
      Math.max(...depths.filter(({ TimeUnix }) => isInIncident(TimeUnix) === isIn).map(({ Value }) => Value));
    expect(deepest(true)).toBeGreaterThan(500);
  });
});
