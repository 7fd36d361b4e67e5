import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Call, Json } from '../support/client.ts';
import { HEX_ID } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const base = (serviceId: string, organizationId = acme.id) =>
  `/v1/organizations/${organizationId}/services/${serviceId}/clickstack`;
const PATH = base(acme.primary);
const at = { x: 0, y: 0, w: 12, h: 4 };
const config = {
  displayType: 'line',
  sourceId: 'logs',
  select: [{ aggFn: 'count', where: '', whereLanguage: 'lucene' }],
  fillNulls: true,
};

onEachStore('ClickStack under /v1', (store) => {
  const server = useServer(store);
  const call = (method: string, path: string, body?: unknown, more: Partial<Call> = {}) =>
    server.call({ method, path, key: acme.admin, ...(body === undefined ? {} : { body }), ...more });

  it('creates, reads, replaces and deletes a dashboard with Basic credentials', async () => {
    const created = await call('POST', `${PATH}/dashboards`, { name: 'c', tiles: [{ ...at, name: 'T', config }] });
    expect([created.status, created.json.status], created.text).toEqual([200, 200]);
    const dashboard = created.json.result;
    expect(dashboard).toMatchObject({ id: expect.stringMatching(HEX_ID), name: 'c', filters: [], savedQuery: null });
    expect(dashboard.tiles).toEqual([{ id: expect.stringMatching(HEX_ID), name: 'T', ...at, config }]);
    const path = `${PATH}/dashboards/${dashboard.id}`;
    const read = await call('GET', path, undefined, { key: acme.developer });
    expect(read.json.result).toEqual(dashboard);
    expect(read.headers.get('etag')).toBe(created.headers.get('etag'));
    expect((await call('GET', `${PATH}/dashboards`)).json.result).toContainEqual(dashboard);
    const same = await call('PUT', path, dashboard, { headers: { 'if-match': read.headers.get('etag') ?? '' } });
    expect(same.json.result).toEqual(dashboard);
    const replaced = await call('PUT', path, { ...dashboard, name: 'renamed' });
    expect(replaced.json.result).toEqual({ ...dashboard, name: 'renamed' });
    expect((await call('PUT', path, dashboard, { headers: { 'if-match': '"x"' } })).status).toBe(412);
    const series = await server.call({ path: `/api/v2/dashboards/${dashboard.id}`, token: acme.token });
    expect(series.json.data.tiles[0].series[0]).toMatchObject({ type: 'time', aggFn: 'count' });
    const { json } = await call('GET', `/v1/organizations/${acme.id}/activities?limit=1`);
    expect(json.result[0]).toMatchObject({ activityType: 'dashboard_update', resourceId: dashboard.id });
    const deleted = await call('DELETE', path);
    expect(deleted.json).toEqual({ requestId: expect.any(String), status: 200 });
    expect((await call('GET', path)).json.error).toBe('NOT_FOUND: Dashboard not found');
  });

  it('validates a dashboard without storing it', async () => {
    const valid = await call('POST', `${PATH}/dashboards/validate`, { name: 'v', tiles: [{ ...at, config }] });
    expect(valid.json.result).toMatchObject({ valid: true, errors: [], normalized: { tiles: [{ ...at, config }] } });
    const sql = { configType: 'sql', connectionId: 'x', sqlTemplate: 'SELECT 1', displayType: 'line' };
    const body = { name: 'v', tiles: [{ ...at, config: sql }] };
    const { json } = await call('POST', `${PATH}/dashboards/validate`, body);
    expect(json.result).toMatchObject({
      valid: false,
      errors: [{ path: 'tiles.0.config.configType', message: expect.stringContaining('raw SQL') }],
      normalized: null,
    });
    const rejected = await call('POST', `${PATH}/dashboards`, body);
    expect([rejected.status, rejected.json.error]).toEqual([
      400,
      expect.stringMatching(/^BAD_REQUEST: .*tiles\[0\]\.config\.configType.*raw SQL/),
    ]);
    expect((await call('GET', `${PATH}/dashboards`)).text).not.toContain('"name":"v"');
  });

  it('accepts dashboards as large as /api/v2 does', async () => {
    const tiles = Array.from({ length: 500 }, (_, y) => ({
      ...at,
      y,
      series: [{ type: 'markdown', content: 'x'.repeat(3000) }],
    }));
    const { status, json } = await call('POST', `${PATH}/dashboards`, { name: 'large', tiles });
    expect([status, json.result.tiles.length]).toEqual([200, 500]);
    await call('DELETE', `${PATH}/dashboards/${json.result.id}`);
  });

  it('creates, reads, replaces and deletes a source', async () => {
    const body = { name: 'Shop', kind: 'log', connection: 'engine', eventAttributesExpression: 'LogAttributes' };
    const created = await call('POST', `${PATH}/sources`, body);
    expect(created.json.result).toMatchObject(body);
    const path = `${PATH}/sources/${created.json.result.id}`;
    expect((await call('GET', path, undefined, { key: acme.developer })).json.result).toEqual(created.json.result);
    expect((await call('PUT', path, { ...created.json.result, name: 'b' })).json.result.name).toBe('b');
    expect((await call('GET', `${PATH}/sources`)).json.result.map(({ id }: Json) => id)).toContain(
      created.json.result.id,
    );
    expect((await call('DELETE', path)).status).toBe(200);
    expect((await call('GET', path)).json.error).toBe('NOT_FOUND: Source not found');
    expect((await call('PUT', `${PATH}/sources/logs`, body)).status).toBe(409);
  });

  it('R1, B8: needs the role, the organization and an existing service', async () => {
    for (const path of ['dashboards', 'sources']) {
      const body = { name: 'x', kind: 'log' };
      expect((await call('POST', `${PATH}/${path}`, body, { key: acme.developer })).status).toBe(403);
      expect((await call('GET', `${PATH}/${path}`, undefined, { key: globex.admin })).status).toBe(404);
      for (const service of [randomUUID(), globex.primary]) {
        const missing = await call('POST', `${base(service)}/${path}`, body);
        expect([missing.status, missing.json.error]).toEqual([404, expect.stringContaining(`service ${service}`)]);
      }
    }
    const foreign = `${base(globex.primary, globex.id)}/dashboards`;
    expect((await call('GET', `${foreign}/${acme.dashboard}`, undefined, { key: globex.admin })).status).toBe(404);
  });

  it.each(['search', 'charts/series', 'roles', 'team'])(
    'B2: %s is not served: a 501, which no client reads as deleted',
    async (name) => {
      const { status, json } = await call('GET', `${PATH}/${name}`);
      expect([status, json.error]).toEqual([501, expect.stringMatching(/^NOT_IMPLEMENTED: /)]);
    },
  );
});

onEachStore('connections', (store) => {
  const server = useServer(store);
  const call = (method: string, suffix = '', body?: unknown) =>
    server.call({ method, path: `/api/v2/connections${suffix}`, token: acme.writer, ...(body ? { body } : {}) });

  it('are one: the engine, which the built-in sources name', async () => {
    const { json } = await call('GET');
    expect(json.data).toEqual([{ id: 'engine', name: expect.any(String) }]);
    expect((await call('GET', '/engine')).json.data).toEqual(json.data[0]);
    expect((await call('GET', '/other')).json).toEqual({ message: 'Connection not found' });
    const logs = await server.call({ path: '/api/v2/sources/logs', token: acme.token });
    expect(logs.json.data.connection).toBe('engine');
  });

  it('cannot be created, changed or deleted', async () => {
    const rejected = [409, { message: expect.stringMatching(/^Connections cannot be created, changed or deleted: /) }];
    for (const { status, json } of [
      await call('POST', '', { name: 'x', host: 'http://x' }),
      await call('PUT', '/engine', { name: 'x' }),
      await call('DELETE', '/engine'),
    ])
      expect([status, json]).toEqual(rejected);
    expect((await call('DELETE', '/other')).status).toBe(404);
  });
});
