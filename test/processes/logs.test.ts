import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { head, sendRaw } from '../support/raw.ts';
import { onEachStore, onEachStoreInLongRuns, startServer, type TestServer, useServer } from '../support/server.ts';
import { UUID_V4 } from '../support/shapes.ts';

const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const hashes = (text: string) =>
  (['base64', 'hex', 'base64url'] as const).map((encoding) => createHash('sha256').update(text).digest(encoding));
const basic = ({ keyId, keySecret }: { keyId: string; keySecret: string }) =>
  Buffer.from(`${keyId}:${keySecret}`).toString('base64');

type Line = Record<string, unknown> & { requestId?: string; status?: number; msg?: string };

/** Stops the server, so that all lines are written, and reads its log. */
async function readLines(server: TestServer): Promise<Line[]> {
  await server.stop();
  return server
    .log()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

onEachStoreInLongRuns('the log', (store) => {
  it('has one JSON line per request, with request id, operation, key suffix, status and milliseconds', async () => {
    const server = await startServer(store);
    try {
      const calls: [Call, Line][] = [
        [
          { method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas: 7 } },
          { operation: 'instanceScalingUpdate', key: '0001', status: 200 },
        ],
        [
          { method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas: 70 } },
          { operation: 'instanceScalingUpdate', key: '0001', status: 400 },
        ],
        [
          { path: '/api/v2/dashboards', token: acme.token },
          { operation: 'listDashboards', key: acme.token.slice(-4), status: 200 },
        ],
        [{ path: organization }, { operation: 'organizationGet', status: 401 }],
        [{ path: '/v1/nothing' }, { operation: 'unknown', status: 404 }],
        [{ path: '/v1/%zz' }, { status: 400 }],
      ];
      const ids: string[] = [];
      for (const [call] of calls) ids.push((await server.call(call)).headers.get('x-request-id') ?? '');
      const malformed = await sendRaw(server.url, head('BREW /v1/pot HTTP/1.1', 'Host: h'));
      const lines = await readLines(server);
      for (const [index, [, expected]] of calls.entries()) {
        const line = lines.find(({ requestId, msg }) => requestId === ids[index] && msg === 'request completed');
        expect(line).toMatchObject({
          ...expected,
          ms: expect.any(Number),
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        });
      }
      expect(lines.find(({ requestId }) => requestId === malformed.headers['x-request-id'])).toMatchObject({
        operation: 'malformed',
        status: 400,
      });
    } finally {
      await server.remove();
    }
  });
});

