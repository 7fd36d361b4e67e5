import { describe, expect, it } from 'vitest';
import { acme, globex } from '../support/fleet.ts';
import { createPolicy, createRoleClient } from '../support/roles.ts';
import { useServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const unknown = '00000000-0000-4000-8000-000000000000';

/** Operations of the public interfaces: methods, path, and part of the reason why they are not served. */
const MANAGEMENT: [string, string, string][] = [
  ['GET', `${organization}/quotas`, 'settings of the server'],
  ['GET', `${organization}/quotas/replicas-per-warehouse`, 'settings of the server'],
  ['GET', `${organization}/serviceProfiles?region_id=x`, 'machine profiles'],
  ['GET', `${organization}/notifications?limit=1`, '/api/v2/notifications'],
  ['GET', `${organization}/notificationTypes`, '/api/v2/webhooks'],
  ['GET', `${organization}/creditBalances`, 'sells no credits'],
  ['GET POST', `${organization}/postgres`, 'ClickHouse services only'],
  ['GET', `${organization}/byocInfrastructure/${unknown}/tags`, 'cloud accounts'],
  ['GET PUT DELETE', `${service}/upgradeWindow`, 'does not upgrade services'],
  ['GET PATCH', `${service}/clickhouseSettings`, 'settings of the database'],
  ['GET', `${service}/clickhouseSettings/schema`, 'settings of the database'],
  ['GET DELETE', `${service}/clickhouseSettings/max_threads`, 'settings of the database'],
  ['GET PATCH', `${service}/replicaAwareRouting`, 'does not route queries'],
  ['GET POST', `${service}/clickpipes`, 'ingestion pipelines'],
  ['GET POST', `${service}/clickstack/roles`, 'those of the management interface'],
  ['GET PUT DELETE', `${service}/clickstack/roles/${unknown}`, 'those of the management interface'],
  ['GET', `${service}/clickstack/team`, 'Members and invitations are at'],
  ['POST', `${service}/clickstack/search`, '/api/v2/search'],
  ['GET POST', `${service}/clickstack/connections`, 'engine of the server'],
  ['GET POST', `${service}/query-api-endpoints`, 'does not run queries'],
  ['GET PUT DELETE', `${service}/query-api-endpoints/${unknown}`, 'does not run queries'],
];

const DASHBOARDS: [string, string, string][] = [
  ['GET', '/api/v2', 'Members and invitations are at'],
  ['GET', '/api/v2/team', 'Members and invitations are at'],
  ['PATCH', '/api/v2/team/defaultUserRole', 'Members and invitations are at'],
  ['GET', '/api/v2/members', 'Members and invitations are at'],
  ['GET POST', '/api/v2/invitations', 'Members and invitations are at'],
  ['DELETE', '/api/v2/member/64f0c1d2e3a4b5c6d7e8f900', 'Members and invitations are at'],
  ['GET POST', '/api/v2/roles', 'those of the management interface'],
];

const expand = (operations: [string, string, string][]) =>
  operations.flatMap(([methods, path, reason]) => methods.split(' ').map((method) => ({ method, path, reason })));

describe('operations of the public interfaces that are not served', () => {
  const server = useServer('libsql');

  it.each(expand(MANAGEMENT))('B2, B3: $method $path is a 501 with the reason', async ({ method, path, reason }) => {
    // What is in the body or the query does not matter.
    const body = method === 'GET' ? {} : { text: '{', headers: { 'content-type': 'application/json' } };
    const response = await server.call({ method, path, key: acme.admin, ...body });
    expectFailure(path, response, 501);
    expect(response.json.error).toContain(reason);
    expect(response.json.error).toContain(`${method} ${path.split('?', 1)[0]} is not supported: `);
  });

  it.each(expand(DASHBOARDS))('B2, B3: $method $path is a 501 with the reason', async ({ method, path, reason }) => {
    const response = await server.call({ method, path, token: acme.token });
    expectFailure(path, response, 501);
    expect(response.json.message).toContain(reason);
  });

  it('B8: credentials, path, organization and service are checked first', async () => {
    const window = (organizationId: string, serviceId: string) =>
      `/v1/organizations/${organizationId}/services/${serviceId}/upgradeWindow`;
    const { call } = server;
    expectFailure('/v1/x', await call({ path: window('nonsense', 'nonsense') }), 401);
    expectFailure('/v1/x', await call({ path: window('nonsense', unknown), key: acme.admin }), 400);
    expectFailure('/v1/x', await call({ path: window(globex.id, acme.primary), key: acme.admin }), 404);
    const missing = await call({ path: window(acme.id, unknown), key: acme.admin });
    expect([missing.status, missing.json.error]).toEqual([404, `NOT_FOUND: service ${unknown} does not exist`]);
    expectFailure('/v1/x', await call({ path: window(acme.id, acme.primary), key: acme.query }), 501);
    // Whatever the roles allow.
    const { credentials } = await createRoleClient(server).createKeyWith(
      createPolicy(['control-plane:service:view'], ['instance/*']),
    );
    expectFailure('/v1/x', await call({ path: window(acme.id, acme.primary), key: credentials }), 501);
    expectFailure('/api/v2/x', await call({ path: '/api/v2/alerts' }), 401);
    // The methods of served paths are not affected.
    expectFailure('/v1/x', await call({ method: 'PATCH', path: `${service}/clickstack/sources` }), 405);
    expectFailure('/v1/x', await call({ path: `${organization}/constructor` }), 404);
    expectFailure('/api/v2/x', await call({ path: '/api/v2/nothing' }), 404);
  });

  it('B2: a path outside of both interfaces is a 404 in plain text, which no client takes for a deleted resource', async () => {
    const paths = [
      `/organizations/${acme.id}/services/${acme.primary}`,
      '/dashboards',
      '/api/v1/dashboards',
      '/console/nothing',
      '/v11/organizations',
    ];
    for (const path of paths) {
      const response = await server.call({ path, key: acme.admin });
      expectFailure(path, response, 404);
      expect(response.text).toBe(`GET ${path} does not exist\n`);
    }
  });
});
