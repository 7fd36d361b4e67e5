import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { keyNamed, madeKey } from '../support/keys.ts';
import { formatPath, listOperations, type Operation } from '../support/operations.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';

/** A body that would do something, if the call got through. */
const BODIES: Record<string, object> = {
  instanceScalingUpdate: { numReplicas: 7 },
  instanceReplicaScalingUpdate: { numReplicas: 7 },
  openapiKeyCreate: { name: 'intruder', roles: ['admin'] },
  openapiKeyUpdate: { name: 'intruder', state: 'disabled' },
  dashboardTokenCreate: { name: 'intruder', access: 'write' },
  createDashboard: { name: 'intruder' },
  queryChartSeries: {
    series: [{ sourceId: 'logs', aggFn: 'count' }],
    startTime: 1_700_000_000_000,
    endTime: 1_700_000_060_000,
  },
  drawTile: { series: [{ type: 'number', aggFn: 'count', sourceId: 'logs' }] },
  updateDashboard: { name: 'intruder' },
  createSource: { name: 'intruder', kind: 'log' },
  updateSource: { name: 'intruder', kind: 'log' },
  instanceScalingPreview: { numReplicas: 7 },
  instanceReplicaScalingPreview: { numReplicas: 7 },
  budgetCreate: { name: 'intruder', monthlyCHC: 1 },
  budgetUpdate: { name: 'intruder', monthlyCHC: 1 },
};

type Owner = typeof acme | typeof globex;

const call = (
  server: TestServer,
  operation: Operation,
  values: Record<string, string>,
  owner: Owner = acme,
): Promise<ApiResponse> => {
  const { id, method, path } = operation;
  const credentials = path.startsWith('/v1') ? { key: owner.admin } : { token: owner.writer };
  return server.call({
    method,
    path: formatPath(operation, values),
    ...credentials,
    ...(BODIES[id] ? { body: BODIES[id] } : {}),
  });
};

/** The answer without what must differ: the request's id, and the ids that were asked for. */
const anonymous = ({ status, text, json }: ApiResponse, values: Record<string, string>) => {
  const ids = [json.requestId, ...Object.values(values)].filter((id) => id !== undefined);
  return [status, ids.reduce((rest, id) => rest.replaceAll(id, '…'), text)];
};

/** One id of everything that belongs to Globex, by the name that paths give it. */
async function idsOfGlobex(server: TestServer): Promise<Record<string, string>> {
  const activities = await server.call({ path: `/v1/organizations/${globex.id}/activities`, key: globex.admin });
  const tokens = await server.call({ path: `/v1/organizations/${globex.id}/dashboardTokens`, key: globex.admin });
  return {
    organizationId: globex.id,
    serviceId: globex.primary,
    keyId: await keyNamed(server, 'admin', globex),
    activityId: activities.json.result[0].id,
    tokenId: tokens.json.result[0].id,
    budgetId: await budgetOfGlobex(server),
    id: globex.dashboard,
    tileId: 'one',
    version: '1',
  };
}

/** The one budget that Globex has; made where there is none yet. */
async function budgetOfGlobex(server: TestServer): Promise<string> {
  const path = `/v1/organizations/${globex.id}/budgets`;
  const [known] = (await server.call({ path, key: globex.admin })).json.result;
  if (known) return known.id;
  const body = { name: 'of Globex', monthlyCHC: 1_000_000 };
  return (await server.call({ method: 'POST', path, key: globex.admin, body })).json.result.id;
}

/** Whatever Globex can see of itself. */
async function globexSees(server: TestServer): Promise<unknown[]> {
  const paths = [
    '',
    '/services',
    '/keys',
    '/activities',
    '/dashboardTokens',
    '/budgets',
    '/usageCost?from_date=2026-10-01&to_date=2026-10-31',
  ];
  const answers = await Promise.all(
    paths.map((path) => server.call({ path: `/v1/organizations/${globex.id}${path}`, key: globex.admin })),
  );
  const results = answers.map(({ json }) =>
    JSON.parse(JSON.stringify(json.result, (name, value) => (name === 'usedAt' ? undefined : value))),
  );
  const below = ['/dashboards', '/sources', `/dashboards/${globex.dashboard}/versions`];
  const shown = await Promise.all(
    below.map(async (path) => (await server.call({ path: `/api/v2${path}`, token: globex.token })).json),
  );
  return [...results, ...shown];
}

