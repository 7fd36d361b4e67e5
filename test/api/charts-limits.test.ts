import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { board, T0 } from '../support/board.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const [organization, ...others] = fleet.organizations;
const SECOND = 1000;
const DAY = 86_400_000;
const GROUPS = 800;

const logs = Array.from({ length: GROUPS }, (_, index) => ({
  OrganizationId: acme.id,
  Timestamp: new Date(T0 + index * SECOND).toISOString(),
  ServiceName: `service-${index}`,
  Body: 'ready',
}));
/** Each group has one histogram, so the rows are as many as the groups. */
const histograms = Array.from({ length: GROUPS }, (_, index) => ({
  OrganizationId: acme.id,
  MetricName: 'latency',
  ServiceName: `service-${index}`,
  TimeUnix: new Date(T0 + index * SECOND).toISOString(),
  StartTimeUnix: new Date(T0).toISOString(),
  AggregationTemporality: 1,
  Count: 3,
  Sum: 6,
  BucketCounts: [1, 1, 1],
  ExplicitBounds: [1, 2],
}));

onEachStoreInLongRuns('limits of chart queries', (store) => {
  const server = useServer(store, {
    fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] },
    inProcess: false,
  });
  beforeAll(() => fillEngine(join(server.directory, 'data'), { otel_logs: logs, otel_metrics_histogram: histograms }));

  const count = { type: 'time', sourceId: 'logs', aggFn: 'count' };
  const { type: _, ...countSeries } = count;
  const post = (path: string, body: object) => server.call({ method: 'POST', path, token: acme.token, body });
  type View = { start: number | string; end: number | string; granularity?: string; timezone?: string };
  const query = (view: object) =>
    Object.entries(view)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join('&');

  const readStored = (view: View) =>
    server.call({ path: `/api/v2/dashboards/board/tiles/lines/data?${query(view)}`, token: acme.token });
  const readPreview = (view: View) => post('/api/v2/charts/tile', { series: [count], ...view });
  const readSeries = ({ start, end, granularity }: View) =>
    post('/api/v2/charts/series', { series: [countSeries], startTime: start, endTime: end, granularity });
  const readColumns = ({ start, end }: View) =>
    server.call({ path: `/api/v2/sources/logs/columns?${query({ start, end })}`, token: acme.token });

  const expectAlive = async () => {
    const pid = server.pid;
    expect((await readStored({ start: T0, end: T0 + 60 * SECOND })).status).toBe(200);
    expect(() => process.kill(pid, 0)).not.toThrow();
  };

  describe.each([
    ['a stored tile', readStored, 0],
    ['an unsaved tile', readPreview, 0],
    // The end of chart series is inclusive.
    ['chart series', readSeries, 1],
  ])('%s', (_name, read, inclusive) => {
    const end = (exclusive: number) => exclusive - inclusive;

    it('rejects a range with too many buckets and names the limit, the number and a granularity that fits', async () => {
      const { status, json } = await read({ start: T0 - 3000 * DAY, end: end(T0), granularity: '1s' });
      expect(status).toBe(400);
      expect(json.message).toContain('1s splits this range into 259200000 buckets; the maximum is 1500.');
      expect(json.message).toContain('The smallest granularity that fits is 7d');
      expect(json.errors[0].path).toBe('granularity');
      expect((await read({ start: T0 - 3000 * DAY, end: end(T0), granularity: '7d' })).status).toBe(200);
      await expectAlive();
    });

    it('accepts exactly the maximum', async () => {
      expect((await read({ start: T0, end: end(T0 + 1500 * SECOND), granularity: '1s' })).status).toBe(200);
      const above = await read({ start: T0, end: end(T0 + 1501 * SECOND), granularity: '1s' });
      expect(above.status).toBe(400);
      expect(above.json.message).toContain('1501 buckets');
    });

    it.each(['1s', '1h', '1d', '30d', 'auto'])('rejects the longest range with %s', async (granularity) => {
      const { status, json } = await read({ start: 1_000_000_000_000, end: Date.UTC(2262, 0, 1), granularity });
      expect(status).toBe(400);
      expect(json.message).toContain('No granularity fits; use a shorter range');
      await expectAlive();
    });

    it.each<[string, View]>([
      ['a negative start', { start: -1, end: T0 }],
      ['the first time of JavaScript', { start: -8.64e15, end: T0 }],
      ['the last time of JavaScript', { start: T0, end: 8.64e15 }],
      ['times without an exact integer', { start: T0, end: 1e300 }],
      ['the last time of 13 digits', { start: T0, end: 9_999_999_999_999 }],
      ['the last time of 14 digits', { start: T0, end: 99_999_999_999_999 }],
    ])('rejects %s', async (_title, view) => {
      for (const granularity of ['1s', '1d', 'auto'])
        expect((await read({ ...view, granularity })).status, granularity).toBe(400);
      await expectAlive();
    });
  });

  it.each(['UTC', 'Europe/Berlin', 'Pacific/Apia'])(
    'counts local days in %s before it creates them',
    async (timezone) => {
      for (const read of [readStored, readPreview]) {
        const view = { start: '1970-01-02T00:00:00Z', end: '2261-12-30T00:00:00Z', granularity: '1d', timezone };
        const { status, json } = await read(view);
        expect(status).toBe(400);
        expect(json.message).toMatch(/1d splits this range into 1066\d\d buckets; the maximum is 1500/);
      }
      await expectAlive();
    },
  );

  it.each([
    ['0000-01-01T00:00:00Z', '0000-01-02T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
    ['1969-12-31T23:59:59Z', '1970-01-02T00:00:00Z'],
    ['2261-12-31T00:00:00Z', '2262-01-01T00:00:01Z'],
  ])('rejects times from %s to %s for every kind of data', async (start, end) => {
    for (const read of [readStored, readPreview, readColumns]) {
      const { status, json } = await read({ start, end, timezone: 'Europe/Berlin' });
      expect(status).toBe(400);
      expect(json.message).toContain('The time must be between 1970-01-01 and 2262-01-01');
    }
    for (const type of ['number', 'table'])
      expect((await post('/api/v2/charts/tile', { series: [{ ...count, type }], start, end })).status).toBe(400);
    await expectAlive();
  });

  it.each([
    [1_700_000_000, 'epoch milliseconds of 12 to 14 digits'],
    [-1, 'epoch milliseconds of 12 to 14 digits'],
    [99_999_999_999_999, 'The time must be between 1970-01-01 and 2262-01-01'],
  ])('the message about the time %d is the same for a stored tile and a tile in the body', async (start, text) => {
    for (const read of [readStored, readPreview]) {
      const { status, json } = await read({ start, end: '2024-01-01T00:00:00Z' });
      expect(status).toBe(400);
      expect(json.message).toContain(text);
    }
  });

  it('accepts the first and the last allowed times', async () => {
    expect((await readPreview({ start: 100_000_000_000, end: 100_003_600_000 })).status).toBe(200);
    for (const [start, end] of [
      ['1970-01-01T00:00:00Z', '1970-01-01T01:00:00Z'],
      ['2261-12-31T23:00:00Z', '2262-01-01T00:00:00Z'],
    ] as const) {
      for (const granularity of ['1m', '30d'])
        for (const read of [readStored, readPreview])
          expect((await read({ start, end, granularity, timezone: 'America/Sao_Paulo' })).status).toBe(200);
      expect((await readColumns({ start, end })).status).toBe(200);
    }
  });

  it.each<[string, object]>([
    ['logs', { ...count, groupBy: ['ServiceName'] }],
    [
      'quantiles of histograms',
      {
        type: 'time',
        sourceId: 'metrics',
        metricDataType: 'histogram',
        metricName: 'latency',
        aggFn: 'quantile',
        level: 0.5,
        groupBy: ['ServiceName'],
      },
    ],
  ])('rejects too many points of %s', async (_title, series) => {
    const body = { series: [series, series], start: T0, end: T0 + 1500 * SECOND, groups: 999 };
    const { status, json } = await post('/api/v2/charts/tile', { ...body, granularity: '1s' });
    expect(status).toBe(400);
    expect(json.message).toContain('1600 groups in 1500 buckets are 2400000 points; the maximum is 2000000.');
    expect(json.message).toContain('The smallest granularity that fits is 15s');
    const coarser = await post('/api/v2/charts/tile', { ...body, granularity: '15s' });
    expect(coarser.json.data.series).toHaveLength(2 * GROUPS);
    const fewer = await post('/api/v2/charts/tile', { ...body, granularity: '1s', groups: 5, others: true });
    expect(fewer.json.data.series).toHaveLength(2 * 6);
    await expectAlive();
  });

  it('rejects too many points of a ratio of chart series', async () => {
    const series = { ...countSeries, groupBy: ['ServiceName'] };
    const { status, json } = await post('/api/v2/charts/series', {
      series: [series, series],
      startTime: T0,
      endTime: T0 + 1500 * SECOND - 1,
      granularity: '1s',
      seriesReturnType: 'ratio',
    });
    expect(status).toBe(400);
    expect(json.message).toContain('1600 groups in 1500 buckets');
    await expectAlive();
  });
});
