import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { expectFailure, UUID_V4 } from '../support/shapes.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const admin = acme.admin;
const unknown = '00000000-0000-4000-8000-000000000000';

const ALERT = { interval: '1h', threshold: 1, thresholdType: 'above' };
/** A body with the required members of all operations. */
const VALID_BODY = {
  name: 'x',
  sourceId: 'logs',
  kind: 'log',
  monthlyCHC: 1,
  series: [{ type: 'time', sourceId: 'logs', aggFn: 'count' }],
  startTime: 1_700_000_000_000,
  endTime: 1_700_000_060_000,
  provider: 'aws',
  region: 'us-east-1',
  command: 'start',
  entries: [],
  mode: 'off',
  service: 'slack',
  sql: 'SELECT 1',
  database: 'default',
  ...ALERT,
};

/** Members with other meanings elsewhere. */
const QUERY_ENDPOINT = { roles: ['sql_console_read_only'], openApiKeys: [unknown] };
/** By the end of the path: the bodies that differ from `VALID_BODY`. */
const OTHER_BODIES: Record<string, object> = {
  usageLock: { through: '2026-01-01' },
  telemetryRules: { rules: [] },
  points: { metricName: 'x', metricDataType: 'gauge' },
  serviceQueryEndpoint: QUERY_ENDPOINT,
  setup: { code: 'x', name: 'x', tier: 'SCALE' },
  links: { expireInHours: 1 },
  annotations: { title: 'x' },
  invitations: { email: 'x@example.com' },
  invitation: { secret: 'x' },
  accept: { secret: 'x' },
  organization: { organizationId: unknown },
  'back-channel': { logout_token: 'x' },
  search: { sourceId: 'logs' },
  operations: {},
  'service-map': {},
  histogram: { sourceId: 'logs' },
  facets: { sourceId: 'logs' },
  values: { sourceId: 'logs', fields: ['ServiceName'] },
  context: { sourceId: 'logs', time: '2026-11-17T10:00:00Z' },
  export: { sourceId: 'logs', format: 'csv' },
  preview: { ...VALID_BODY, alert: ALERT },
  silence: { until: '2100-01-01T00:00:00Z' },
};

/** Unlike the others, these PATCH operations have required members. */
const hasBody = (method: string, path: string): boolean =>
  method === 'POST' || method === 'PUT' || (method === 'PATCH' && /\/(state|autoscaling)$/.test(path));

