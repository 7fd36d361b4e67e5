import { expect, it } from 'vitest';
import type { Call, Json } from '../support/client.ts';
import { HEX_ID } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { createIngestToken } from '../support/otlp-json.ts';
import { onEachStore, useServer } from '../support/server.ts';

const PATH = '/api/v2/saved-searches';
const MANAGED = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack/saved-searches`;
const input = {
  name: 'Errors of checkout',
  sourceId: 'logs',
  select: 'Timestamp, Body',
  where: 'SeverityText:ERROR',
  whereLanguage: 'lucene',
  orderBy: 'Timestamp DESC',
  tags: ['production'],
  filters: [{ type: 'sql', condition: "ServiceName IN ('checkout', 'billing')" }],
};

onEachStore('saved searches', (store) => {
  const server = useServer(store);
  const call = (method: string, suffix = '', body?: unknown, token = acme.writer) =>
    server.call({ method, path: PATH + suffix, token, ...(body === undefined ? {} : { body }) });
  const create = async (body: object): Promise<Json> => {
    const { status, json, text } = await call('POST', '', body);
    expect(status, text).toBe(200);
    return json.data;
  };

  it('creates, reads, replaces and deletes', async () => {
    const created = await create(input);
    expect(created).toEqual({
      ...input,
      id: expect.stringMatching(HEX_ID),
      teamId: acme.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: created.createdAt,
    });
    expect((await call('GET', `/${created.id}`, undefined, acme.token)).json.data).toEqual(created);
    const replaced = await call('PUT', `/${created.id}`, { name: ' Renamed ', sourceId: 'traces' });
    expect(replaced.json.data).toMatchObject({
      id: created.id,
      name: 'Renamed',
      sourceId: 'traces',
      select: '',
      where: '',
      whereLanguage: 'lucene',
      orderBy: '',
      tags: [],
      filters: [],
      createdAt: created.createdAt,
    });
    expect(replaced.status).toBe(200);
    const deleted = await call('DELETE', `/${created.id}`);
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    const gone = await call('GET', `/${created.id}`);
    expect([gone.status, gone.json]).toEqual([404, { message: 'Saved search not found' }]);
    expect((await call('PUT', `/${created.id}`, input)).status).toBe(404);
    expect((await call('DELETE', `/${created.id}`)).status).toBe(404);
    const { json } = await server.call({
      path: `/v1/organizations/${acme.id}/activities?limit=3`,
      key: acme.admin,
    });
    expect(json.result.map(({ activityType }: Json) => activityType)).toEqual([
      'saved_search_delete',
      'saved_search_update',
      'saved_search_create',
    ]);
  });

  it('lists by id, in pages, with the total', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await create({ name, sourceId: 'logs' })).id);
    const all = await call('GET', '', undefined, acme.token);
    expect(all.json.meta).toEqual({ total: 3, limit: 1000, offset: 0 });
    expect(all.headers.get('x-total-count')).toBe('3');
    expect(all.json.data.map(({ id }: Json) => id)).toEqual([...ids].sort());
    const page = await call('GET', '?limit=1&offset=1');
    expect(page.json.meta).toEqual({ total: 3, limit: 1, offset: 1 });
    expect(page.json.data).toEqual([all.json.data[1]]);
    for (const query of ['?limit=0', '?limit=1001', '?offset=-1', '?limit=x'])
      expect((await call('GET', query)).status, query).toBe(400);
    for (const id of ids) await call('DELETE', `/${id}`);
  });

  it('accepts filters that choose values or a range, and others only unchanged', async () => {
    const filter = (condition: string) => ({ ...input, filters: [{ type: 'sql', condition }] });
    for (const condition of ["a NOT IN ('x')", 'Duration BETWEEN 1 AND 2.5', "LogAttributes['a b'] IN ('it''s', 3)"])
      expect((await create(filter(condition))).filters).toEqual([{ type: 'sql', condition }]);
    for (const condition of ['a = 1', 'a IN (SELECT 1)', "a IN ('x') OR 1", 'IN (1)', ''])
      expect((await call('POST', '', filter(condition))).json.errors?.[0]?.path, condition).toBe('filters.0');
    const without = await create({ ...input, filters: [{ condition: 'a IN (1)' }] });
    expect(without.filters).toEqual([{ type: 'sql', condition: 'a IN (1)' }]);
    const lucene = { ...input, filters: [{ type: 'lucene', condition: 'x' }] };
    expect((await call('PUT', `/${without.id}`, lucene)).status).toBe(400);
    expect((await call('PUT', `/${without.id}`, without)).json.data.filters).toEqual(without.filters);
  });

  it('rejects mistakes', async () => {
    const reject = async (body: object) => {
      const { status, json } = await call('POST', '', { ...input, ...body });
      expect(status).toBe(400);
      return json.message;
    };
    expect(await reject({ sourceId: 'nothing' })).toBe('sourceId must be an existing source id');
    expect(await reject({ name: '' })).toContain('name');
    expect(await reject({ name: '  ' })).toContain('name');
    expect(await reject({ name: 'x'.repeat(1025) })).toContain('name');
    expect(await reject({ select: 'x'.repeat(4097) })).toContain('select');
    expect(await reject({ where: 'x'.repeat(8193) })).toContain('where');
    expect(await reject({ whereLanguage: 'x' })).toContain('whereLanguage');
    expect(await reject({ orderBy: 'x'.repeat(1025) })).toContain('orderBy');
    expect(await reject({ tags: Array(51).fill('x') })).toContain('tags');
    expect(await reject({ tags: ['x'.repeat(33)] })).toContain('tags');
    expect(await reject({ filters: Array(101).fill(input.filters[0]) })).toContain('filters');
  });

  it('separates organizations, and needs write access for changes', async () => {
    const { id } = await create(input);
    expect((await call('GET', `/${id}`, undefined, globex.token)).status).toBe(404);
    expect((await call('PUT', `/${id}`, input, globex.writer)).status).toBe(404);
    expect((await call('DELETE', `/${id}`, undefined, globex.writer)).status).toBe(404);
    expect((await call('GET', '', undefined, globex.token)).json.data).toEqual([]);
    expect((await call('POST', '', input, acme.token)).status).toBe(403);
    expect((await call('PUT', `/${id}`, input, acme.token)).status).toBe(403);
    expect((await call('DELETE', `/${id}`, undefined, acme.token)).status).toBe(403);
    const { token } = await createIngestToken(server, acme);
    expect((await call('GET', '', undefined, token)).status).toBe(403);
    expect(
      (await server.call({ method: 'POST', path: '/api/v2/search', token, body: { sourceId: 'logs' } })).status,
    ).toBe(403);
  });

  it('keeps a source that is in use', async () => {
    const source = await server.call({
      method: 'POST',
      path: '/api/v2/sources',
      token: acme.writer,
      body: { name: 'mine', kind: 'log' },
    });
    const sourceId = source.json.data.id;
    const search = await create({ name: 'of mine', sourceId });
    const remove = () => server.call({ method: 'DELETE', path: `/api/v2/sources/${sourceId}`, token: acme.writer });
    const refused = await remove();
    expect([refused.status, refused.json.message]).toEqual([
      409,
      `The saved search of mine (${search.id}) uses this source; change it first`,
    ]);
    await call('DELETE', `/${search.id}`);
    expect((await remove()).status).toBe(200);
  });

  it('serves clients of ClickStack with Basic credentials', async () => {
    const managed = (method: string, suffix = '', body?: unknown, more: Partial<Call> = {}) =>
      server.call({
        method,
        path: MANAGED + suffix,
        key: acme.admin,
        ...(body === undefined ? {} : { body }),
        ...more,
      });
    const created = await managed('POST', '', input);
    expect(created.json, created.text).toMatchObject({ status: 200, result: input });
    const { id } = created.json.result;
    expect((await managed('GET', `/${id}`, undefined, { key: acme.developer })).json.result).toEqual(
      created.json.result,
    );
    const list = await managed('GET', '?limit=1000');
    expect(list.json.result).toContainEqual(created.json.result);
    expect(list.json.meta.total).toBe(list.json.result.length);
    expect((await managed('PUT', `/${id}`, { ...input, name: 'x' })).json.result.name).toBe('x');
    expect((await managed('PUT', `/${id}`, input, { key: acme.developer })).status).toBe(403);
    expect((await managed('DELETE', `/${id}`)).json).toEqual({ requestId: expect.any(String), status: 200 });
    expect((await managed('GET', `/${id}`)).json.error).toBe('NOT_FOUND: Saved search not found');
  });
});
