import { afterAll, describe, expect, it } from 'vitest';
import { type ClockedOptions, useClockedServer } from '../support/clocked-server.ts';
import { acme } from '../support/fleet.ts';
import { createPageFolder, script } from '../support/page-folder.ts';
import { head, sendRaw } from '../support/raw.ts';
import { signIn } from '../support/sessions.ts';
import { expectFailure } from '../support/shapes.ts';

const folder = createPageFolder();
afterAll(() => folder.remove());

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};
const readSecurityHeaders = (headers: Headers) =>
  Object.fromEntries(Object.keys(SECURITY).map((name) => [name, headers.get(name)]));

const useConsole = (options: ClockedOptions = {}) =>
  useClockedServer('libsql', { consoleDirectory: folder.directory, isShared: true, ...options });

describe('console pages', () => {
  const server = useConsole();
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(server.url + path, { method, headers, redirect: 'manual' });

  it.each([
    '/',
    '/index.html',
    '/services',
    `/services/${acme.primary}?tab=history`,
    `/dashboards/${acme.dashboard}`,
    '/v1ews',
    '/consoles',
  ])('%s serves the page to a browser', async (path) => {
    const response = await get(path, html);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(readSecurityHeaders(response.headers)).toEqual(SECURITY);
    const text = await response.text();
    expect(text).toContain('src="/assets/main-1a2b3c4d.js"');
    expect(text).toContain('href="/assets/main-5e6f7a8b.css"');
    expect(text).toContain('href="/mark.svg"');
    expect(text).toContain('href="https://elsewhere.example/"');
    expect(text).toContain('href="//elsewhere.example/"');
    expect(text).toContain('<meta name="pilothouse-base" content="" />');
  });

  it('HEAD responds like GET, and a current copy returns 304', async () => {
    const page = await get('/', html);
    for (const path of ['/', '/services']) {
      const headOnly = await get(path, html, 'HEAD');
      expect([headOnly.status, await headOnly.text()]).toEqual([200, '']);
      const again = await get(path, { ...html, 'if-none-match': page.headers.get('etag') ?? '' });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
  });

  it.each([
    ['/v1/nothing', html],
    ['/v1/organizations/x', html],
    ['/api/v2/nothing', html],
    ['/api/nothing', html],
    ['/console/nothing', html],
    ['/docs/nothing', html],
    ['/assets/nothing.js', html],
    ['/assets/unknown.bin', html],
    ['/assets/a%20file%20(1).js', html],
    ['/assets/main-1a2b3c4d.js.gz', html],
    ['/assets/..%2f..%2fpackage.json', html],
    ['/services', {}],
    ['/services', { accept: 'application/json' }],
  ])('%s does not serve the page', async (path, headers) => {
    const response = await get(path, headers as Record<string, string>);
    const text = await response.text();
    expect(response.status, text).toBe(path.includes('organizations') ? 401 : 404);
    const isJson = /^\/(v1|api\/v2)\//.test(path);
    expect(response.headers.get('content-type')).toBe(`${isJson ? 'application/json' : 'text/plain'}; charset=utf-8`);
    expect(readSecurityHeaders(response.headers)).not.toEqual(SECURITY);
  });

  it('files outside the folder cannot be reached', async () => {
    for (const path of ['/../package.json', '/assets/../../package.json', '//assets/main-1a2b3c4d.js']) {
      const response = await sendRaw(server.url, head(`GET ${path} HTTP/1.1`, 'Host: h', 'Accept: */*'));
      expectFailure('/', response, 404);
    }
  });

  it('other methods do not serve the page', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect([404, 405], method).toContain((await get('/services', html, method)).status);
    // Telemetry that is sent to the address of the server: the response has the right path.
    expect((await get('/', html, 'POST')).status).toBe(404);
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', null],
  ])('an asset is cached for a year and sent as precompressed (%s)', async (accepted, encoding) => {
    const response = await get('/assets/main-1a2b3c4d.js', { 'accept-encoding': accepted });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toBe('accept-encoding');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(readSecurityHeaders(response.headers)).toEqual(SECURITY);
    if (encoding) expect(Number(response.headers.get('content-length'))).toBeLessThan(script.length / 4);
    expect(await response.text()).toBe(script);
  });

  it('uncompressed files are sent as they are, and files without a hash in the name are revalidated', async () => {
    const style = await get('/assets/main-5e6f7a8b.css', { 'accept-encoding': 'br' });
    expect([style.headers.get('content-encoding'), await style.text()]).toEqual([null, 'body { margin: 0 }']);
    const mark = await get('/mark.svg');
    expect([mark.headers.get('content-type'), mark.headers.get('cache-control')]).toEqual([
      'image/svg+xml',
      'no-cache',
    ]);
    const again = await get('/mark.svg', { 'if-none-match': mark.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });

  it('do not affect the APIs, their reference or their headers', async () => {
    const { headers } = await signIn(server, acme.admin);
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/v1', '/docs', '/console/config']) {
      const response = await get(path, html);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('content-security-policy'), path).not.toBe(SECURITY['content-security-policy']);
    }
    for (const path of [`/v1/organizations/${acme.id}`, '/api/v2/dashboards', '/console/session']) {
      const response = await server.call({ path, headers: { ...headers, ...html } });
      expect(response.status, path).toBe(200);
      expect(readSecurityHeaders(response.headers), path).toEqual({
        'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': null,
        'cross-origin-opener-policy': null,
      });
    }
    const { json } = await server.call({ path: '/openapi.json' });
    expect(Object.keys(json.paths).filter((path) => /assets|index|^\/$/.test(path))).toEqual([]);
  });
});

