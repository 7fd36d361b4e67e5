import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey, getKeyId } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

const path = `/v1/organizations/${acme.id}/activities`;
const scaling = `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`;
/** More than one page, so that filters must find older activities. */
const CHANGES = 1050;

onEachStore('activity filters', (store) => {
  const server = useServer(store);
  let oldest: Json;
  const list = async (query: string): Promise<Json[]> => {
    const { status, json, text } = await server.call({ path: `${path}?${query}`, key: acme.developer });
    expect(status, text).toBe(200);
    return json.result;
  };
  const types = (activities: Json[]) => [...new Set(activities.map(({ type }) => type))];

  beforeAll(async () => {
    oldest = await createKey(server, { name: 'Nädel of old' });
    for (let first = 0; first < CHANGES; first += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          server.call({
            method: 'PATCH',
            path: scaling,
            key: acme.admin,
            body: { idleTimeoutMinutes: 5 + first + index },
          }),
        ),
      );
    await createKey(server, { name: 'new' });
  }, 120_000);

  it('reject text that no store can hold', async () => {
    for (const name of ['actor', 'resource_id', 'resource_type', 'text'])
      expect((await server.call({ path: `${path}?${name}=a%00b`, key: acme.developer })).status).toBe(400);
  });

  it('find by type in the whole audit log', async () => {
    const created = await list('type=key_create&limit=1000');
    expect(types(created)).toEqual(['key_create']);
    expect(created[0].after.name).toBe('new');
    expect(created.map(({ resourceId }) => resourceId)).toContain(oldest.id);
    expect(await list('type=key_delete')).toEqual([]);
  });

  it('find by resource', async () => {
    expect(await list(`resource_id=${oldest.id}`)).toMatchObject([{ type: 'key_create', resourceType: 'key' }]);
    const serviceActivities = await list('resource_type=service&limit=1000');
    expect(serviceActivities).toHaveLength(1000);
    const rest = await list(`resource_type=service&limit=1000&before=${serviceActivities.at(-1).id}`);
    expect(types(rest)).toContain('service_create');
    expect(rest.length).toBeGreaterThan(CHANGES - 1000);
    expect(new Set([...serviceActivities, ...rest].map(({ id }) => id)).size).toBe(
      serviceActivities.length + rest.length,
    );
    expect(await list('resource_type=key&resource_id=nothing')).toEqual([]);
  });

  it('find by actor id and name', async () => {
    const id = await getKeyId(server, 'admin');
    const [byId, byName] = [await list(`actor=${id}&limit=1000`), await list('actor=admin&limit=1000')];
    expect(byId).toEqual(byName);
    expect(byId.every(({ actorId }) => actorId === id)).toBe(true);
    const bySystem = await list('actor=nobody');
    expect(bySystem).toEqual([]);
  });

  it('find by text, ignoring case, with alternatives and without wildcards', async () => {
    const found = async (text: string) =>
      (await list(`text=${encodeURIComponent(text)}&limit=1000`)).map(({ resourceId }) => resourceId);
    expect(await found('NÄDEL OF')).toEqual([oldest.id]);
    expect(await found(`nowhere| ${oldest.id} `)).toEqual([oldest.id]);
    expect(await found('%')).toEqual([]);
    expect(await found("' OR 1=1 --")).toEqual([]);
    expect((await found('|')).length).toBe(1000);
  });

  it('M1: page with the link header', async () => {
    const query = `type=key_create&actor=${encodeURIComponent('admin')}&limit=1`;
    const first = await server.call({ path: `${path}?${query}`, key: acme.developer });
    const link = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(link).toContain(`before=${first.json.result[0].id}`);
    const second = await server.call({ path: link, key: acme.developer });
    expect(second.json.result.map(({ resourceId }: Json) => resourceId)).toEqual([oldest.id]);
    const all = await server.call({ path: `${path}?type=key_create&limit=1000`, key: acme.developer });
    expect(all.headers.get('link')).toBeNull();
  });

  it('can be combined, including with a time range', async () => {
    const { createdAt } = (await list(`resource_id=${oldest.id}`))[0];
    const at = encodeURIComponent(createdAt);
    expect(await list(`type=key_create&text=old&from_date=${at}&actor=admin&resource_type=key`)).toHaveLength(1);
    expect(await list(`text=old&to_date=${at}`)).toEqual([]);
  });

  it('are limited to the organization', async () => {
    const { json } = await server.call({
      path: `/v1/organizations/${globex.id}/activities?text=${encodeURIComponent('of old')}`,
      key: globex.admin,
    });
    expect(json.result).toEqual([]);
  });

  describe('are rejected', () => {
    it.each([
      ['type=no_such_type', /^BAD_REQUEST: query\.type: /],
      ['actor=', /^BAD_REQUEST: query\.actor: The value must not be empty/],
      [`text=${'x'.repeat(1001)}`, /^BAD_REQUEST: query\.text: The value must have at most 1000 characters/],
      ['resource_id=a&resource_id=b', /^BAD_REQUEST: query\.resource_id: The value must be a string/],
    ])('%s', async (query, error) => {
      const { status, json } = await server.call({ path: `${path}?${query}`, key: acme.developer });
      expect([status, json.error]).toEqual([400, expect.stringMatching(error)]);
    });
  });

  it('keep a question mark of the filter in the link header', async () => {
    await createKey(server, { name: 'why?one' });
    await createKey(server, { name: 'why?two' });
    const { headers } = await server.call({ path: `${path}?limit=1&text=why?`, key: acme.developer });
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
    expect(new URL(next, server.url).searchParams.get('text')).toBe('why?');
    const second = await server.call({ path: next, key: acme.developer });
    expect(second.json.result).toMatchObject([{ after: { name: 'why?one' } }]);
  });
});
