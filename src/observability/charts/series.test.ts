import { beforeAll, describe, expect, it } from 'vitest';
import { useEngine } from '../../../test/support/engine.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { findZone, type Zone } from '../../kernel/time/zone.ts';
import { OWN_DATABASE } from '../../platform/engine/engine.ts';
import { createWriter } from '../expressions/writer.ts';
import type { MetricDataType } from '../sources/source.ts';
import { planSeries } from './queries/plan.ts';
import { computeRatio } from './queries/ratio.ts';
import type { Points, SeriesQuery } from './queries/series-query.ts';
import { GRANULARITIES, type Granularity, singleBucket, splitRange } from './queries/time-buckets.ts';

const ACME = 'acme';
const GLOBEX = 'globex';
/** Yesterday, because the tables delete rows after a month. */
const T0 = Math.floor(systemClock.now() / 86_400_000 - 1) * 86_400_000 + 10 * 3_600_000;
const MINUTE = 60_000;
const utc = findZone('UTC') as Zone;
const range = { startMs: T0, endMs: T0 + 3 * MINUTE };

const TABLES: Record<'log' | 'trace' | MetricDataType, string> = {
  log: 'otel_logs',
  trace: 'otel_traces',
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  summary: 'otel_metrics_summary',
  'exponential histogram': 'otel_metrics_exponential_histogram',
};

const at = (minutes: number): string =>
  new Date(T0 + minutes * MINUTE).toISOString().replace('Z', '').replace('T', ' ');

const log = (minutes: number, service: string, attributes: Record<string, string> = {}, organization = ACME) => ({
  OrganizationId: organization,
  Timestamp: at(minutes),
  ServiceName: service,
  SeverityText: attributes.level ?? 'INFO',
  Body: `${service} did something`,
  LogAttributes: attributes,
});

const metric = (
  name: string,
  minutes: number,
  fields: object,
  { start = -600, host = 'a', organization = ACME } = {},
) => ({
  OrganizationId: organization,
  ServiceName: 'api',
  MetricName: name,
  Attributes: { host },
  StartTimeUnix: start === Number.NEGATIVE_INFINITY ? '1970-01-01 00:00:00' : at(start),
  TimeUnix: at(minutes),
  ...fields,
});
const CUMULATIVE = { AggregationTemporality: 2, IsMonotonic: true };
const DELTA = { AggregationTemporality: 1, IsMonotonic: true };

