import { expect, it } from 'vitest';
import { onEachStore, useServer } from '../support/server.ts';

const series = { type: 'time', aggFn: 'count' };
const tile = { x: 0, y: 0, w: 12, h: 4, series: [series] };

const rich = {
  id: 'rich_board-1',
  name: 'rich',
  tags: ['eins', 'zwei'],
  tiles: [
    {
      id: 'tile',
      name: 'Tile',
      asRatio: true,
      x: 0,
      y: 3,
      w: 24,
      h: 2,
      series: [
        {
          type: 'table',
          dataSource: 'metrics',
          aggFn: 'quantile',
          level: 0.99,
          field: 'Duration',
          groupBy: ['ServiceName'],
          where: 'level:error',
          whereLanguage: 'sql',
          sourceId: 'own',
          metricName: 'http.duration',
          metricDataType: 'exponential histogram',
          alias: 'p99',
          sortOrder: 'desc',
          numberFormat: { output: 'time' },
        },
      ],
    },
  ],
};

const names = ['b', 'a', 'Z', 'ä', '😀', 'ｱ', 'a'];
const one = {
  id: '11111111-2222-4333-8444-555555555555',
  token: 'one-token',
  expired: 'one-expired-token',
  dashboards: [
    rich,
    { id: 'bare', name: 'bare', tiles: [tile] },
    { id: 'empty', name: 'empty' },
    ...names.map((name, index) => ({ id: `n${9 - index}`, name })),
  ],
};
const other = {
  id: '22222222-2222-4333-8444-555555555555',
  token: 'other-token',
  dashboards: [
    { id: 'rich_board-1', name: 'same id' },
    { id: 'theirs', name: 'theirs' },
  ],
};

const fleet = {
  organizations: [
    {
      id: one.id,
      name: 'One',
      keys: [{ name: 'admin', keyId: 'OneAdminKey000000001', keySecret: 'one-admin-secret', roles: ['admin'] }],
      dashboardTokens: [
        { name: 'wallboard', token: one.token },
        { name: 'old', token: one.expired, expireAt: '2026-01-01T00:00:00Z' },
      ],
      sources: [{ id: 'own', name: 'own', kind: 'log' }],
      dashboards: one.dashboards,
    },
    {
      id: other.id,
      name: 'Other',
      dashboardTokens: [{ name: 'wallboard', token: other.token }],
      dashboards: other.dashboards,
    },
    { name: 'Empty', dashboardTokens: [{ name: 'wallboard', token: 'empty-token' }] },
  ],
};

