import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fillEngine } from '../support/engine.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const T0 = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 10 * 3_600_000;
const MINUTE = 60_000;
const at = (minutes: number) => new Date(T0 + minutes * MINUTE).toISOString();

const acme = { id: '11111111-2222-4333-8444-555555555555', token: 'acme-token', writer: 'acme-writer' };
const globex = { id: '22222222-2222-4333-8444-555555555555', token: 'globex-token' };

const position = { x: 0, y: 0, w: 12, h: 4 };
const tile = (id: string, given: object, ...series: object[]) => ({ id, name: id, ...position, ...given, series });
const board = {
  id: 'board',
  name: 'Board',
  tiles: [
    tile('time', {}, { type: 'time', aggFn: 'count', sourceId: 'logs', groupBy: ['ServiceName'] }),
    tile(
      'ratio',
      { asRatio: true },
      { type: 'time', aggFn: 'count', where: 'SeverityText:"ERROR"', alias: 'errors' },
      { type: 'time', aggFn: 'count' },
    ),
    tile('number', {}, { type: 'number', aggFn: 'sum', field: 'LogAttributes.ms' }),
    tile(
      'table',
      {},
      { type: 'table', aggFn: 'max', field: 'LogAttributes.ms', groupBy: ['ServiceName'], sortOrder: 'asc' },
    ),
    tile('search', {}, { type: 'search', fields: ['ServiceName', 'Body'], where: 'trouble' }),
    tile('markdown', {}, { type: 'markdown', content: '# Hello' }),
    tile('broken', {}, { type: 'number', aggFn: 'sum', field: 'Nothing' }),
    tile(
      'gauge',
      {},
      { type: 'number', aggFn: 'avg', metricName: 'cpu', metricDataType: 'gauge', sourceId: 'metrics' },
    ),
  ],
};

const fleet = {
  organizations: [acme, globex].map(({ id, token }, index) => ({
    id,
    name: `org ${index}`,
    tier: 'SCALE',
    paid: true,
    dashboardTokens: [{ name: 'wall', token }],
    dashboards: [board],
  })),
};

const log = (organization: string, minutes: number, service: string, ms: string, severity = 'INFO') => ({
  OrganizationId: organization,
  Timestamp: at(minutes),
  ServiceName: service,
  SeverityText: severity,
  Body: severity === 'ERROR' ? `${service} is in trouble` : 'all is well',
  LogAttributes: { ms },
});

