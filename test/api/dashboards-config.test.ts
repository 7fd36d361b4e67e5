import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { anyConfig } from '../support/configs.ts';
import { createDashboard, HEX_ID, read, tile, write } from '../support/dashboards.ts';
import { onEachStore, useServer } from '../support/server.ts';

const CONFIG = '?format=config';
const at = { x: 0, y: 0, w: 12, h: 4 };
const count = { aggFn: 'count', where: '', whereLanguage: 'lucene' };
const line = (more: object = {}) => ({ displayType: 'line', sourceId: 'logs', select: [count], ...more });
const configTile = (config: object, more: object = {}): Json => ({ ...at, name: 'T', config, ...more });

onEachStore('dashboards in the format of ClickStack', (store) => {
  const server = useServer(store);

  const create = async (tiles: object[], more: object = {}) => {
    const { status, json, text, headers } = await write(server, 'POST', CONFIG, { name: 'c', tiles, ...more });
    expect(status, text).toBe(200);
    return { data: json.data, etag: headers.get('etag') ?? '' };
  };
  const put = async (id: string, body: object, suffix = '') => {
    const { status, json, text } = await write(server, 'PUT', `/${id}${suffix}`, body);
    expect(status, text).toBe(200);
    return json.data;
  };
  const countVersions = async (id: string) => (await read(server, `/${id}/versions`)).json.data.length;

  it.each([
    [
      line({ groupBy: 'ServiceName, Body', displayType: 'stacked_bar' }),
      {
        type: 'time',
        aggFn: 'count',
        sourceId: 'logs',
        groupBy: ['ServiceName', 'Body'],
        where: '',
        whereLanguage: 'lucene',
        displayType: 'stacked_bar',
      },
    ],
    [
      { displayType: 'markdown', markdown: '# Hello' },
      { type: 'markdown', groupBy: [], where: '', whereLanguage: 'lucene', content: '# Hello' },
    ],
  ])(
    'a tile sent as a config is returned as that config, without format=config next to its series: %j',
    async (config, series) => {
      const { data } = await create([configTile(config)]);
      expect(data).toEqual({
        id: expect.stringMatching(HEX_ID),
        name: 'c',
        tags: [],
        filters: [],
        savedQuery: null,
        savedFilterValues: [],
        tiles: [{ id: expect.stringMatching(HEX_ID), name: 'T', ...at, config }],
      });
      const { id } = data;
      expect((await read(server, `/${id}${CONFIG}`)).json.data).toEqual(data);
      expect((await read(server, CONFIG)).json.data).toContainEqual(data);
      expect((await read(server, `/${id}`)).json.data.tiles).toEqual([
        { id: data.tiles[0].id, name: 'T', ...at, asRatio: false, series: [series], config },
      ]);
    },
  );

  it('any config is returned as it was written, and sending any form back changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyConfig, { minLength: 1, maxLength: 5 }), async (configs) => {
        const { data, etag } = await create(configs.map((config) => configTile(config)));
        const { id } = data;
        expect(data.tiles.map(({ config }: Json) => config)).toEqual(configs);
        const whole = (await read(server, `/${id}`)).json.data;
        const stripped = { ...whole, tiles: whole.tiles.map(({ config: _, ...rest }: Json) => rest) };
        const ifMatch = { headers: { 'if-match': etag } };
        for (const [body, suffix] of [
          [data, CONFIG],
          [data, ''],
          [whole, ''],
          [stripped, ''],
        ] as const) {
          const sent = await write(server, 'PUT', `/${id}${suffix}`, body, ifMatch);
          expect(sent.status, sent.text).toBe(200);
        }
        expect((await read(server, `/${id}${CONFIG}`)).json.data).toEqual(data);
        expect(await countVersions(id)).toBe(1);
        await write(server, 'DELETE', `/${id}`);
      }),
      { numRuns: 12 },
    );
  });

  it('series that a config cannot express come with their most similar config', async () => {
    const series = [
      { type: 'time', aggFn: 'count', sourceId: 'logs' },
      { type: 'time', aggFn: 'count', sourceId: 'traces' },
    ];
    const { data } = await createDashboard(server, { name: 's', tiles: [tile({ series })] });
    const form = (await read(server, `/${data.id}${CONFIG}`)).json.data;
    expect(form.tiles[0]).toMatchObject({ config: { displayType: 'line', sourceId: 'logs' }, series });
    for (const body of [form, { ...form, tiles: form.tiles.map(({ series: _, asRatio: _a, ...rest }: Json) => rest) }])
      await put(data.id, body, CONFIG);
    expect((await read(server, `/${data.id}`)).json.data).toEqual(data);
    expect(await countVersions(data.id)).toBe(1);
  });

  it('a change in one form is a change of the tile', async () => {
    const { data } = await create([configTile(line({ lineInterpolation: 'step' }))]);
    const changed = await put(data.id, { ...data, tiles: [{ ...data.tiles[0], config: line() }] }, CONFIG);
    expect(changed.tiles[0].config).toEqual(line());
    const series = [{ type: 'number', aggFn: 'count', sourceId: 'logs' }];
    const asSeries = await put(data.id, { name: 'c', tiles: [{ ...at, id: data.tiles[0].id, series }] }, CONFIG);
    expect(asSeries.tiles[0].config).toEqual({ displayType: 'number', sourceId: 'logs', select: [count] });
    expect(await countVersions(data.id)).toBe(3);
  });

  it.each<[string, Json, string, string]>([
    [
      'raw SQL',
      { configType: 'sql', connectionId: 'x', sqlTemplate: 'SELECT 1', displayType: 'line' },
      'tiles.0.config.configType',
      'raw SQL are not supported',
    ],
    [
      'event patterns',
      { displayType: 'event_patterns', sourceId: 'logs' },
      'tiles.0.config.displayType',
      'not supported',
    ],
    ['no source', { displayType: 'line', select: [count] }, 'tiles.0.config.sourceId', 'required for line'],
    ['an unknown type', { displayType: 'donut' }, 'tiles.0.config.displayType', 'must be one of line'],
    ['no select', { displayType: 'line', sourceId: 'logs' }, 'tiles.0.config.select', 'required'],
    ['a text as select', line({ select: 'Body' }), 'tiles.0.config.select', 'must be a list'],
    ['a list in a search', line({ displayType: 'search' }), 'tiles.0.config.select', 'must be a string'],
    ['no aggregation', line({ select: [{}] }), 'tiles.0.config.select.0.aggFn', 'required'],
    ['no level', line({ select: [{ aggFn: 'quantile' }] }), 'tiles.0.config.select.0.level', 'required'],
    ['no value', line({ displayType: 'heatmap', select: [{}] }), 'tiles.0.config.select.0.valueExpression', 'required'],
    [
      'two languages',
      line({ where: 'a', select: [{ ...count, where: 'b', whereLanguage: 'sql' }] }),
      'tiles.0.config.select.0.whereLanguage',
      'language',
    ],
    ['an unknown source', line({ sourceId: 'nope' }), 'tiles.0.config.sourceId', 'does not exist'],
  ])('D1: %s is a 400 that names the member', async (_, config, path, rule) => {
    const body = { name: 'x', tiles: [configTile(config)] };
    const { status, json } = await write(server, 'POST', '', body);
    expect([status, json.errors?.[0]]).toEqual([400, { path, message: expect.stringContaining(rule) }]);
    const validated = await write(server, 'POST', '/validate', body);
    expect(validated.json).toMatchObject({ valid: false, errors: [{ path }], normalized: null });
  });

  it('D1: a tile without content, or with two that differ, is a 400', async () => {
    for (const [given, path] of [
      [at, 'tiles.0.series'],
      [{ ...tile(), config: line({ displayType: 'number' }) }, 'tiles.0.config'],
    ] as const) {
      const { status, json } = await write(server, 'POST', '', { name: 'x', tiles: [given] });
      expect([status, json.errors?.[0]?.path]).toEqual([400, path]);
    }
    expect((await read(server, '?format=yaml')).status).toBe(400);
  });

  it('validate returns the normalized form that is asked for', async () => {
    const body = { name: 'x', tiles: [{ ...at, config: line() }] };
    const { json } = await write(server, 'POST', `/validate${CONFIG}`, body);
    expect(json).toMatchObject({ valid: true, errors: [], normalized: { tiles: [{ config: line() }] } });
    expect((await write(server, 'POST', '/validate', body)).json.normalized.tiles[0].series).toHaveLength(1);
  });

  it('filters, the saved query and containers are kept, also by a client that does not know them', async () => {
    const more = {
      filters: [{ type: 'STATIC_LIST', name: 'Env', options: ['a', 'b'], isVariableEnabled: true }],
      savedQuery: 'error',
      savedFilterValues: [{ type: 'sql', condition: "ServiceName = 'api'" }],
      containers: [{ id: 'c1', title: 'One', collapsed: false, tabs: [{ id: 't1', title: 'Tab' }] }],
    };
    const { data } = await create([configTile(line(), { containerId: 'c1', tabId: 't1', description: 'why' })], more);
    const { id } = data;
    expect(data).toMatchObject({ ...more, savedQueryLanguage: 'lucene' });
    expect(data.filters[0].id).toMatch(HEX_ID);
    const { name, tags, tiles } = (await read(server, `/${id}`)).json.data;
    const known = tiles.map(({ containerId: _c, tabId: _t, description: _d, config: _, ...rest }: Json) => rest);
    await put(id, { name, tags, tiles: known });
    expect((await read(server, `/${id}${CONFIG}`)).json.data).toEqual(data);
    expect(await countVersions(id)).toBe(1);
    const cleared = await put(id, { name, tags, tiles, filters: [], savedQuery: null, containers: [] }, CONFIG);
    expect(cleared).toMatchObject({ filters: [], savedQuery: null, savedFilterValues: more.savedFilterValues });
    expect(cleared).not.toHaveProperty('containers');
    const repeated = { ...more, containers: [...more.containers, ...more.containers] };
    const rejected = await write(server, 'PUT', `/${id}`, { name, ...repeated });
    expect([rejected.status, rejected.json.errors[0].path]).toEqual([400, 'containers.1.id']);
  });

  it('each form has its own etag, and If-Match accepts both', async () => {
    const { data, etag } = await create([configTile(line())]);
    const series = await read(server, `/${data.id}`, { 'accept-encoding': 'identity' });
    const config = await read(server, `/${data.id}${CONFIG}`, { 'accept-encoding': 'identity' });
    expect(config.headers.get('etag')).toBe(etag);
    expect(series.headers.get('etag')).not.toBe(etag);
    expect((await read(server, `/${data.id}${CONFIG}`, { 'if-none-match': etag })).status).toBe(304);
    expect((await read(server, `/${data.id}`, { 'if-none-match': etag })).status).toBe(200);
    for (const ifMatch of [etag, series.headers.get('etag') ?? ''])
      expect((await write(server, 'PUT', `/${data.id}`, data, { headers: { 'if-match': ifMatch } })).status).toBe(200);
    expect((await write(server, 'PUT', `/${data.id}`, data, { headers: { 'if-match': '"x.config"' } })).status).toBe(
      412,
    );
  });
});
