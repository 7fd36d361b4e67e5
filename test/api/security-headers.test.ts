import { afterAll, describe, expect, it } from 'vitest';
import type { Call } from '../support/client.ts';
import { useClockedServer } from '../support/clocked-server.ts';
import { acme, globex } from '../support/fleet.ts';
import { formatPath, listOperations } from '../support/operations.ts';
import { createPageFolder } from '../support/page-folder.ts';
import { head, sendRaw } from '../support/raw.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { SESSION, signIn } from '../support/sessions.ts';

const API_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

function expectApiHeaders(headers: Record<string, string | null>, about: string): void {
  expect([headers['content-security-policy'], headers['x-content-type-options']], about).toEqual([
    API_POLICY,
    'nosniff',
  ]);
}
const toRecord = (headers: Headers) => Object.fromEntries(headers);

/** The path parameters of all operations. */
const PARAMETERS = {
  organizationId: acme.id,
  serviceId: acme.primary,
  id: acme.dashboard,
  tileId: 'one',
  keyId: globex.id,
  tokenId: globex.id,
  linkId: globex.id,
  userId: globex.id,
  invitationId: globex.id,
  sessionId: globex.id,
  budgetId: globex.id,
  version: '1',
};

onEachStoreInLongRuns('every response has nosniff and a strict policy', (store) => {
  const server = useServer(store);

  it.each([
    ['/v1', { key: acme.developer }],
    ['/api/v2', { token: acme.token }],
  ] as const)('of every operation below %s, authenticated or not', async (prefix, credentials) => {
    for (const operation of await listOperations(server, prefix)) {
      const { method, id } = operation;
      const call: Call = { method, path: formatPath(operation, PARAMETERS) };
      if (method !== 'GET' && method !== 'DELETE')
        Object.assign(call, { text: '{"x":', headers: { 'content-type': 'application/json' } });
      for (const response of [await server.call(call), await server.call({ ...call, ...credentials })]) {
        expectApiHeaders(toRecord(response.headers), `${id} ${response.status}`);
        expect(response.headers.get('content-type'), id).toMatch(/; charset=utf-8/);
      }
    }
  });

  it('of responses that bypass the framework: cached and streamed ones', async () => {
    const path = '/api/v2/dashboards';
    const first = await server.call({ path, token: acme.token });
    const again = await server.call({
      path,
      token: acme.token,
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect([first.status, again.status]).toEqual([200, 304]);
    for (const { headers } of [first, again]) expectApiHeaders(toRecord(headers), path);
    const range = 'from_date=2026-10-01&to_date=2026-10-31';
    for (const report of [`usageCost?${range}`, `usageCost/export?${range}&format=csv`]) {
      const response = await server.call({ path: `/v1/organizations/${acme.id}/${report}`, key: acme.admin });
      expect(response.status).toBe(200);
      expectApiHeaders(toRecord(response.headers), report);
    }
  });

  it('of health, metrics, the document, the console routes and unknown paths', async () => {
    const { headers } = await signIn(server, acme.admin);
    const paths = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/v1', '/console/config', SESSION];
    for (const path of [...paths, '/nothing', '/v1/nothing', '/api/v2/nothing', '/console/nothing', '/docs/nothing'])
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const response = await server.call({ method, path, headers });
        if (path.startsWith('/docs/')) expect(response.headers.get('x-content-type-options'), path).toBe('nosniff');
        else expectApiHeaders(toRecord(response.headers), `${method} ${path} ${response.status}`);
      }
  });

  it.each([
    ['an invalid URL', head('GET /v1/%zz HTTP/1.1', 'Host: h')],
    ['an unknown method', head('BREW /v1 HTTP/1.1', 'Host: h')],
    ['no HTTP', 'nonsense\r\n\r\n'],
    ['a missing Host header', head('GET /v1 HTTP/1.1')],
    ['large headers', head('GET /v1 HTTP/1.1', 'Host: h', `X-Long: ${'a'.repeat(20_000)}`)],
    ['CONNECT', head('CONNECT h:1 HTTP/1.1', 'Host: h')],
    ['an expectation', head('GET /v1 HTTP/1.1', 'Host: h', 'Expect: a miracle')],
    ['both lengths', head('POST /v1 HTTP/1.1', 'Host: h', 'Content-Length: 1', 'Transfer-Encoding: chunked')],
  ])('of a malformed request: %s', async (about, bytes) => {
    const { status, headers } = await sendRaw(server.url, bytes);
    expect(status).toBeGreaterThanOrEqual(400);
    expectApiHeaders(headers, about);
  });
});

describe('the separate dashboard port', () => {
  const server = useServer('libsql', { args: ['--dashboard-port', '0'] });

  it('has the same headers', async () => {
    for (const path of ['/healthz', '/metrics', '/openapi.json', '/api/v2/dashboards', '/v1/organizations', '/nothing'])
      expectApiHeaders(toRecord((await fetch(server.dashboardUrl + path)).headers), path);
    expectApiHeaders((await sendRaw(server.dashboardUrl, 'nonsense\r\n\r\n')).headers, 'malformed');
  });
});

describe('the pages', () => {
  const folder = createPageFolder();
  afterAll(() => folder.remove());
  const server = useClockedServer('libsql', { consoleDirectory: folder.directory });

  it('the reference has a policy without other hosts, and its files come from this server', async () => {
    for (const path of ['/docs', '/docs/static/swagger-ui.css', '/docs/static/swagger-initializer.js']) {
      const { status, headers } = await fetch(server.url + path);
      expect(status).toBe(200);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
      const sources = policy.split(/[; ]+/).filter((word) => /[.:*]/.test(word));
      expect(sources, 'hosts and schemes').toEqual(['data:']);
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await fetch(`${server.url}/docs`)).headers.get('referrer-policy')).toBe('no-referrer');
    const script = await (await fetch(`${server.url}/docs/static/swagger-initializer.js`)).text();
    expect(script, 'no validator, which is another host').toMatch(/validatorUrl: null/);
  });

  it('the console has its own policy and nosniff', async () => {
    const { headers } = await fetch(`${server.url}/`, { headers: { accept: 'text/html' } });
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});