onEachStoreInLongRuns('tile and chart data', (store) => {
  const server = useServer(store, { fleet });
  const range = `start=${T0}&end=${T0 + 3 * MINUTE}&granularity=1m`;
  const data = (tileId: string, query = range, token = acme.token) =>
    server.call({ path: `/api/v2/dashboards/board/tiles/${tileId}/data?${query}`, token });
  const chart = (body: object, token = acme.token) =>
    server.call({ method: 'POST', path: '/api/v2/charts/series', token, body });
  const window = { startTime: T0, endTime: T0 + 3 * MINUTE - 1, granularity: '1m' };
  const count = { sourceId: 'logs', aggFn: 'count', where: '', groupBy: [] };

  beforeAll(async () => {
    await fillEngine(join(server.directory, 'data'), {
      otel_logs: [
        log(acme.id, 0, 'api', '10'),
        log(acme.id, 0.5, 'api', '20', 'ERROR'),
        log(acme.id, 1, 'web', '5'),
        log(globex.id, 1, 'secret', '99999'),
      ],
      otel_metrics_gauge: [
        { OrganizationId: acme.id, MetricName: 'cpu', TimeUnix: at(0), Value: 15 },
        { OrganizationId: acme.id, MetricName: 'cpu', TimeUnix: at(1), Value: 25 },
      ],
    });
  });

  describe('tile data', () => {
    it('time: returns every bucket; a count is 0 if it is empty', async () => {
      const { json, status } = await data('time');
      expect(status).toBe(200);
      expect(json.data).toEqual({
        type: 'time',
        start: T0,
        end: T0 + 3 * MINUTE,
        timezone: 'UTC',
        granularity: '1m',
        buckets: [T0, T0 + MINUTE, T0 + 2 * MINUTE],
        series: [
          { name: 'count', seriesIndex: 0, group: ['api'], isOthers: false, values: [2, 0, 0] },
          { name: 'count', seriesIndex: 0, group: ['web'], isOthers: false, values: [0, 1, 0] },
        ],
        groups: { shown: 2, total: 2 },
      });
    });

    it('time: returns the top groups and others', async () => {
      const { json } = await data('time', `${range}&groups=1&others=true`);
      expect(json.data.series).toEqual([
        { name: 'count', seriesIndex: 0, group: ['api'], isOthers: false, values: [2, 0, 0] },
        { name: 'count', seriesIndex: 0, group: [''], isOthers: true, values: [0, 1, 0] },
      ]);
      expect(json.data.groups).toEqual({ shown: 1, total: 2 });
    });

    it.each(['gzip', 'br', 'identity'])('is encoded as %s if the client accepts it', async (encoding) => {
      const path = `/api/v2/dashboards/board/tiles/time/data?start=${T0}&end=${T0 + 3 * 3_600_000}&granularity=1m`;
      const headers = { 'accept-encoding': encoding };
      const response = await server.call({ path, token: acme.token, headers });
      expect([response.headers.get('content-encoding') ?? 'identity', response.headers.get('vary')]).toEqual([
        encoding,
        'accept-encoding',
      ]);
      expect(response.json.data.series[0].values).toHaveLength(180);
    });

    it('ratio: divides the series', async () => {
      const { json } = await data('ratio');
      expect(json.data.series).toEqual([
        { name: 'errors', seriesIndex: 0, group: [], isOthers: false, values: [0.5, 0, null] },
      ]);
    });

    it('returns data for number, table, search, markdown and gauge tiles', async () => {
      expect((await data('number')).json.data).toMatchObject({ type: 'number', value: 35 });
      expect((await data('gauge')).json.data).toMatchObject({ type: 'number', value: 25 });
      expect((await data('table')).json.data).toMatchObject({
        columns: [
          { name: 'ServiceName', kind: 'group' },
          { name: 'max(LogAttributes.ms)', kind: 'value' },
        ],
        rows: [
          ['web', 5],
          ['api', 20],
        ],
      });
      expect((await data('search')).json.data).toMatchObject({
        columns: [{ name: 'Timestamp' }, { name: 'ServiceName' }, { name: 'Body' }],
        rows: [[T0 + 30_000, 'api', 'api is in trouble']],
      });
      expect((await data('markdown')).json.data).toEqual({ type: 'markdown', content: '# Hello' });
    });

    it('accepts ISO times and a time zone, and chooses the granularity', async () => {
      const query = `start=${encodeURIComponent(at(0))}&end=${encodeURIComponent(at(3))}&timezone=Europe/Berlin`;
      const { json } = await data('time', query);
      expect(json.data).toMatchObject({ granularity: '15s', timezone: 'Europe/Berlin' });
    });

    it('is separate for organizations with the same ids', async () => {
      const { json } = await data('time', range, globex.token);
      expect(json.data.series).toEqual([
        { name: 'count', seriesIndex: 0, group: ['secret'], isOthers: false, values: [0, 1, 0] },
      ]);
    });

    it('a failing tile returns an error and does not affect other tiles', async () => {
      const { status, json } = await data('broken');
      expect(status).toBe(400);
      expect(json.message).toMatch(/^series\[0\]\.field: /);
      expect(json.errors).toEqual([{ path: 'series[0].field', message: json.message }]);
      expect((await data('time')).status).toBe(200);
    });

    it.each([
      ['an unknown tile', 'nowhere', range, 404],
      ['a start after the end', 'time', `start=${T0}&end=${T0 - 1}`, 400],
      ['an invalid time', 'time', 'start=yesterday', 400],
      ['an invalid time zone', 'time', `${range}&timezone=Mars/Base`, 400],
      ['an invalid granularity', 'time', `start=${T0}&granularity=7m`, 400],
      ['too many buckets', 'time', `start=${T0 - 86_400_000 * 30}&end=${T0}&granularity=15s`, 400],
      ['an unknown parameter', 'time', `${range}&size=9`, 400],
    ])('rejects %s', async (_, id, query, status) => {
      const response = await data(id, query);
      expect(response.status).toBe(status);
      expect(response.json.message).toEqual(expect.any(String));
    });
  });

  describe('chart series', () => {
    it('returns rows by bucket and group, with numbers as JSON numbers', async () => {
      const { status, json } = await chart({ ...window, series: [{ ...count, groupBy: ['ServiceName'] }] });
      expect(status).toBe(200);
      expect(json.data).toEqual([
        { ts_bucket: T0, group: ['api'], 'series_0.data': 2 },
        { ts_bucket: T0 + MINUTE, group: ['web'], 'series_0.data': 1 },
      ]);
    });

    it('merges several series into one row; omits series without a value', async () => {
      const errors = { ...count, where: 'SeverityText:"ERROR"' };
      const { json } = await chart({ ...window, series: [count, errors] });
      expect(json.data).toEqual([
        { ts_bucket: T0, group: [], 'series_0.data': 3 - 1, 'series_1.data': 1 },
        { ts_bucket: T0 + MINUTE, group: [], 'series_0.data': 1 },
      ]);
      const ratio = await chart({ ...window, series: [errors, count], seriesReturnType: 'ratio' });
      expect(ratio.json.data[0]).toEqual({ ts_bucket: T0, group: [], 'series_0.data': 0.5 });
      const column = await chart({
        ...window,
        series: [{ ...count, groupBy: ['ServiceName'] }],
        seriesReturnType: 'column',
      });
      expect(column.json.data[0]).toEqual({ __hdx_time_bucket: at(0), ServiceName: 'api', series_0: 2 });
    });

    it('supports dotted fields, map keys as groups, SQL and Lucene', async () => {
      const sum = { sourceId: 'logs', aggFn: 'sum', field: 'LogAttributes.ms', groupBy: ["LogAttributes['ms']"] };
      const { json } = await chart({
        ...window,
        series: [
          { ...sum, where: "ServiceName = 'api'", whereLanguage: 'sql' },
          { ...sum, where: 'LogAttributes.ms:>=20' },
        ],
      });
      expect(json.data).toEqual([
        { ts_bucket: T0, group: ['20'], 'series_0.data': 20, 'series_1.data': 20 },
        { ts_bucket: T0, group: ['10'], 'series_0.data': 10 },
      ]);
    });

    it('accepts a where of the maximum length', async () => {
      const values = Array.from({ length: 900 }, (_, index) => `'wörd-${index}'`).join(',');
      const where = `ServiceName IN (${values},'api')`;
      expect(where.length).toBeGreaterThan(9_000);
      const { status, json } = await chart({ ...window, series: [{ ...count, where, whereLanguage: 'sql' }] });
      expect(status).toBe(200);
      expect(json.data).toEqual([{ ts_bucket: T0, group: [], 'series_0.data': 2 }]);
    });

    it('finds a metric by metricName or field', async () => {
      const gauge = { sourceId: 'metrics', aggFn: 'max', metricDataType: 'gauge', where: '', groupBy: [] };
      const { json } = await chart({
        ...window,
        series: [
          { ...gauge, metricName: 'cpu' },
          { ...gauge, field: 'cpu' },
        ],
      });
      expect(json.data[1]).toEqual({ ts_bucket: T0 + MINUTE, group: [], 'series_0.data': 25, 'series_1.data': 25 });
    });

    it.each<[string, object, number, RegExp]>([
      ['no series', { ...window, series: [] }, 400, /series/],
      ['six series', { ...window, series: Array(6).fill(count) }, 400, /series/],
      [
        'seconds instead of milliseconds',
        { ...window, startTime: Math.floor(T0 / 1000), series: [count] },
        400,
        /startTime/,
      ],
      [
        'different groupBy',
        { ...window, series: [count, { ...count, groupBy: ['ServiceName'] }] },
        400,
        /same groupBy/,
      ],
      ['an unknown aggFn', { ...window, series: [{ ...count, aggFn: 'median' }] }, 400, /aggFn/],
      [
        'an unknown source',
        { ...window, series: [{ ...count, sourceId: 'nope' }] },
        404,
        /^Source not found for series 0$/,
      ],
      ['invalid Lucene', { ...window, series: [{ ...count, where: 'a:(b' }] }, 400, /^series\[0\]\.where: /],
      [
        'broken SQL',
        { ...window, series: [{ ...count, where: 'a = = b', whereLanguage: 'sql' }] },
        400,
        /^series\[0\]\.where: /,
      ],
    ])('rejects %s', async (_, body, status, message) => {
      const response = await chart(body);
      expect(response.status).toBe(status);
      expect(response.json.message).toMatch(message);
    });

    it('requires a token', async () => {
      const { status } = await server.call({ method: 'POST', path: '/api/v2/charts/series', body: {} });
      expect(status).toBe(401);
    });
  });
});