onEachStore('dashboards', (store) => {
  const server = useServer(store, { fleet });
  const path = '/api/v2/dashboards';
  const get = (suffix = '', token = one.token, headers: Record<string, string> = {}) =>
    server.call({ path: path + suffix, token, headers });

  it('D1: an empty id is no dashboard, also after the list has been read', async () => {
    for (let read = 0; read < 2; read++) {
      expect((await get()).status).toBe(200);
      const { status, json } = await get('/');
      expect([status, json]).toEqual([404, { message: 'Dashboard not found' }]);
    }
  });

  it('D1, D5: returns one dashboard with all its members', async () => {
    const { status, json, headers } = await get('/rich_board-1');
    expect([status, json]).toEqual([200, { data: rich }]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('D4: includes all defaults and omits members without a value', async () => {
    expect((await get('/empty')).json).toEqual({ data: { id: 'empty', name: 'empty', tags: [], tiles: [] } });
    const { data } = (await get('/bare')).json;
    expect(data.tiles).toEqual([
      {
        ...tile,
        id: expect.stringMatching(/^.{1,36}$/),
        name: '',
        asRatio: false,
        series: [{ ...series, where: '', whereLanguage: 'lucene', groupBy: [] }],
      },
    ]);
  });

  it('D2: lists whole dashboards by name descending as UTF-8 bytes, then by id', async () => {
    const { status, json } = await get();
    expect(status).toBe(200);
    expect(json.data.map(({ name, id }: { name: string; id: string }) => `${name} ${id}`)).toEqual([
      '😀 n5',
      'ｱ n4',
      'ä n6',
      'rich rich_board-1',
      'empty empty',
      'bare bare',
      'b n9',
      'a n3',
      'a n8',
      'Z n7',
    ]);
    expect(json.data[3]).toEqual(rich);
    expect((await get('', 'empty-token')).json).toEqual({ data: [] });
  });

  it('R2: a token sees the dashboards of its own organization and no others', async () => {
    expect((await get('', other.token)).json.data.map(({ name }: { name: string }) => name)).toEqual([
      'theirs',
      'same id',
    ]);
    expect((await get('/rich_board-1', other.token)).json.data.name).toBe('same id');
    expect((await get('/theirs')).status).toBe(404);
    expect((await get('/bare', other.token)).status).toBe(404);
  });

  it.each([
    '/unknown',
    '/64f0c1d2e3a4b5c6d7e8f999',
    '/theirs',
    '/RICH_BOARD-1',
    '/a%20b',
    '/..%2Fbare',
    '/%00',
    '/%C3%A4',
    `/${'x'.repeat(65)}`,
    `/${'x'.repeat(5000)}`,
    "/bare'--",
    '/*',
  ])('D1, D3: returns 404 for %s', async (suffix) => {
    const { status, json } = await get(suffix);
    expect([status, json]).toEqual([404, { message: 'Dashboard not found' }]);
  });

  it.each(['', '/bare'])('D2: %j has an etag, and returns 304 without a body if it matches', async (suffix) => {
    const first = await get(suffix);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await get(suffix, one.token, { 'if-none-match': known });
      expect([status, text, headers.get('etag')], known).toEqual([304, '', etag]);
    }
    expect((await get(suffix, one.token, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await get('/empty')).headers.get('etag')).not.toBe(etag);
  });

  it.each([
    ['?page=1', ['page']],
    ['/bare?a=1&b=2', ['a', 'b']],
    ['/unknown?limit=5', ['limit']],
  ])('D1, B4: %s returns 400 and names each unknown parameter', async (suffix, paths) => {
    const { status, json } = await get(suffix);
    expect(status).toBe(400);
    expect(json.message).toBe(
      `Query validation failed: ${paths.map((name) => `${name}: Unknown parameter`).join('; ')}`,
    );
    expect(json.errors).toEqual(
      paths.map((name) => ({ path: name, message: expect.stringMatching(/^Unknown parameter/) })),
    );
  });

  it.each([
    ['no header', {}],
    ['an unknown token', { authorization: 'Bearer unknown' }],
    ['an expired token', { authorization: `Bearer ${one.expired}` }],
    ['no token', { authorization: 'Bearer ' }],
    ['two tokens', { authorization: `Bearer ${one.token} ${one.token}` }],
    ['the token alone', { authorization: one.token }],
    ['an API key', { authorization: `Basic ${btoa('OneAdminKey000000001:one-admin-secret')}` }],
  ])('D1: %s returns 401, even for a dashboard that does not exist', async (_, headers) => {
    for (const suffix of ['', '/bare', '/unknown']) {
      const response = await server.call({ path: path + suffix, headers });
      expect([response.status, response.json]).toEqual([
        401,
        { message: 'Unauthorized access. API key is missing or invalid.' },
      ]);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('B8: the scheme is case-insensitive', async () => {
    expect((await server.call({ path, headers: { authorization: `bEARER  ${one.token}` } })).status).toBe(200);
  });

  it('B2, B3: returns 405 with Allow for another method and 404 for an unknown path, both in the error format of the API', async () => {
    const wrong = await server.call({ method: 'PATCH', path: `${path}/bare`, token: one.token });
    expect([wrong.status, wrong.json]).toEqual([405, { message: expect.any(String) }]);
    expect(wrong.headers.get('allow')).toContain('GET');
    const absent = await server.call({ path: '/api/v2/tiles', token: one.token });
    expect([absent.status, absent.json]).toEqual([404, { message: expect.any(String) }]);
  });

  it('B6, B7: has a request id and the rate limit', async () => {
    const { headers } = await get();
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-ratelimit-policy')).toBe('1000000;w=10');
  });
});
