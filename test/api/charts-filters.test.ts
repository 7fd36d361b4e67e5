import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { board, QUERY, rows, T0 } from '../support/board.ts';
import type { Json } from '../support/client.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const [organization, ...others] = fleet.organizations;
const HALF_HOUR = 30 * 60_000;
const range = { start: T0, end: T0 + HALF_HOUR, timezone: 'UTC' };

onEachStoreInLongRuns('filters of the viewer of a tile', (store) => {
  const server = useServer(store, {
    fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] },
  });
  beforeAll(() =>
    fillEngine(join(server.directory, 'data'), {
      ...rows,
      otel_logs: [...rows.otel_logs, { ...rows.otel_logs[0], OrganizationId: globex.id, Body: 'of globex' }],
    }),
  );

  const readTile = (id: string, filters: unknown, token = acme.token) =>
    server.call({
      path: `/api/v2/dashboards/board/tiles/${id}/data?${QUERY}&filters=${encodeURIComponent(
        typeof filters === 'string' ? filters : JSON.stringify(filters),
      )}`,
      token,
    });
  const draw = (body: object) =>
    server.call({ method: 'POST', path: '/api/v2/charts/tile', token: acme.token, body: { ...range, ...body } });
  const count = (more: object = {}) => ({ type: 'number', aggFn: 'count', sourceId: 'logs', ...more });
  const api = { expression: 'ServiceName', values: ['api'] };

  it('applies to every type of tile, together with the conditions of the tile', async () => {
    const names = (data: Json) => data.series.map(({ group }: Json) => group[0]);
    expect(names((await readTile('lines', [api])).json.data)).toEqual(['api']);
    expect((await readTile('sum', [api])).json.data.value).toBe(30 * 10 + (29 * 30) / 2);
    expect((await readTile('ratio', [api])).json.data.value).toBeCloseTo(5 / 30, 10);
    expect((await readTile('table', [api])).json.data.rows).toEqual([['api', 39, 30]]);
    expect((await readTile('search', [{ expression: 'ServiceName', values: ['web'] }])).json.data.rows).toEqual([]);
    expect((await readTile('text', [api])).json.data.type).toBe('markdown');
    const histogram = { type: 'histogram', sourceId: 'logs', field: 'LogAttributes.ms' };
    const drawn = await draw({ series: [histogram], filters: [api] });
    expect(drawn.json.data).toMatchObject({ count: 30 });
    expect(drawn.json.data).not.toHaveProperty('unappliedFilters');
  });

  it('all filters must hold, of several values one; a query is Lucene or SQL', async () => {
    const value = async (filters: object[]) => (await draw({ series: [count()], filters })).json.data.value;
    expect(await value([])).toBe(60);
    expect(await value([{ expression: 'ServiceName', values: ['api', 'web', 'none'] }])).toBe(60);
    expect(await value([api, { where: 'SeverityText:"ERROR"' }])).toBe(5);
    expect(await value([{ where: "SeverityText = 'ERROR' OR ServiceName = 'web'", whereLanguage: 'sql' }, api])).toBe(
      5,
    );
    expect(await value([{ expression: "LogAttributes['ms']", values: ['10', '11'] }])).toBe(2);
    expect(await value([{ expression: 'toInt64(LogAttributes.ms) % 2', values: ['0'] }])).toBe(30);
    expect(await value([{ where: '   ' }])).toBe(60);
  });

  it('says which filters the source of the tile cannot apply, and applies the others', async () => {
    const severity = { expression: 'SeverityText', values: ['ERROR'] };
    const memory = await readTile('memory', [severity, { expression: 'MetricName', values: ['memory'] }]);
    expect(memory.json.data).toMatchObject({
      value: 3 * 1024 ** 3,
      unappliedFilters: [{ filter: 0, reason: expect.stringContaining('Unknown column "SeverityText"') }],
    });
    const words = await readTile('memory', [{ where: 'timeout' }]);
    expect(words.json.data.unappliedFilters).toEqual([{ filter: 0, reason: expect.stringContaining('bare words') }]);
    // A ratio of a filtered and an unfiltered series would be wrong.
    const mixed = await draw({
      asRatio: true,
      series: [
        count({ where: 'ServiceName:"api"' }),
        { ...count(), aggFn: 'max', sourceId: 'metrics', metricName: 'memory', metricDataType: 'gauge' },
      ],
      filters: [severity],
    });
    expect(mixed.json.data).toMatchObject({ value: 30 / (3 * 1024 ** 3), unappliedFilters: [{ filter: 0 }] });
  });

  it('a value is never read as an expression', async () => {
    for (const text of ["' OR 1=1 --", 'api\\', "') OR ('1'='1", '{p1:String}', '$$', '*']) {
      const { status, json } = await draw({
        series: [count()],
        filters: [{ expression: 'ServiceName', values: [text] }],
      });
      expect([status, json.data?.value], text).toEqual([200, 0]);
    }
    const own = await draw({ series: [count()], filters: [{ where: 'Body:"of globex"' }] });
    expect(own.json.data.value).toBe(0);
    const hidden = { expression: 'OrganizationId', values: [globex.id] };
    const { json } = await draw({ series: [count()], filters: [hidden] });
    expect(json.data).toMatchObject({ value: 60, unappliedFilters: [{ filter: 0 }] });
    expect((await readTile('lines', [api], globex.token)).status).toBe(404);
  });

  it.each([
    ['not JSON', '[', 'filters'],
    ['no list', {}, 'filters'],
    ['too many', Array.from({ length: 21 }, () => api), 'filters'],
    ['no values', [{ expression: 'Body' }], 'filters.0.values'],
    ['an empty list of values', [{ expression: 'Body', values: [] }], 'filters.0.values'],
    ['too many values', [{ expression: 'Body', values: Array.from({ length: 101 }, String) }], 'filters.0.values'],
    ['nothing', [{}], 'filters.0.expression'],
    ['both forms', [{ ...api, where: 'x' }], 'filters.0.where'],
    ['a syntax error', [api, { where: '"open' }], 'filters[1].where'],
    ['a function that is not allowed', [{ expression: 'sleep(1)', values: ['0'] }], 'filters[0].expression'],
    ['a value that is not a number', [{ expression: 'SeverityNumber', values: ['x'] }], 'filters[0].expression'],
  ])('rejects %s', async (_name, filters, path) => {
    const { status, json } = await readTile('lines', filters);
    expect([status, json.errors?.[0]?.path], json.message).toEqual([400, path]);
  });

  it('rejects the same in the body of a preview', async () => {
    const { status, json } = await draw({ series: [count()], filters: [{ expression: 'Body' }] });
    expect([status, json.errors[0].path]).toEqual([400, 'filters.0.values']);
    const long = JSON.stringify([{ where: 'x'.repeat(8000) }]);
    expect((await readTile('lines', long)).status).toBe(400);
  });
});