onEachStore('management responses', (store) => {
  const server = useServer(store);

  it.each<[number, Call]>([
    [400, { method: 'PATCH', path: `${service}/scaling`, key: admin, body: { numReplicas: 21 } }],
    [401, { path: organization }],
    [401, { path: organization, key: { ...admin, keySecret: 'wrong' } }],
    [403, { method: 'PATCH', path: `${service}/scaling`, key: acme.developer, body: {} }],
    [404, { path: '/v1/nothing' }],
    [404, { path: `${organization}/services/${unknown}`, key: admin }],
    [405, { method: 'DELETE', path: organization }],
    [409, { method: 'POST', path: `${organization}/keys`, key: admin, body: { hashData: hashDataInUse() } }],
    [413, { method: 'POST', path: `${organization}/keys`, key: admin, body: { name: 'a'.repeat(1024 * 1024) } }],
    [
      415,
      { method: 'POST', path: `${organization}/keys`, key: admin, text: 'x', headers: { 'content-type': 'text/html' } },
    ],
  ])('M1, M2: a %i has its code, no result, and its request id in body and header', async (status, call) => {
    if (status === 409) expect((await server.call(call)).status).toBe(200);
    expectFailure(call.path, await server.call(call), status);
  });

  it('M1: a success contains requestId, result and status, and nothing else', async () => {
    const { headers, json } = await server.call({ path: organization, key: admin });
    expect(json).toEqual({ requestId: headers.get('x-request-id'), result: expect.any(Object), status: 200 });
    expect(json.requestId).toMatch(UUID_V4);
  });

  it('M1: no two requests share an id', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => server.call({ path: organization, key: admin })),
    );
    expect(new Set(responses.map(({ json }) => json.requestId)).size).toBe(50);
  });

  it('M3: every invalid field is listed with its rule and value', async () => {
    const { json } = await server.call({
      method: 'PATCH',
      path: `${service}/scaling`,
      key: admin,
      body: { minTotalMemoryGb: 32, numReplicas: 'many', idleScaling: [1], maxTotalMemoryGb: {} },
    });
    expect(json.error).toContain('request body.minTotalMemoryGb: The value must be a multiple of 12 <number:32>');
    expect(json.error).toContain('request body.numReplicas: The value must be an integer <string:many>');
    expect(json.error).toContain('request body.idleScaling: The value must be a boolean <array>');
    expect(json.error).toContain('request body.maxTotalMemoryGb: The value must be an integer <object>');
  });

  it('M3: a long value is truncated to 64 characters, without splitting one', async () => {
    for (const letter of ['a', '😀']) {
      const { json } = await server.call({
        method: 'PATCH',
        path: `${service}/scaling`,
        key: admin,
        body: { numReplicas: letter.repeat(1000) },
      });
      expect(json.error).toBe(
        `BAD_REQUEST: request body.numReplicas: The value must be an integer <string:${letter.repeat(64)}>`,
      );
    }
  });

  it.each(['nonsense', `${acme.id}0`, 'g'.repeat(36), '%20', '%00', '%2F', '7c0e4a343c0e4f0b9c4e1d2f3a4b5c6d'])(
    'M4: %s is not a UUID: returns 400 and names the parameter',
    async (id) => {
      for (const path of [
        `/v1/organizations/${id}/keys`,
        `${organization}/services/${id}`,
        `${organization}/keys/${id}`,
        `${organization}/activities/${id}`,
      ]) {
        const response = await server.call({ path, key: admin });
        expectFailure(path, response, 400);
        expect(response.json.error).toMatch(
          /BAD_REQUEST: path\.(organization|service|key|activity)Id: The value must be a valid uuid/,
        );
      }
    },
  );

  it('M4: ids are case-insensitive', async () => {
    const { status, json } = await server.call({
      path: service.toUpperCase().replace('/V1/ORGANIZATIONS', '/v1/organizations').replace('/SERVICES/', '/services/'),
      key: admin,
    });
    expect([status, json.result?.id]).toEqual([200, acme.primary]);
  });

  it('M4: another organization gets the same response as one that does not exist', async () => {
    const texts: string[] = [];
    for (const id of [globex.id, unknown]) {
      const response = await server.call({ path: `/v1/organizations/${id}`, key: admin });
      expectFailure(`/v1/organizations/${id}`, response, 404);
      texts.push(response.json.error.replace(id, 'ID'));
    }
    expect(texts).toEqual(['NOT_FOUND: organization ID does not exist', 'NOT_FOUND: organization ID does not exist']);
  });

  it('B4: every documented operation rejects unknown query parameters by name', async () => {
    const operations = await documentedOperations(server);
    expect(operations.length).toBeGreaterThanOrEqual(14);
    const unknown = [
      ['nonsense=1', 'nonsense'],
      ['__proto__=1', '__proto__'],
      ['constructor', 'constructor'],
      ['%66oo', 'foo'],
    ] as const;
    for (const operation of operations)
      for (const [query, name] of unknown) await expectUnknownParameter(operation, query, name);
  });

  it('M3, D1: a parameter that does not match its documented pattern is described by a sentence', async () => {
    const operations = (await documentedOperations(server)).filter(({ patterned }) => patterned.length > 0);
    expect(operations.length).toBeGreaterThanOrEqual(2);
    for (const { method, path, patterned } of operations)
      for (const name of patterned) {
        const response = await send(method, `${path}?${name}=2026-13`);
        expectFailure(path, response, 400);
        expect(response.text).toMatch(
          new RegExp(`${name}: The value must be an? (month|integer|format) [^"\\\\^$]*[<"]`),
        );
      }
  });

  /** With credentials and a valid body. */
  function send(method: string, url: string): ReturnType<typeof server.call> {
    const [path = ''] = url.split('?');
    return server.call({
      method,
      path: url,
      ...(/^\/(v1|service)\//.test(path) ? { key: admin } : { token: acme.writer }),
      ...(hasBody(method, path) ? { body: OTHER_BODIES[path.split('/').at(-1) ?? ''] ?? VALID_BODY } : {}),
    });
  }

  async function expectUnknownParameter(
    { method, path }: { method: string; path: string },
    query: string,
    name: string,
  ): Promise<void> {
    const response = await send(method, `${path}${path.includes('?') ? '&' : '?'}${query}`);
    expectFailure(path, response, 400);
    expect(response.text, `${method} ${path} ${query}`).toContain(name);
    const value = query.split('=')[1] ?? '';
    if (path.startsWith('/v1'))
      expect(response.json.error).toBe(`BAD_REQUEST: query.${name}: Unknown parameter <string:${value}>`);
  }
});

describe('limits', () => {
  const server = useServer('libsql', { args: ['--rate-limit', '3/600s'] });

  it('M2, B7: a 429 has its code and a retry time', async () => {
    for (let i = 0; i < 3; i++) expect((await server.call({ path: organization, key: admin })).status).toBe(200);
    const response = await server.call({ path: organization, key: admin });
    expectFailure(organization, response, 429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(response.headers.get('x-ratelimit-policy')).toBe('3;w=600');
  });
});

function hashDataInUse() {
  return { keyIdHash: `${'A'.repeat(43)}=`, keyIdSuffix: 'AAAA', keySecretHash: `${'B'.repeat(42)}A=` };
}

interface DocumentedOperation {
  method: string;
  path: string;
  /** The names of its query parameters that have a pattern. */
  patterned: string[];
}

interface DocumentedParameters {
  parameters?: { in: string; name: string; schema: { pattern?: string } }[];
}

/** All documented operations, with valid ids in the path and a valid query if one is required. */
async function documentedOperations(server: TestServer): Promise<DocumentedOperation[]> {
  const keys = await server.call({ path: `${organization}/keys`, key: admin });
  const activities = await server.call({ path: `${organization}/activities`, key: admin });
  const ids: Record<string, string> = {
    organizationId: acme.id,
    serviceId: acme.primary,
    keyId: keys.json.result.find((key: { name: string }) => key.name === 'query').id,
    activityId: activities.json.result[0].id,
    id: acme.dashboard,
    tokenId: randomUUID(),
    userId: randomUUID(),
    invitationId: randomUUID(),
    sessionId: randomUUID(),
    queryId: randomUUID(),
    linkId: randomUUID(),
    budgetId: randomUUID(),
    roleId: randomUUID(),
    backupId: randomUUID(),
    version: '1',
  };
  const { json } = await server.call({ path: '/openapi.json' });
  return Object.entries<Record<string, DocumentedParameters>>(json.paths).flatMap(([pattern, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => {
      const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);
      return {
        method: method.toUpperCase(),
        path: /\/usageCost(\/summary|\/export)?$/.test(path) ? `${path}?from_date=2026-10-01&to_date=2026-10-02` : path,
        patterned: parameters.flatMap((parameter) =>
          parameter.in === 'query' && parameter.schema.pattern !== undefined ? [parameter.name] : [],
        ),
      };
    }),
  );
}
