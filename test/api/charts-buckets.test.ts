import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fillEngine } from '../support/engine.ts';
import { acme } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const today = Math.floor(Date.now() / DAY) * DAY;
/** Three days ago, so that the rows around a whole day are in the past. */
const T0 = today - 3 * DAY;

const log = (ms: number, attributes: Record<string, string> = {}) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(ms).toISOString(),
  ServiceName: 'api',
  Body: 'request',
  LogAttributes: attributes,
});
const point = (ms: number, name: string, unit: string, fields: object) => ({
  OrganizationId: acme.id,
  MetricName: name,
  MetricUnit: unit,
  StartTimeUnix: new Date(T0).toISOString(),
  TimeUnix: new Date(ms).toISOString(),
  ...fields,
});
const DELTA = { AggregationTemporality: 1, IsMonotonic: true };

onEachStoreInLongRuns('buckets of charts', (store) => {
  const server = useServer(store);
  const post = (path: string, body: object) =>
    server.call({ method: 'POST', path: `/api/v2/charts/${path}`, token: acme.token, body });
  const readSeries = async (startTime: number, endTime: number, series: object = {}, granularity = '1h') => {
    const count = { sourceId: 'logs', aggFn: 'count', where: '', groupBy: [] };
    const { status, json, text } = await post('series', {
      startTime,
      endTime,
      granularity,
      series: [{ ...count, ...series }],
    });
    expect(status, text).toBe(200);
    return json;
  };
  const readTile = async (series: object, view: object) => {
    const { status, json, text } = await post('tile', {
      series: [{ aggFn: 'count', sourceId: 'logs', ...series }],
      ...view,
    });
    expect(status, text).toBe(200);
    return json.data;
  };

  beforeAll(() =>
    fillEngine(join(server.directory, 'data'), {
      // Every quarter of an hour, from a day before to a day after.
      otel_logs: Array.from({ length: 12 * 24 }, (_, index) =>
        log(T0 + (index - 96) * 15 * MINUTE, { ms: String(index) }),
      ),
      otel_traces: [
        { OrganizationId: acme.id, Timestamp: new Date(T0).toISOString(), ServiceName: 'api', Duration: 1_500_000_000 },
      ],
      otel_metrics_sum: [
        point(T0 + 50 * MINUTE, 'jobs', '{job}', { ...DELTA, Value: 600 }),
        point(today, 'jobs', '{job}', { ...DELTA, Value: 8640 }),
      ],
      otel_metrics_gauge: [
        point(T0, 'wait', 'ms', { Value: 250 }),
        point(T0, 'size', 'By', { Value: 2048 }),
        point(T0, 'share', '1', { Value: 0.5 }),
      ],
    }),
  );

  describe('chart series', () => {
    it('24 hours have 24 hourly buckets and no row from outside the range', async () => {
      const json = await readSeries(T0, T0 + DAY);
      expect(json.data).toHaveLength(24);
      expect(json.data.map((row: Record<string, number>) => row['series_0.data'])).toEqual(Array(24).fill(4));
      expect(json.data.at(-1).ts_bucket).toBe(T0 + 23 * HOUR);
      expect(json.partialBuckets).toBeUndefined();
    });

    it('counts a row at the end, and marks buckets that the range cuts', async () => {
      const json = await readSeries(T0 + 20 * MINUTE, T0 + 2 * HOUR + 30 * MINUTE);
      expect(json.data.map((row: Record<string, number>) => [row.ts_bucket, row['series_0.data']])).toEqual([
        [T0, 2],
        [T0 + HOUR, 4],
        [T0 + 2 * HOUR, 3],
      ]);
      expect(json.partialBuckets).toEqual([
        { bucket: T0, start: T0 + 20 * MINUTE, end: T0 + HOUR },
        { bucket: T0 + 2 * HOUR, start: T0 + 2 * HOUR, end: T0 + 2 * HOUR + 30 * MINUTE + 1 },
      ]);
    });

    it('divides a rate by the seconds of the range in the bucket', async () => {
      const rate = { sourceId: 'metrics', metricName: 'jobs', metricDataType: 'sum', aggFn: 'rate' };
      const [whole] = (await readSeries(T0, T0 + HOUR, rate)).data;
      expect(whole['series_0.data']).toBeCloseTo(600 / 3600, 10);
      const [half] = (await readSeries(T0 + 30 * MINUTE, T0 + HOUR, rate)).data;
      expect(half['series_0.data']).toBeCloseTo(600 / 1800, 10);
    });

    it('the last value of an attribute is a number if its text is one', async () => {
      const last = { aggFn: 'last_value', field: 'LogAttributes.ms' };
      const [first] = (await readSeries(T0, T0 + DAY, last)).data;
      expect(first['series_0.data']).toBe(99);
      const body = { aggFn: 'last_value', field: 'Body' };
      expect((await readSeries(T0, T0 + DAY, body)).data[0]['series_0.data']).toBe('request');
    });
  });

  describe('tiles', () => {
    it('mark the newest bucket until it ends, and compute its rate over the time that has passed', async () => {
      const rate = { type: 'time', sourceId: 'metrics', metricName: 'jobs', metricDataType: 'sum', aggFn: 'rate' };
      const before = Date.now();
      const data = await readTile(rate, { start: today - DAY, end: today + DAY, granularity: '1d' });
      const [partial, ...others] = data.partialBuckets;
      expect([partial.bucket, partial.start, others]).toEqual([today, today, []]);
      expect(partial.end).toBeGreaterThanOrEqual(before);
      expect(partial.end).toBeLessThanOrEqual(Date.now());
      const [yesterday, soFar] = data.series[0].values;
      expect(yesterday).toBeNull();
      expect((soFar * (partial.end - partial.start)) / 1000).toBeCloseTo(8640, 6);
      const past = await readTile(rate, { start: T0, end: T0 + DAY, granularity: '1h' });
      expect(past.partialBuckets).toBeUndefined();
    });

    it('a count without rows is 0, but has no value in the future; other aggregations have none', async () => {
      const nothing = { where: 'Body:"nothing like this"' };
      const number = { type: 'number', ...nothing };
      const range = { start: T0, end: T0 + HOUR };
      expect((await readTile(number, range)).value).toBe(0);
      expect((await readTile({ ...number, aggFn: 'count_distinct', field: 'Body' }, range)).value).toBe(0);
      for (const aggFn of ['sum', 'avg', 'max', 'last_value'])
        expect((await readTile({ ...number, aggFn, field: 'LogAttributes.ms' }, range)).value).toBeNull();
      const future = { start: today, end: today + 2 * DAY, granularity: '1d' };
      expect((await readTile({ type: 'time', ...nothing }, future)).series[0].values).toEqual([0, null]);
    });

    it('choose the granularity by the number of points that fit', async () => {
      const day = { start: T0, end: T0 + DAY };
      const steps = async (points?: number) => (await readTile({ type: 'time' }, { ...day, points })).granularity;
      expect([await steps(), await steps(30), await steps(120), await steps(300)]).toEqual(['30m', '1h', '15m', '5m']);
      const invalid = await post('tile', { series: [{ type: 'time', aggFn: 'count' }], points: 1001 });
      expect([invalid.status, invalid.json.errors[0].path]).toEqual([400, 'points']);
    });

    it('name the unit of durations and bytes', async () => {
      const range = { start: T0, end: T0 + HOUR };
      const unit = async (series: object) => (await readTile({ type: 'number', ...series }, range)).series[0].unit;
      const span = { sourceId: 'traces', aggFn: 'avg' };
      expect(await unit({ ...span, field: 'Duration' })).toBe('ns');
      expect(await unit({ ...span, field: 'Duration / 1000000' })).toBe('ms');
      expect(await unit({ ...span, field: 'Duration + 1' })).toBeUndefined();
      expect(await unit({ ...span, aggFn: 'count' })).toBeUndefined();
      const gauge = { sourceId: 'metrics', metricDataType: 'gauge', aggFn: 'max' };
      const units = ['wait', 'size', 'share'].map((metricName) => unit({ ...gauge, metricName }));
      expect(await Promise.all(units)).toEqual(['ms', 'By', undefined]);
      expect(await unit({ ...gauge, metricName: 'wait', aggFn: 'count' })).toBeUndefined();
    });
  });
});