describe('a server without a built console', () => {
  const server = useClockedServer('libsql');

  it('serves the reference at the root and no other page', async () => {
    const root = await fetch(`${server.url}/`, { headers: html, redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, '/docs']);
    expectFailure('/services', await server.call({ path: '/services', headers: html }), 404);
    expect((await server.call({ path: '/console/config' })).status).toBe(200);
  });
});

describe('the demo', () => {
  const server = useClockedServer('libsql', { demo: { keyId: 'DemoKey', keySecret: 'demo-secret' } });

  it('provides the demo credentials to the console', async () => {
    const { json } = await server.call({ path: '/console/config' });
    expect(json.demo).toEqual({ keyId: 'DemoKey', keySecret: 'demo-secret' });
  });
});

describe('below a base path', () => {
  const server = useConsole({ settings: { basePath: '/tools/pilothouse' } });
  const root = () => server.url.replace('/tools/pilothouse', '');

  it('all paths work, and the OpenAPI document names the server URL', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tools\/pilothouse$/);
    for (const path of ['/healthz', '/metrics', '/openapi.json', '/docs', '/', '/assets/main-1a2b3c4d.js', '?a=b'])
      expect((await fetch(server.url + path)).status, path).toBe(200);
    expect((await server.call({ path: `/v1/organizations/${acme.id}`, key: acme.admin })).status).toBe(200);
    expect((await server.call({ path: '/api/v2/dashboards', token: acme.token })).status).toBe(200);
    expect((await server.call({ path: '/console/config' })).json.basePath).toBe('/tools/pilothouse');
    expect((await server.call({ path: '/openapi.json' })).json.servers).toEqual([{ url: '/tools/pilothouse' }]);
  });

  it('nothing is served outside the base path', async () => {
    for (const path of ['/', '/healthz', `/v1/organizations/${acme.id}`, '/tools', '/tools/pilothouses', '/docs']) {
      const response = await fetch(root() + path, { headers: html });
      const text = await response.text();
      expect([response.status, text], path).toEqual([404, `GET ${path} does not exist\n`]);
    }
  });

  it('pages refer to files below the base path', async () => {
    for (const path of ['', '/', '/services/x']) {
      const text = await (await fetch(server.url + path, { headers: html })).text();
      expect(text).toContain('src="/tools/pilothouse/assets/main-1a2b3c4d.js"');
      expect(text).toContain('href="/tools/pilothouse/assets/main-5e6f7a8b.css"');
      expect(text).toContain('<meta name="pilothouse-base" content="/tools/pilothouse" />');
      expect(text).toContain('href="//elsewhere.example/"');
    }
  });

  it('the reference refers to files below the base path', async () => {
    const text = await (await fetch(`${server.url}/docs`)).text();
    for (const [, address = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const response = await fetch(new URL(address, `${server.url}/docs`));
      expect(response.status, address).toBe(200);
    }
  });

  it('the cookie is limited to the base path, and sessions work', async () => {
    const response = await server.call({ method: 'POST', path: '/console/session', body: acme.admin });
    expect(response.headers.get('set-cookie')).toContain('; Path=/tools/pilothouse/; ');
    const https = await server.call({
      method: 'POST',
      path: '/console/session',
      body: acme.admin,
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect(https.headers.get('set-cookie'), 'the __Host- prefix needs the path /').toMatch(
      /^__Secure-pilothouse_session_[0-9a-f]{32}=[\w-]{43}; Path=\/tools\/pilothouse\/; .*; Secure$/,
    );
    const { headers } = await signIn(server, acme.admin);
    expect((await server.call({ path: '/api/v2/dashboards', headers })).status).toBe(200);
  });

  it('B2: errors have the format of their API', async () => {
    const base = '/tools/pilothouse';
    const raw = (line: string, ...lines: string[]) => sendRaw(root(), head(line, 'Host: h', ...lines));
    expectFailure('/v1/x', await raw(`GET ${base}/v1/nothing HTTP/1.1`), 404);
    expectFailure('/v1/x', await raw(`GET http://h${base}/v1/nothing HTTP/1.1`), 404);
    expectFailure('/v1/x', await raw(`GET ${base}/v1/%zz HTTP/1.1`), 400);
    expectFailure('/v1/x', await raw(`BREW ${base}/v1/nothing HTTP/1.1`), 400);
    expectFailure('/api/v2/x', await raw(`GET ${base}/api/v2/nothing HTTP/1.1`), 404);
    expectFailure('/v1/x', await raw(`GET ${base}/v1/x HTTP/1.1`, `X-Long: ${'a'.repeat(20_000)}`), 431);
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const basic = Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64');
    const keys = head(
      `POST ${base}/v1/organizations/${acme.id}/keys HTTP/1.1`,
      'Host: h',
      `Authorization: Basic ${basic}`,
      ...chunked,
    );
    expectFailure('/v1/x', await sendRaw(root(), `${keys}zz\r\n`), 400);
  });
});

describe('below a base path without a console', () => {
  const server = useClockedServer('libsql', { settings: { basePath: '/x', dashboardPort: '0' } });

  it('the root redirects to the reference, even with a separate dashboard port', async () => {
    const response = await fetch(`${server.url}/`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('/x/docs');
    expect((await server.call({ path: '/api/v2/dashboards', token: acme.token })).status).toBe(200);
  });
});
