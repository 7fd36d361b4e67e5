import { describe, expect, it } from 'vitest';
import { acme, globex, initech } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';

const UNKNOWN = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

onEachStore('reading organizations', (store) => {
  const server = useServer(store);

  it.each([
    ['Acme', 'SCALE', acme],
    ['Globex', 'SCALE', globex],
    ['Initech', 'BASIC', initech],
  ])('M4: a key of %s lists only its organization', async (name, tier, { id, admin }) => {
    const { status, json } = await server.call({ path: '/v1/organizations', key: admin });
    expect(status).toBe(200);
    expect(json.result).toMatchObject([{ id, name, tier }]);
    expect(json.result[0].createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await server.call({ path: `/v1/organizations/${id}`, key: admin })).json.result).toEqual(json.result[0]);
  });

  it('M1: a response has requestId, result and status; the id is unique and also in the header', async () => {
    const responses = await Promise.all(
      [1, 2, 3].map(() => server.call({ path: '/v1/organizations', key: acme.admin })),
    );
    for (const { json, headers } of responses) {
      expect(Object.keys(json).sort()).toEqual(['requestId', 'result', 'status']);
      expect(json.requestId).toBe(headers.get('x-request-id'));
      expect(json.requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(new Set(responses.map(({ json }) => json.requestId)).size).toBe(3);
  });

  it('M4: another organization looks like a missing one', async () => {
    const [other, unknown] = await Promise.all(
      [globex.id, UNKNOWN].map((id) => server.call({ path: `/v1/organizations/${id}`, key: acme.admin })),
    );
    expect([other?.status, other?.json.error]).toEqual([404, `NOT_FOUND: organization ${globex.id} does not exist`]);
    expect([unknown?.status, unknown?.json.error]).toEqual([404, `NOT_FOUND: organization ${UNKNOWN} does not exist`]);
  });

  it('M4: ignores case and rejects a malformed id', async () => {
    expect(
      (await server.call({ path: `/v1/organizations/${acme.id.toUpperCase()}`, key: acme.admin })).json.result.id,
    ).toBe(acme.id);
    const { status, json } = await server.call({ path: '/v1/organizations/acme', key: acme.admin });
    expect([status, json.error]).toEqual([
      400,
      'BAD_REQUEST: path.organizationId: The value must be a valid uuid <string:acme>',
    ]);
  });

  it.each(['/v1/organizations', `/v1/organizations/${acme.id}`])(
    'R1: %s admits developer and rejects query_endpoints',
    async (path) => {
      expect((await server.call({ path, key: acme.developer })).status).toBe(200);
      expect((await server.call({ path, key: acme.query })).status).toBe(403);
    },
  );

  it.each(['/v1/organizations', `/v1/organizations/${acme.id}`])(
    'B4: %s rejects an unknown query parameter by name',
    async (path) => {
      const { status, json } = await server.call({ path: `${path}?page=1`, key: acme.admin });
      expect([status, json.error]).toEqual([400, 'BAD_REQUEST: query.page: Unknown parameter <string:1>']);
    },
  );

  it('has the fields of the public interface that have one value here', async () => {
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}`, key: acme.admin });
    expect(json.result).toEqual({
      id: acme.id,
      name: 'Acme',
      tier: 'SCALE',
      createdAt: expect.any(String),
      privateEndpoints: [],
      byocConfig: [],
      enableCoreDumps: false,
      keepSqlLiterals: false,
      capabilities: { snapshots: false },
    });
  });

  describe('renaming', () => {
    const path = `/v1/organizations/${globex.id}`;
    const patch = (body: object, key = globex.admin) => server.call({ method: 'PATCH', path, key, body });

    it('an organization that a fleet file declares keeps the name of the file: 409', async () => {
      const { status, json } = await patch({ name: 'Other' });
      expect([status, json.error]).toEqual([
        409,
        'CONFLICT: The organization is declared in a fleet file; change its name in the file and apply it',
      ]);
      for (const body of [{}, { name: 'Globex' }, { enableCoreDumps: false, privateEndpoints: { remove: [] } }])
        expect((await patch(body)).json.result).toMatchObject({ id: globex.id, name: 'Globex' });
    });

    it.each([
      [{ name: '' }, 'name: The value must not be empty <string:>'],
      [{ enableCoreDumps: true }, 'enableCoreDumps: Services write no core dumps <boolean:true>'],
      [
        { privateEndpoints: { add: [{ id: 'vpce' }] }, name: 1 },
        'name: The value must be a string <number:1>; request body.privateEndpoints: Private endpoints are not supported <object>',
      ],
    ])('B4: %j is a 400 that says why', async (body, error) => {
      const { status, json } = await patch(body);
      expect([status, json.error]).toEqual([400, `BAD_REQUEST: request body.${error}`]);
    });

    it('another one is renamed, with an activity', async () => {
      await runSql(
        server,
        `DELETE FROM fleet_documents WHERE organization_id = '${globex.id}' AND kind = 'organization'`,
      );
      const { status, json } = await patch({ name: 'Globex Corporation' });
      expect([status, json.result]).toEqual([
        200,
        expect.objectContaining({ id: globex.id, name: 'Globex Corporation' }),
      ]);
      expect((await server.call({ path, key: globex.admin })).json.result).toEqual(json.result);
      const activities = (await server.call({ path: `${path}/activities?limit=1`, key: globex.admin })).json.result;
      expect(activities).toMatchObject([
        {
          type: 'organization_update_name',
          resourceId: globex.id,
          before: { name: 'Globex' },
          after: { name: 'Globex Corporation' },
        },
      ]);
      expect((await patch({ name: 'x' }, acme.admin)).status).toBe(404);
    });
  });
});
