import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { board, QUERY, rows, T0 } from '../support/board.ts';
import type { Json } from '../support/client.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';

const [organization, ...others] = fleet.organizations;
const HALF_HOUR = 30 * 60_000;
const range = { start: T0, end: T0 + HALF_HOUR, timezone: 'UTC' };
const count = { type: 'number', aggFn: 'count', sourceId: 'logs' };

onEachStoreInLongRuns('querying an unsaved tile', (store) => {
  const server = useServer(store, {
    fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] },
  });
  beforeAll(() => fillEngine(join(server.directory, 'data'), rows));

  const readTile = (body: object, token = acme.token) =>
    server.call({ method: 'POST', path: '/api/v2/charts/tile', token, body });

  it('returns the same as a stored tile of every type, including errors', async () => {
    for (const tile of board.tiles) {
      const stored = await server.call({
        path: `/api/v2/dashboards/board/tiles/${tile.id}/data?${QUERY}`,
        token: acme.token,
      });
      const { status, json } = await readTile({ ...tile, ...range });
      expect({ status, json }, tile.id).toEqual({ status: stored.status, json: stored.json });
    }
    expect((await readTile({ series: [count], ...range })).json.data).toMatchObject({ type: 'number', value: 60 });
  });

  it('accepts a tile without position and name, ISO times, groups and limits', async () => {
    const time = { type: 'time', aggFn: 'count', groupBy: ['ServiceName'] };
    const iso = { start: new Date(T0).toISOString(), end: new Date(T0 + HALF_HOUR).toISOString() };
    const { json } = await readTile({ series: [time], ...iso, granularity: '30m', groups: 1, others: true });
    expect(json.data).toMatchObject({ type: 'time', granularity: '30m', groups: { shown: 1, total: 2 } });
    expect(json.data.series.map(({ isOthers }: { isOthers: boolean }) => isOthers)).toEqual([false, true]);
    const search = await readTile({ series: [{ type: 'search', fields: ['Body'] }], ...range, limit: 3 });
    expect(search.json.data.rows).toHaveLength(3);
    const { start, end } = (await readTile({ series: [count] })).json.data;
    expect(end - start).toBe(3_600_000);
  });

  it('returns the parts of a pie and of bars; a pie always has the others', async () => {
    const grouped = { aggFn: 'count', sourceId: 'logs', groupBy: ['ServiceName', 'SeverityText'] };
    const pie = await readTile({ series: [{ type: 'pie', ...grouped }], ...range, groups: 1 });
    expect(pie.json.data).toMatchObject({
      type: 'pie',
      parts: [
        { name: 'count', group: ['web', 'INFO'], isOthers: false, value: 30 },
        { group: ['', ''], isOthers: true, value: 30 },
      ],
      groups: { shown: 1, total: 3 },
    });
    const config = {
      displayType: 'bar',
      sourceId: 'logs',
      select: [{ aggFn: 'count' }],
      groupBy: 'ServiceName, SeverityText',
      limit: 2,
    };
    const bars = await readTile({ config, ...range });
    expect(bars.json.data.parts.map(({ group, value }: Json) => [...group, value])).toEqual([
      ['web', 'INFO', 30],
      ['api', 'INFO', 25],
    ]);
  });

  it('returns the distribution of a field over all rows, and by time', async () => {
    const values = { sourceId: 'logs', field: 'LogAttributes.ms' };
    const histogram = await readTile({ series: [{ type: 'histogram', ...values }], ...range });
    const { bins, count: total, scale } = histogram.json.data;
    // api: 10 to 39 ms, web: 100 to 129 ms.
    expect([total, scale, bins[0], bins.at(-1)]).toEqual([
      60,
      'linear',
      { from: 10, to: 15, count: 5 },
      { from: 125, to: 130, count: 5 },
    ]);
    expect(bins.reduce((sum: number, bin: Json) => sum + bin.count, 0)).toBe(60);
    expect(bins).toContainEqual({ from: 50, to: 55, count: 0 });
    const heatmap = await readTile({ series: [{ type: 'heatmap', ...values }], ...range, granularity: '10m' });
    const { rows: ranges, buckets, mode } = heatmap.json.data;
    expect([mode, buckets.length]).toEqual(['distribution', 3]);
    expect(ranges[0]).toEqual({ from: 10, to: 15, values: [5, 0, 0] });
    const log = {
      displayType: 'heatmap',
      sourceId: 'logs',
      select: [{ valueExpression: values.field, heatmapScaleType: 'log' }],
    };
    const logarithmic = (await readTile({ config: log, ...range, granularity: '30m' })).json.data;
    expect(logarithmic.scale).toBe('log');
    expect(logarithmic.rows.reduce((sum: number, { values: [found] }: Json) => sum + found, 0)).toBe(60);
    const nothing = await readTile({ series: [{ type: 'histogram', ...values, where: 'Body:"never"' }], ...range });
    expect(nothing.json.data).toMatchObject({ count: 0, bins: [] });
  });

  it('returns a heatmap with a row per group', async () => {
    const series = [
      { type: 'heatmap', aggFn: 'max', field: 'LogAttributes.ms', sourceId: 'logs', groupBy: ['ServiceName'] },
    ];
    const { json } = await readTile({ series, ...range, granularity: '15m' });
    expect(json.data).toMatchObject({
      type: 'heatmap',
      mode: 'series',
      rows: [
        { group: ['web'], values: [114, 129] },
        { group: ['api'], values: [24, 39] },
      ],
    });
  });

  it.each([
    ['line', 'time'],
    ['stacked_bar', 'time'],
    ['stacked_line', 'time'],
    ['number', 'number'],
    ['table', 'table'],
    ['search', 'search'],
    ['markdown', 'markdown'],
    ['heatmap', 'heatmap'],
    ['histogram', 'histogram'],
    ['pie', 'pie'],
    ['bar', 'bar'],
  ])('draws a config with the display type %s', async (displayType, type) => {
    const hasValue = displayType === 'heatmap' || displayType === 'histogram';
    const item = hasValue ? { valueExpression: 'SeverityNumber' } : { aggFn: 'count' };
    const select = displayType === 'search' ? 'Body' : [item];
    const rest = displayType === 'markdown' ? { markdown: 'text' } : { sourceId: 'logs', select };
    const { status, json, text } = await readTile({ config: { displayType, ...rest }, ...range });
    expect([status, json.data?.type], text).toEqual([200, type]);
  });

  it.each([
    ['SeverityText DESC, ServiceName', ['api INFO', 'web INFO', 'api ERROR']],
    ['ServiceName DESC, rows', ['web INFO', 'api ERROR', 'api INFO']],
    ['`SeverityText` asc , count() DESC', ['api ERROR', 'web INFO', 'api INFO']],
    ['max(SeverityNumber), rows', ['api ERROR', 'api INFO', 'web INFO']],
    // Neither a group nor a value of the table: the order of a table without orderBy.
    ['rand()', ['web INFO', 'api INFO', 'api ERROR']],
  ])('sorts a table by %s', async (orderBy, expected) => {
    const config = {
      displayType: 'table',
      sourceId: 'logs',
      select: [
        { aggFn: 'count', alias: 'rows' },
        { aggFn: 'max', valueExpression: 'SeverityNumber' },
      ],
      groupBy: 'ServiceName, SeverityText',
      orderBy,
    };
    const { json, text } = await readTile({ config, ...range });
    expect(
      json.data?.rows.map((row: Json[]) => row.slice(0, 2).join(' ')),
      text,
    ).toEqual(expected);
  });

  it.each<[string, object, string]>([
    ['formulas', { formulas: [{ expression: 'A' }] }, 'config.formulas'],
    ['having', { having: 'count() > 1' }, 'config.having'],
    ['periodAggFn', { select: [{ aggFn: 'count', periodAggFn: 'delta' }] }, 'config.select[0].periodAggFn'],
  ])('says that it cannot compute %s, which a stored config may have', async (_, more, path) => {
    const config = { displayType: 'number', sourceId: 'logs', select: [{ aggFn: 'count' }], ...more };
    const { status, json } = await readTile({ config, ...range });
    expect([status, json.errors[0].path]).toEqual([400, path]);
  });

  it('requires read access, stores nothing and reads only its own organization', async () => {
    const revision = async () =>
      (await server.call({ path: '/api/v2/dashboards', token: acme.token })).headers.get('etag');
    const before = await revision();
    const session = await signIn(server, acme.developer);
    const body = { series: [count], ...range };
    const response = await server.call({ method: 'POST', path: '/api/v2/charts/tile', headers: session.headers, body });
    expect(response.json.data).toMatchObject({ value: 60 });
    expect((await readTile(body, globex.token)).json.data).toMatchObject({ value: 0 });
    expect(await revision()).toBe(before);
    expect((await server.call({ method: 'POST', path: '/api/v2/charts/tile', body })).status).toBe(401);
  });

  it.each<[string, object, string]>([
    ['no series', { series: [] }, 'series'],
    ['too many series', { series: Array(21).fill(count) }, 'series'],
    ['a missing aggregation', { series: [{ type: 'number' }] }, 'series.0.aggFn'],
    ['a quantile without a level', { series: [{ ...count, aggFn: 'quantile', field: 'Body' }] }, 'series.0.level'],
    ['a histogram without a field', { series: [{ type: 'histogram' }] }, 'series.0.field'],
    ['a heatmap without a field', { series: [{ type: 'heatmap' }] }, 'series.0.field'],
    [
      'a histogram of metrics',
      { series: [{ type: 'histogram', field: 'Value', sourceId: 'metrics' }] },
      'series[0].sourceId',
    ],
    ['series of two types', { series: [count, { ...count, type: 'table' }] }, 'series'],
    ['an unknown source', { series: [{ ...count, sourceId: 'nope' }] }, 'series[0].sourceId'],
    ['a syntax error in a condition', { series: [{ ...count, where: 'a:(b' }] }, 'series[0].where'],
    ['a start after the end', { series: [count], start: T0, end: T0 - 1 }, 'start'],
    ['an invalid time', { series: [count], end: 'tomorrow' }, 'end'],
    ['an invalid time zone', { series: [{ ...count, type: 'time' }], timezone: 'Mars/Base' }, 'timezone'],
    ['an invalid granularity', { series: [count], granularity: '7m' }, 'granularity'],
    ['too many rows', { series: [count], limit: 10_000 }, 'limit'],
    ['a tile wider than the grid', { series: [count], w: 25 }, 'w'],
  ])('rejects %s', async (_, body, path) => {
    const { status, json } = await readTile({ ...range, ...body });
    expect(status).toBe(400);
    expect(json.errors.map((error: { path: string }) => error.path)).toContain(path);
  });
});