onEachStore('tenancy', (store) => {
  const server = useServer(store);
  const allOperations = async () => [
    ...(await listOperations(server, '/v1')),
    ...(await listOperations(server, '/api/v2')),
  ];

  it('R1, R2: Globex itself finds all that the following tests look for', async () => {
    const ids = await idsOfGlobex(server);
    for (const operation of await allOperations()) {
      if (operation.method !== 'GET') continue;
      expect((await call(server, operation, ids, globex)).status, operation.path).toBe(200);
    }
  });

  it('M4: in the organization of somebody else, every operation answers like in one that does not exist', async () => {
    const before = await globexSees(server);
    const ids = await idsOfGlobex(server);
    const operations = (await allOperations()).filter(({ parameters }) => parameters.includes('organizationId'));
    expect(operations.length).toBeGreaterThan(10);
    for (const operation of operations) {
      const unknown = { ...ids, organizationId: randomUUID() };
      const theirs = await call(server, operation, ids);
      expect(theirs.status, operation.path).toBe(404);
      expect(theirs.json.error).toBe(`NOT_FOUND: organization ${globex.id} does not exist`);
      expect(anonymous(theirs, ids)).toEqual(anonymous(await call(server, operation, unknown), unknown));
    }
    expect(await globexSees(server)).toEqual(before);
  });

  it('M4, D1: with the id of somebody else in the own organization, every operation answers like for one that does not exist', async () => {
    const before = await globexSees(server);
    const own = { ...(await idsOfGlobex(server)), organizationId: acme.id };
    const operations = (await allOperations()).filter(({ parameters }) =>
      parameters.some((name) => name !== 'organizationId'),
    );
    expect(operations.length).toBeGreaterThan(6);
    for (const operation of operations) {
      const unknown = {
        organizationId: acme.id,
        serviceId: randomUUID(),
        keyId: randomUUID(),
        activityId: randomUUID(),
        tokenId: randomUUID(),
        budgetId: randomUUID(),
        id: 'f'.repeat(24),
        tileId: 'one',
        version: '1',
      };
      const theirs = await call(server, operation, own);
      expect(theirs.status, operation.path).toBe(404);
      expect(anonymous(theirs, own)).toEqual(anonymous(await call(server, operation, unknown), unknown));
    }
    expect(await globexSees(server)).toEqual(before);
  });

  it('R1, R2: no list shows anything of somebody else', async () => {
    await madeKey(server, { name: 'of Globex alone' }, globex);
    const { id: _, version: __, tileId: ___, ...ids } = await idsOfGlobex(server);
    const lists = (await allOperations()).filter(
      ({ method, parameters }) => method === 'GET' && parameters.every((name) => name === 'organizationId'),
    );
    expect(lists.length).toBeGreaterThan(5);
    for (const operation of lists) {
      const { status, text } = await call(server, operation, { organizationId: acme.id });
      expect(status, operation.path).toBe(200);
      for (const theirs of [...Object.values(ids), globex.dashboard, 'Globex', '99.5'])
        expect(text, operation.path).not.toContain(theirs);
    }
  });

  it('M4: the id in the path may be written in capitals and still means the own organization only', async () => {
    expect((await server.call({ path: `/v1/organizations/${acme.id.toUpperCase()}`, key: acme.admin })).status).toBe(
      200,
    );
    const { status, json } = await server.call({
      path: `/v1/organizations/${globex.id.toUpperCase()}`,
      key: acme.admin,
    });
    expect([status, json.error]).toEqual([404, `NOT_FOUND: organization ${globex.id} does not exist`]);
  });

  it('R1: a page of activities cannot be continued into those of somebody else', async () => {
    const { activityId } = await idsOfGlobex(server);
    const { status, json } = await server.call({
      path: `/v1/organizations/${acme.id}/activities?before=${activityId}`,
      key: acme.admin,
    });
    expect(status).toBe(200);
    for (const { organizationId } of json.result) expect(organizationId).toBe(acme.id);
  });

  it('R2: a token opens no management operation, and a key no dashboard', async () => {
    const { keyId, keySecret } = acme.admin;
    expect((await server.call({ path: '/v1/organizations', token: acme.token })).status).toBe(401);
    expect(
      (await server.call({ path: '/v1/organizations', key: { keyId: acme.token, keySecret: acme.token } })).status,
    ).toBe(401);
    for (const token of [keyId, keySecret])
      expect((await server.call({ path: '/api/v2/dashboards', token })).status).toBe(401);
  });
});
