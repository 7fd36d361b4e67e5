import { expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const SERVICE = `/v1/organizations/${acme.id}/services/${acme.primary}`;
const PATH = `${SERVICE}/saved-queries`;

onEachStore('saved queries', (store) => {
  const server = useServer(store);
  const send = (method: string, path: string, body?: object, key = acme.developer) =>
    server.call({ method, path, key, ...(body && { body }) });
  const query = (name: string) => ({
    name,
    sql: "SELECT 'secret', {a:UInt8}",
    database: 'shop',
    parameters: { a: '1' },
  });

  it('are kept, listed in pages, replaced and deleted by readers of the service', async () => {
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const { status, json } = await send('POST', PATH, query(name));
      expect([status, json.result]).toEqual([200, { id: expect.any(String), ...query(name) }]);
      ids.push(json.result.id);
    }
    const first = (await send('GET', `${PATH}?limit=2`)).json;
    expect(first).toMatchObject({ limit: 2, totalCount: 3, nextCursor: expect.any(String) });
    expect(first.result).toHaveLength(2);
    const second = (await send('GET', `${PATH}?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).json;
    expect(second).toMatchObject({ totalCount: 3, nextCursor: null });
    expect([...first.result, ...second.result].map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(first.result[0]).toEqual({ id: expect.any(String), name: expect.any(String), database: 'shop' });

    const changed = { name: 'changed', sql: 'SELECT 2', database: '' };
    expect((await send('PUT', `${PATH}/${ids[0]}`, changed)).json.result).toEqual({
      id: ids[0],
      ...changed,
      parameters: {},
    });
    expect((await send('GET', `${PATH}/${ids[0]}`)).json.result).toEqual({ id: ids[0], ...changed, parameters: {} });
    expect((await send('DELETE', `${PATH}/${ids[0]}`)).status).toBe(200);
    expect((await send('GET', `${PATH}/${ids[0]}`)).status).toBe(404);
    const activities = await send('GET', `/v1/organizations/${acme.id}/activities?resource_id=${ids[0]}`);
    expect(activities.json.result.map(({ activityType }: { activityType: string }) => activityType)).toEqual([
      'saved_query_delete',
      'saved_query_update',
      'saved_query_create',
    ]);
    expect(activities.text).not.toContain('secret');
  });

  it('belong to one service of one organization', async () => {
    const { id } = (await send('POST', PATH, query('own'))).json.result;
    const other = `/v1/organizations/${acme.id}/services/${acme.secondary}/saved-queries`;
    expect((await send('GET', `${other}/${id}`)).status).toBe(404);
    expect((await send('GET', `${PATH}/${id}`, undefined, globex.admin)).status).toBe(404);
    expect((await send('GET', PATH, undefined, acme.query)).status).toBe(403);
    expect((await send('POST', PATH, { ...query('x'), parameters: { 'a b': '1' } })).status).toBe(400);
    expect((await send('GET', `${PATH}?limit=101`)).status).toBe(400);
  });
});
