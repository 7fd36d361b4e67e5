import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const CLICKSTACK = `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack`;
const APIS = [
  { api: '/api/v2', prefix: '/api/v2', credentials: { token: acme.writer } },
  { api: '/v1', prefix: CLICKSTACK, credentials: { key: acme.admin } },
];
const RESOURCES = [
  { resource: 'saved-searches', hasGet: true, content: { sourceId: 'logs' } },
  { resource: 'webhooks', hasGet: false, content: { service: 'generic', url: 'https://hooks.example.com/x' } },
];

onEachStore('If-Match', (store) => {
  const server = useServer(store);
  let count = 0;

  it.each(APIS.flatMap((api) => RESOURCES.map((resource) => ({ ...api, ...resource }))))(
    '$api/$resource are changed and deleted only if they are as they were read',
    async (given) => {
      const { prefix, credentials, resource, hasGet, content } = given;
      const send = (method: string, path: string, body?: object, ifMatch?: string) =>
        server.call({
          method,
          path: `${prefix}/${resource}${path}`,
          ...credentials,
          ...(body && { body }),
          ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
        });
      const name = `if-match ${count++}`;
      const created = await send('POST', '', { ...content, name });
      expect(created.status, created.text).toBe(200);
      const { id } = created.json.data ?? created.json.result;
      const first = created.headers.get('etag') ?? '';
      expect(first).toMatch(/^W\/".+"$/);
      if (hasGet && prefix === '/api/v2') expect((await send('GET', `/${id}`)).headers.get('etag')).toBe(first);

      const unchanged = await send('PUT', `/${id}`, { ...content, name }, first);
      expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([200, first]);
      const changed = await send('PUT', `/${id}`, { ...content, name: `${name} changed` }, first);
      expect(changed.status, changed.text).toBe(200);
      const second = changed.headers.get('etag') ?? '';
      expect(second).not.toBe(first);
      const stale = await send('PUT', `/${id}`, { ...content, name: `${name} stale` }, first);
      expect([stale.status, stale.json.message ?? stale.json.error]).toEqual([
        412,
        expect.stringContaining('If-Match'),
      ]);
      expect((await send('DELETE', `/${id}`, undefined, first)).status).toBe(412);
      const { json } = await send('GET', '?limit=1000');
      const list: { id: string; name: string }[] = json.data ?? json.result;
      expect(list.find((one) => one.id === id)).toMatchObject({ name: `${name} changed` });
      expect((await send('DELETE', `/${id}`, undefined, `"x", ${second}`)).status).toBe(200);
    },
  );

  it('a webhook has another etag after its secret was replaced', async () => {
    const [{ prefix, credentials }] = APIS as [(typeof APIS)[0]];
    const content = { service: 'generic', url: 'https://hooks.example.com/x', name: 'rotated' };
    const path = `${prefix}/webhooks`;
    const created = await server.call({ method: 'POST', path, body: content, ...credentials });
    const { id } = created.json.data;
    const rotated = await server.call({ method: 'POST', path: `${path}/${id}/rotate-secret`, ...credentials });
    expect(rotated.status, rotated.text).toBe(200);
    expect(rotated.headers.get('etag')).not.toBe(created.headers.get('etag'));
    const headers = { 'if-match': created.headers.get('etag') ?? '' };
    expect((await server.call({ method: 'DELETE', path: `${path}/${id}`, ...credentials, headers })).status).toBe(412);
  });

  it('a repeated POST with the same Idempotency-Key has the etag of the first', async () => {
    const call = {
      method: 'POST',
      path: '/api/v2/saved-searches',
      token: acme.writer,
      body: { sourceId: 'logs', name: 'once' },
      headers: { 'idempotency-key': 'saved-once' },
    };
    const [first, again] = [await server.call(call), await server.call(call)];
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(first.headers.get('etag')).toMatch(/^W\//);
  });
});