describe('series on the real engine', () => {
  const engine = useEngine();

  beforeAll(async () => {
    await engine.insert('otel_logs', [
      log(0, 'api', { ms: '10', user: 'ann' }),
      log(0.5, 'api', { ms: '30', user: 'bob' }),
      log(1, 'web', { ms: '5', user: 'ann', level: 'ERROR' }),
      log(2.5, 'api', { user: 'ann' }),
      log(2.6, 'api', { ms: 'unknown' }),
      log(2.7, 'worker', { ms: '100' }),
      // Outside the range, and in another organization.
      log(-1, 'api', { ms: '1000' }),
      log(3, 'api', { ms: '1000' }),
      log(1, 'api', { ms: '7777', user: 'eve' }, GLOBEX),
    ]);
    await engine.insert('otel_metrics_gauge', [
      metric('cpu', 0, { Value: 15 }),
      metric('cpu', 0.5, { Value: 25 }),
      metric('cpu', 0.5, { Value: 35 }, { host: 'b' }),
      metric('cpu', 2, { Value: 50 }),
      metric('cpu', 0.5, { Value: 9999 }, { organization: GLOBEX }),
    ]);
    await engine.insert('otel_metrics_sum', [
      // A counter that started before the range and is reset at minute 1.5 without a new start time.
      metric('hits', -0.5, { ...CUMULATIVE, Value: 100 }),
      metric('hits', 0.5, { ...CUMULATIVE, Value: 130 }),
      metric('hits', 1.5, { ...CUMULATIVE, Value: 20 }),
      metric('hits', 2.5, { ...CUMULATIVE, Value: 50 }),
      // The same attributes in another process, identified by its start time, which is within the range.
      metric('hits', 1.5, { ...CUMULATIVE, Value: 7 }, { start: 1.2 }),
      metric('hits', 2.5, { ...CUMULATIVE, Value: 9 }, { start: 1.2 }),
      // Its previous value is unknown, so the first point adds nothing.
      metric('old', 0.5, { ...CUMULATIVE, Value: 5000 }),
      metric('old', 1.5, { ...CUMULATIVE, Value: 5010 }),
      metric('jobs', 0.5, { ...DELTA, Value: 3 }),
      metric('jobs', 0.6, { ...DELTA, Value: 4 }),
      metric('jobs', 1.5, { ...DELTA, Value: 5 }, { host: 'b' }),
      metric('open', 0.5, { AggregationTemporality: 2, IsMonotonic: false, Value: 10 }),
      metric('open', 1.5, { AggregationTemporality: 2, IsMonotonic: false, Value: 4 }),
      metric('open', 1.5, { AggregationTemporality: 2, IsMonotonic: false, Value: 6 }, { host: 'b' }),
    ]);
    const histogram = { ExplicitBounds: [10, 20], AggregationTemporality: 2 };
    await engine.insert('otel_metrics_histogram', [
      metric('lat', -0.5, { ...histogram, Count: 10, Sum: 100, BucketCounts: [10, 0, 0], Min: 1, Max: 9 }),
      metric('lat', 0.5, { ...histogram, Count: 30, Sum: 350, BucketCounts: [20, 10, 0], Min: 1, Max: 19 }),
      metric('lat', 1.5, { ...histogram, Count: 4, Sum: 60, BucketCounts: [0, 4, 0], Min: 11, Max: 19 }),
    ]);
    const exponential = { AggregationTemporality: 2, NegativeOffset: 0, NegativeBucketCounts: [], ZeroCount: 0 };
    await engine.insert('otel_metrics_exponential_histogram', [
      metric('size', -0.5, {
        ...exponential,
        Count: 10,
        Sum: 15,
        Scale: 1,
        PositiveOffset: 0,
        PositiveBucketCounts: [10],
      }),
      metric('size', 0.5, {
        ...exponential,
        Count: 30,
        Sum: 75,
        Scale: 0,
        PositiveOffset: 0,
        PositiveBucketCounts: [10, 20],
      }),
    ]);
    await engine.insert('otel_metrics_summary', [
      metric(
        'rpc',
        0.5,
        { Count: 10, Sum: 50, 'ValueAtQuantiles.Quantile': [0.5, 0.9], 'ValueAtQuantiles.Value': [4, 8] },
        { start: 0.1 },
      ),
      metric(
        'rpc',
        1.5,
        { Count: 14, Sum: 90, 'ValueAtQuantiles.Quantile': [0.5, 0.9], 'ValueAtQuantiles.Value': [6, 10] },
        { start: 0.1 },
      ),
    ]);
  });

  async function read(
    given: Partial<SeriesQuery>,
    table: keyof typeof TABLES = 'log',
    granularity: Granularity | 'whole' = '1m',
  ): Promise<Points> {
    const name = TABLES[table];
    const all = await engine.columns(OWN_DATABASE, name);
    const isMetric = table !== 'log' && table !== 'trace';
    const plan = planSeries({
      organizationId: ACME,
      table: {
        database: OWN_DATABASE,
        name,
        columns: all.filter((column) => column.name !== 'OrganizationId'),
        timeColumn: isMetric ? 'TimeUnix' : 'Timestamp',
        implicitColumn: isMetric ? undefined : 'Body',
        hasOrganization: true,
      },
      metricDataType: isMetric ? table : undefined,
      aggFn: 'count',
      where: '',
      whereLanguage: 'lucene',
      groupBy: [],
      buckets: granularity !== 'whole' ? splitRange(range, granularity, utc) : singleBucket(range),
      top: { groups: 20, withOthers: false },
      nowMs: Number.POSITIVE_INFINITY,
      path: 'series[0]',
      ...given,
    });
    return plan.collect(await engine.query(plan.statement));
  }

  const readValues = async (...args: Parameters<typeof read>) => (await read(...args)).groups[0]?.values;
  const readGroups = async (...args: Parameters<typeof read>) =>
    Object.fromEntries(
      (await read(...args)).groups.map(({ labels, isOthers, values }) => [isOthers ? '…' : labels.join('|'), values]),
    );

  const MS = "LogAttributes['ms']";

  it.each<[string, Partial<SeriesQuery>, unknown[]]>([
    ['count', {}, [2, 1, 3]],
    ['count with a where', { where: 'ServiceName:"api"' }, [2, null, 2]],
    ['avg ignores missing values and values that are not numbers', { aggFn: 'avg', field: MS }, [20, 5, 100]],
    ['sum', { aggFn: 'sum', field: MS }, [40, 5, 100]],
    ['min', { aggFn: 'min', field: MS }, [10, 5, 100]],
    ['max', { aggFn: 'max', field: MS }, [30, 5, 100]],
    ['quantile', { aggFn: 'quantile', level: 0.5, field: MS }, [20, 5, 100]],
    ['count_distinct', { aggFn: 'count_distinct', field: 'LogAttributes.user' }, [2, 1, 1]],
    ['last_value by time: text that is a number is a number', { aggFn: 'last_value', field: MS }, [30, 5, 100]],
    [
      'last_value of other text',
      { aggFn: 'last_value', field: 'LogAttributes.user', where: 'LogAttributes.user:*' },
      ['bob', 'ann', 'ann'],
    ],
    ['any', { aggFn: 'any', field: 'ServiceName', where: 'ServiceName:"web"' }, [null, 'web', null]],
    ['numbers in attributes compare as numbers in Lucene', { where: 'LogAttributes.ms:>9' }, [2, null, 1]],
    [
      'numbers in attributes compare as numbers in SQL',
      { where: "LogAttributes['ms'] > 9 OR ServiceName = 'web'", whereLanguage: 'sql' },
      [2, 1, 1],
    ],
  ])('events: %s', async (_, query, expected) => {
    expect(await readValues(query)).toEqual(expected);
  });

  it('events: returns one value for the whole range', async () => {
    expect(await readValues({ aggFn: 'sum', field: MS }, 'log', 'whole')).toEqual([145]);
  });

  it('events: returns null in every bucket without data', async () => {
    expect(await readValues({ where: 'ServiceName:"nobody"' })).toEqual([null, null, null]);
  });

  it('events: returns groups, the highest bucket first', async () => {
    expect(await readGroups({ groupBy: ['ServiceName'] })).toEqual({
      api: [2, null, 2],
      web: [null, 1, null],
      worker: [null, null, 1],
    });
  });

  it('events: groups by several expressions, including map keys', async () => {
    expect(await readGroups({ groupBy: ['ServiceName', 'LogAttributes.user'], where: 'SeverityText:"ERROR"' })).toEqual(
      {
        'web|ann': [null, 1, null],
      },
    );
  });

  it('events: reports the number of groups when only the top groups are returned', async () => {
    const points = await read({ groupBy: ['ServiceName'], top: { groups: 1, withOthers: false } });
    expect(points).toEqual({ groups: [{ labels: ['api'], isOthers: false, values: [2, null, 2] }], totalGroups: 3 });
  });

  it('events: aggregates others from rows, not from averages', async () => {
    const query: Partial<SeriesQuery> = {
      groupBy: ["LogAttributes['ms']"],
      aggFn: 'avg',
      field: MS,
      top: { groups: 1, withOthers: true },
    };
    expect(await readGroups(query, 'log', 'whole')).toEqual({ '100': [100], '…': [15] });
  });

  it('gauge: takes the last value of each stream and bucket, then aggregates', async () => {
    expect(await readValues({ metricName: 'cpu', aggFn: 'avg' }, 'gauge')).toEqual([30, null, 50]);
    expect(await readValues({ metricName: 'cpu', aggFn: 'sum' }, 'gauge')).toEqual([60, null, 50]);
    expect(await readValues({ metricName: 'cpu', aggFn: 'count' }, 'gauge')).toEqual([2, null, 1]);
    expect(await readGroups({ metricName: 'cpu', aggFn: 'max', groupBy: ['Attributes.host'] }, 'gauge')).toEqual({
      a: [25, null, 50],
      b: [35, null, null],
    });
  });

  it('sum: handles increases and resets, with restarted processes as separate streams', async () => {
    // First process: +30, then reset to 20, then +30. Second process: started within the range at 7, then +2.
    expect(await readValues({ metricName: 'hits', aggFn: 'sum' }, 'sum')).toEqual([30, 27, 32]);
    expect(await readValues({ metricName: 'hits', aggFn: 'increase' }, 'sum')).toEqual([30, 27, 32]);
    expect(await readValues({ metricName: 'hits', aggFn: 'rate' }, 'sum')).toEqual([0.5, 27 / 60, 32 / 60]);
    expect(await readValues({ metricName: 'hits', aggFn: 'max' }, 'sum')).toEqual([30, 20, 30]);
    expect(await readValues({ metricName: 'hits', aggFn: 'increase' }, 'sum', 'whole')).toEqual([89]);
  });

  it('rate: divides by the time that has passed in the newest bucket, but not by less than the increase took', async () => {
    const at = (minutes: number) => ({ nowMs: T0 + minutes * MINUTE });
    const hits = { metricName: 'hits', aggFn: 'rate' as const };
    // The point at 2.5 contains the increase since 1.5.
    expect((await readValues({ ...hits, ...at(2.6) }, 'sum'))?.at(-1)).toBe(32 / 60);
    const groups = await readGroups({ ...hits, ...at(2.6), groupBy: ['Attributes.host'] }, 'sum');
    expect(groups).toEqual({ a: [0.5, 27 / 60, 32 / 60] });
    const others = { groupBy: ['Attributes.host'], top: { groups: 1, withOthers: true } };
    expect(await readGroups({ ...hits, ...at(2.6), ...others }, 'sum')).toEqual({ a: [0.5, 27 / 60, 32 / 60] });
    // Deltas have no previous point.
    expect(await readValues({ metricName: 'jobs', aggFn: 'rate', ...at(1.75) }, 'sum')).toEqual([7 / 60, 5 / 45, null]);
    expect((await readValues({ metricName: 'lat', aggFn: 'rate', ...at(1.6) }, 'histogram'))?.[1]).toBe(4 / 60);
    expect((await readValues({ metricName: 'rpc', aggFn: 'rate', ...at(1.6) }, 'summary'))?.[1]).toBe(4 / 60);
  });

  it('sum: adds nothing for a new counter until its second point', async () => {
    expect(await readValues({ metricName: 'old', aggFn: 'increase' }, 'sum')).toEqual([0, 10, null]);
  });

  it('sum: adds up deltas', async () => {
    expect(await readValues({ metricName: 'jobs', aggFn: 'sum' }, 'sum')).toEqual([7, 5, null]);
  });

  it('sum: treats a non-monotonic sum like a gauge, whose increase can be negative', async () => {
    expect(await readValues({ metricName: 'open', aggFn: 'sum' }, 'sum')).toEqual([10, 10, null]);
    expect(await readValues({ metricName: 'open', aggFn: 'increase', where: 'Attributes.host:"a"' }, 'sum')).toEqual([
      0,
      -6,
      null,
    ]);
  });

  it('histogram: returns quantiles, counts, sums and averages across a reset', async () => {
    // Minute 0: +10 in (0,10], +10 in (10,20]. Minute 1: reset, 4 in (10,20].
    expect(await readValues({ metricName: 'lat', aggFn: 'quantile', level: 0.75 }, 'histogram')).toEqual([
      15,
      17.5,
      null,
    ]);
    expect(await readValues({ metricName: 'lat', aggFn: 'count' }, 'histogram')).toEqual([20, 4, null]);
    expect(await readValues({ metricName: 'lat', aggFn: 'sum' }, 'histogram')).toEqual([250, 60, null]);
    expect(await readValues({ metricName: 'lat', aggFn: 'avg' }, 'histogram')).toEqual([12.5, 15, null]);
    expect(await readValues({ metricName: 'lat', aggFn: 'max' }, 'histogram')).toEqual([19, 19, null]);
    expect(
      await readGroups({ metricName: 'lat', aggFn: 'quantile', level: 0.5, groupBy: ['ServiceName'] }, 'histogram'),
    ).toEqual({
      api: [10, 15, null],
    });
  });

  it('exponential histogram: accepts a scale that becomes coarser', async () => {
    // Bucket 0 of scale 1, (1, 1.41], is part of bucket 0 of scale 0, (1, 2]: no increase there, 20 in (2, 4].
    expect(await readValues({ metricName: 'size', aggFn: 'quantile', level: 0.5 }, 'exponential histogram')).toEqual([
      expect.closeTo(2 * 2 ** 0.5, 9),
      null,
      null,
    ]);
    expect(await readValues({ metricName: 'size', aggFn: 'count' }, 'exponential histogram')).toEqual([20, null, null]);
  });

  it('summary: returns precomputed quantiles, counts and averages', async () => {
    expect(await readValues({ metricName: 'rpc', aggFn: 'quantile', level: 0.9 }, 'summary')).toEqual([8, 10, null]);
    expect(await readValues({ metricName: 'rpc', aggFn: 'count' }, 'summary')).toEqual([10, 4, null]);
    expect(await readValues({ metricName: 'rpc', aggFn: 'avg' }, 'summary')).toEqual([5, 10, null]);
  });

  it('ratio: divides two series, and returns null where the divisor is missing', async () => {
    const errors = await read({ where: 'SeverityText:"ERROR"' });
    const webs = await read({ where: 'ServiceName:"web" OR LogAttributes.user:"bob"' });
    expect(computeRatio(errors, webs, { aggFn: 'count', groups: 20 }).groups[0]?.values).toEqual([0, 1, null]);
    expect(computeRatio(errors, webs, { aggFn: 'avg', groups: 20 }).groups[0]?.values).toEqual([null, 1, null]);
  });

  it('uses the same buckets as ClickHouse in every time zone and season', async () => {
    for (const name of ['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
      for (const granularity of ['1m', '30m', '6h', '1d', '2d', '7d', '30d'] as const) {
        const startMs = Date.parse('2026-03-05T06:07:08Z');
        const length = Math.min(90 * 86_400_000, 400 * GRANULARITIES[granularity]);
        const buckets = splitRange({ startMs, endMs: startMs + length }, granularity, findZone(name) as Zone);
        const writer = createWriter();
        const moments = buckets.starts.flatMap((start) => [start, start - 1000]).slice(2);
        const index = buckets.indexSql('t', (value, type) => writer.bind(value, type));
        const sql = `SELECT ${index} FROM (SELECT fromUnixTimestamp64Milli(arrayJoin(${writer.bind(moments, 'Array(Int64)')})) AS t)`;
        const rows = await engine.query({ sql, parameters: writer.parameters });
        const expected = buckets.starts.flatMap((_, at) => [at, at - 1]).slice(2);
        expect(
          rows.map(([at]) => at),
          `${name} ${granularity}`,
        ).toEqual(expected);
      }
    }
  });

  it.each<[string, Partial<SeriesQuery>, keyof typeof TABLES, RegExp]>([
    ['a missing field', { aggFn: 'sum' }, 'log', /^series\[0\]\.field: /],
    ['an unknown column', { aggFn: 'sum', field: 'Durationn' }, 'log', /^series\[0\]\.field: /],
    ['a syntax error', { where: 'a:[1 TO' }, 'log', /^series\[0\]\.where: /],
    ['the organization column', { groupBy: ['OrganizationId'] }, 'log', /^series\[0\]\.groupBy\[0\]: /],
    ['an increase of logs', { aggFn: 'increase' }, 'log', /^series\[0\]\.aggFn: /],
    ['an increase of a gauge', { aggFn: 'rate', metricName: 'cpu' }, 'gauge', /^series\[0\]\.aggFn: /],
    ['a metric without a name', { aggFn: 'avg' }, 'gauge', /^series\[0\]\.metricName: /],
    [
      'an aggregation that histograms do not support',
      { aggFn: 'count_distinct', metricName: 'lat' },
      'histogram',
      /^series\[0\]\.aggFn: /,
    ],
  ])('rejects %s with its path', async (_, query, table, message) => {
    await expect(read(query, table)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(message),
    });
  });
});
