import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Credentials } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { onEachStore, useServer } from '../support/server.ts';

/** A request with several errors. Each row of the table fixes the error of the row before. */
interface Fault {
  title: string;
  status: number;
  path: string;
  method?: string;
  identity?: 'anonymous' | 'unknown' | 'otherAddress' | 'query' | 'admin';
  headers?: Record<string, string>;
  body?: string;
}

const unknown = randomUUID();
const scaling = (organization: string, service: string) =>
  `/v1/organizations/${organization}/services/${service}/scaling`;
const notJson = { 'content-type': 'text/plain' };

const FAULTS: Fault[] = [
  { title: 'the percent-encoding', status: 400, path: '/v1/organizations/%zz', identity: 'anonymous', body: '{' },
  { title: 'the path', status: 404, path: '/v1/organizationz/nonsense', identity: 'anonymous', body: '{' },
  {
    title: 'the method',
    status: 405,
    method: 'PUT',
    path: scaling('nonsense', 'nonsense'),
    identity: 'anonymous',
    body: '{',
  },
  {
    title: 'no credentials',
    status: 401,
    path: scaling('nonsense', 'nonsense'),
    identity: 'anonymous',
    headers: notJson,
    body: '{',
  },
  {
    title: 'bad credentials',
    status: 401,
    path: scaling('nonsense', 'nonsense'),
    identity: 'unknown',
    headers: notJson,
    body: '{',
  },
  {
    title: 'the address',
    status: 403,
    path: scaling('nonsense', 'nonsense'),
    identity: 'otherAddress',
    headers: notJson,
    body: '{',
  },
  {
    title: 'the format of the organization id',
    status: 400,
    path: scaling('nonsense', unknown),
    identity: 'query',
    headers: notJson,
    body: '{',
  },
  {
    title: 'the format of the service id',
    status: 400,
    path: scaling(globex.id, 'nonsense'),
    identity: 'query',
    headers: notJson,
    body: '{',
  },
  {
    title: 'an unknown organization',
    status: 404,
    path: scaling(unknown, unknown),
    identity: 'query',
    headers: notJson,
    body: '{',
  },
  {
    title: 'another organization',
    status: 404,
    path: scaling(globex.id, globex.primary),
    identity: 'query',
    headers: notJson,
    body: '{',
  },
  { title: 'the role', status: 403, path: scaling(acme.id, unknown), identity: 'query', headers: notJson, body: '{' },
  {
    title: 'the role, before the query',
    status: 403,
    path: `${scaling(acme.id, unknown)}?x=1`,
    identity: 'query',
    body: '{"numReplicas":0}',
  },
  {
    title: 'the media type',
    status: 415,
    path: scaling(acme.id, unknown),
    identity: 'admin',
    headers: notJson,
    body: '{',
  },
  { title: 'the syntax of the body', status: 400, path: scaling(acme.id, unknown), identity: 'admin', body: '{' },
  {
    title: 'a violation in the body',
    status: 400,
    path: scaling(acme.id, unknown),
    identity: 'admin',
    body: '{"numReplicas":0}',
  },
  {
    title: 'an unknown service',
    status: 404,
    path: scaling(acme.id, unknown),
    identity: 'admin',
    body: '{"numReplicas":1}',
  },
  {
    title: 'the service of another organization',
    status: 404,
    path: scaling(acme.id, globex.primary),
    identity: 'admin',
    body: '{"numReplicas":1}',
  },
  {
    title: 'a violation that depends on the service',
    status: 400,
    path: scaling(acme.id, acme.primary),
    identity: 'admin',
    body: '{"numReplicas":1}',
  },
  {
    title: 'nothing',
    status: 200,
    path: scaling(acme.id, acme.primary),
    identity: 'admin',
    body: '{"numReplicas":4}',
  },
];

onEachStore('the order of checks', (store) => {
  const server = useServer(store);
  let otherAddress: Credentials;
  beforeAll(async () => {
    otherAddress = (await createKey(server, { roles: ['query_endpoints'], ipAccessList: [{ source: '203.0.113.7' }] }))
      .credentials;
  });

  it.each(FAULTS)(
    'B8: $title → $status',
    async ({ status, path, method = 'PATCH', identity = 'admin', headers = {}, body }) => {
      const keys: Record<string, Credentials | undefined> = {
        anonymous: undefined,
        unknown: { keyId: 'x', keySecret: 'y' },
        otherAddress,
        query: acme.query,
        admin: acme.admin,
      };
      const key = keys[identity];
      const response = await server.call({
        method,
        path,
        ...(key ? { key } : {}),
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { text: body }),
      });
      expect(response.status, response.text).toBe(status);
      if (status !== 200)
        expect(response.json).toEqual({
          requestId: response.headers.get('x-request-id'),
          error: expect.stringMatching(/^[A-Z_]+: ./),
          status,
        });
      expect(response.headers.has('www-authenticate')).toBe(status === 401);
      expect(response.headers.has('allow')).toBe(status === 405);
    },
  );

  it('B8: the size of the body is checked after the credentials and the role', async () => {
    const big = { method: 'PATCH', path: scaling(acme.id, acme.primary), body: { name: 'x'.repeat(1024 * 1024) } };
    expect((await server.call(big)).status).toBe(401);
    expect((await server.call({ ...big, key: acme.query })).status).toBe(403);
    expect((await server.call({ ...big, key: acme.admin })).status).toBe(413);
  });

  describe('with an exhausted rate limit', () => {
    const limited = useServer(store, { args: ['--rate-limit', '2/60s'] });

    it('B8: the rate limit is checked after the address and before everything else', async () => {
      const { credentials } = await createKey(limited, {
        roles: ['query_endpoints'],
        ipAccessList: [{ source: '203.0.113.7' }],
      });
      const call = (key: Credentials) => limited.call({ path: '/v1/organizations/nonsense', key });
      for (const expected of [403, 403, 403]) expect((await call(credentials)).status).toBe(expected);
      for (const expected of [400, 400, 429]) expect((await call(acme.query)).status).toBe(expected);
    });
  });
});