onEachStore('the log', (store) => {
  it('contains no secret, key id, token, hash or header, at any log level', async () => {
    const server = await startServer(store, { args: ['--log-level', 'trace'] });
    try {
      const wrong = { keyId: 'WrongKeyId0000000001', keySecret: 'a-wrong-secret-to-hide' };
      const hashData = {
        keyIdHash: hashes('brought-key-id')[0],
        keyIdSuffix: 'k-id',
        keySecretHash: hashes('brought-secret')[0],
      };
      const created = await server.call({
        method: 'POST',
        path: `${organization}/keys`,
        key: acme.admin,
        body: { name: 'made', roles: ['admin'] },
      });
      const made = created.json.result;
      const calls: Call[] = [
        { method: 'POST', path: `${organization}/keys`, key: acme.admin, body: { hashData } },
        { method: 'POST', path: `${organization}/keys`, key: acme.admin, body: { hashData } },
        {
          method: 'POST',
          path: `${organization}/keys`,
          key: acme.admin,
          body: { hashData: { ...hashData, keySecretHash: 'broken-hash-data' } },
        },
        { method: 'PATCH', path: `${organization}/keys/${made.key.id}`, key: made, body: { name: 'renamed' } },
        { method: 'PATCH', path: `${organization}/keys/${made.keyId}`, key: acme.admin, body: {} },
        { method: 'PATCH', path: `${service}/scaling`, key: acme.admin, body: { numReplicas: made.keySecret } },
        {
          method: 'PATCH',
          path: `${service}/scaling`,
          key: acme.admin,
          text: `{"secret":"${made.keySecret}`,
          headers: { 'content-type': 'application/json' },
        },
        { path: `${organization}?secret=${made.keySecret}`, key: acme.admin },
        { path: `/v1/${made.keySecret}`, key: acme.admin },
        { path: organization, key: wrong },
        { path: organization, key: { ...acme.admin, keySecret: wrong.keySecret } },
        { path: organization, key: acme.disabled },
        { path: organization, key: acme.expired },
        { path: organization, key: acme.query },
        { path: `/v1/organizations/${globex.id}`, key: acme.admin },
        { path: organization, headers: { authorization: `Digest ${made.keySecret}` } },
        { path: organization, token: acme.token },
        { path: '/api/v2/dashboards', token: acme.token },
        { path: '/api/v2/dashboards', token: `${acme.token}-misspelt` },
        { path: `/api/v2/dashboards/${acme.token}`, token: acme.token },
        { path: '/api/v2/dashboards', key: acme.admin },
        { method: 'DELETE', path: `${organization}/keys/${made.key.id}`, key: acme.admin },
      ];
      for (const call of calls) await server.call(call);
      await sendRaw(
        server.url,
        head(`BREW /v1/${made.keySecret} HTTP/1.1`, `Authorization: Basic ${basic(acme.admin)}`),
      );
      await sendRaw(
        server.url,
        head(
          'GET /v1 HTTP/1.1',
          'Host: h',
          `Authorization: Basic ${basic(acme.admin)}`,
          `X-Long: ${'a'.repeat(20_000)}`,
        ),
      );
      const lines = await readLines(server);
      expect(lines.length).toBeGreaterThan(calls.length);

      const keys = [acme.admin, acme.disabled, acme.expired, acme.query, wrong, made as typeof wrong];
      const secrets = [
        ...keys.flatMap(({ keyId, keySecret }) => [keyId, keySecret]),
        acme.token,
        'brought-key-id',
        'brought-secret',
      ];
      const forbidden = [
        ...secrets,
        ...secrets.flatMap(hashes),
        ...keys.map(basic),
        'broken-hash-data',
        'uthorization"',
        'Basic ',
        'Bearer ',
        'Digest ',
      ];
      for (const text of forbidden) expect(server.log()).not.toContain(text);
    } finally {
      await server.remove();
    }
  });
});

describe('rejected requests in the log', () => {
  const server = useServer('libsql', { args: ['--rate-limit', '2/600s'], inProcess: false });

  it('B7: 401, 403 and 429 are logged as warnings with their reason and the address', async () => {
    const expected: [Call, number, string | undefined][] = [
      [{ path: organization, key: { ...acme.admin, keySecret: 'wrong' } }, 401, undefined],
      [{ path: organization, key: acme.query }, 403, '0001'],
      [{ path: organization, key: acme.developer }, 200, undefined],
      [{ path: organization, key: acme.developer }, 200, undefined],
      [{ path: organization, key: acme.developer }, 429, '0001'],
    ];
    const ids: string[] = [];
    for (const [call, status] of expected) {
      const response = await server.call(call);
      expect(response.status).toBe(status);
      ids.push(response.headers.get('x-request-id') ?? '');
    }
    const rejected = (await readLines(server)).filter(({ msg }) => msg === 'request rejected');
    expect(rejected).toHaveLength(3);
    for (const [index, [, status, key]] of expected.entries()) {
      if (status === 200) continue;
      const line = rejected.find(({ requestId }) => requestId === ids[index]);
      expect(line).toMatchObject({
        level: 40,
        status,
        operation: 'organizationGet',
        reason: expect.stringMatching(/\S/),
        address: '127.0.0.1',
        requestId: expect.stringMatching(UUID_V4),
      });
      expect(line?.key).toBe(key);
    }
  });
});
