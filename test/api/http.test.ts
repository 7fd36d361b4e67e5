import { describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { head, openRawConnection, sendRaw } from '../support/raw.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { expectFailure, UUID_V4 } from '../support/shapes.ts';

const PREFIXES = ['/v1', '/api/v2', '/elsewhere'];
const scaling = `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`;
const basic = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;

onEachStore('two ports', (store) => {
  const server = useServer(store, { args: ['--dashboard-port', '0'] });

  it('B1: with a separate port, dashboards are served on that port only', async () => {
    expect(server.dashboardUrl).not.toBe(server.url);
    const headers = { authorization: `Bearer ${acme.token}` };
    expect((await server.call({ path: '/api/v2/dashboards', token: acme.token })).status).toBe(200);
    for (const path of ['/api/v2/dashboards', `/api/v2/dashboards/${acme.dashboard}`]) {
      const otherPort = await fetch(server.url + path, { headers });
      const text = await otherPort.text();
      expectFailure(path, { status: otherPort.status, headers: otherPort.headers, text, json: JSON.parse(text) }, 404);
    }
  });

  it('B1: the management API is not served on the dashboard port', async () => {
    const path = `/v1/organizations/${acme.id}/usageCost?from_date=2026-10-01&to_date=2026-10-01`;
    expect((await server.call({ path, key: acme.admin })).status).toBe(200);
    const otherPort = await fetch(server.dashboardUrl + path, { headers: { authorization: basic } });
    const text = await otherPort.text();
    expectFailure(path, { status: otherPort.status, headers: otherPort.headers, text, json: JSON.parse(text) }, 404);
  });

  it('B1: both ports serve the health checks', async () => {
    for (const base of [server.url, server.dashboardUrl]) {
      expect((await fetch(`${base}/readyz`)).status).toBe(200);
    }
  });
});

describe('the HTTP layer', () => {
  const server = useServer('libsql');

  it('B1: without a second port, both APIs share one', () => {
    expect(server.dashboardUrl).toBe(server.url);
  });

  describe.each(PREFIXES)('below %s', (prefix) => {
    it.each([
      ['unknown path', `${prefix}/nothing/here`, 404],
      ['double slash', `${prefix}//organizations`, 404],
      ['malformed percent-encoding', `${prefix}/%zz`, 400],
      ['percent-encoding that is not UTF-8', `${prefix}/%ff%fe`, 400],
      ['truncated percent-encoding', `${prefix}/organizations/%`, 400],
    ])('B2: rejects %s in the format of the API', async (_, path, status) => {
      const line = head(`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close');
      expectFailure(path, await sendRaw(server.url, line), status);
    });

    it.each([
      ['missing Host', head(`GET ${prefix}/x HTTP/1.1`), 400],
      ['header without a colon', head(`GET ${prefix}/x HTTP/1.1`, 'Host: h', 'nonsense'), 400],
      ['oversized headers', head(`GET ${prefix}/x HTTP/1.1`, 'Host: h', `X-Long: ${'a'.repeat(20_000)}`), 431],
      ['URL above 64 KiB', head(`GET ${prefix}/${'a'.repeat(65_536)} HTTP/1.1`, 'Host: h'), 414],
      ['URL of 64 KiB with "a&" only', head(`GET ${prefix}/?${'a&'.repeat(32_000)} HTTP/1.1`, 'Host: h'), 400],
      ['unknown method', head(`BREW ${prefix}/x HTTP/1.1`, 'Host: h'), 400],
      ['bad HTTP version', head(`GET ${prefix}/x HTTP/9.9`, 'Host: h'), 400],
      [
        'two Content-Lengths',
        head(`POST ${prefix}/x HTTP/1.1`, 'Host: h', 'Content-Length: 1', 'Content-Length: 2'),
        400,
      ],
      [
        'both Content-Length and chunked encoding',
        head(`POST ${prefix}/x HTTP/1.1`, 'Host: h', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
        400,
      ],
      ['Content-Length that is no number', head(`POST ${prefix}/x HTTP/1.1`, 'Host: h', 'Content-Length: many'), 400],
      [
        'unsupported expectation',
        head(`POST ${prefix}/x HTTP/1.1`, 'Host: h', 'Expect: weird', 'Content-Length: 2'),
        400,
      ],
      ['CONNECT', head(`CONNECT ${prefix}/x HTTP/1.1`, 'Host: h'), 405],
    ])('B2: %s gets an error response, not a connection reset', async (_, bytes, status) => {
      expectFailure(`${prefix}/x`, await sendRaw(server.url, bytes), status);
    });
  });

  it('B2: a request line that Node rejects while it arrives gets an error response', async () => {
    expectFailure('', await sendRaw(server.url, head(`GET /v1/${'a'.repeat(200_000)} HTTP/1.1`, 'Host: h')), 431);
  });

  it('B2: a malformed chunked body gets an error response, not a connection reset', async () => {
    const path = `/v1/organizations/${acme.id}/keys`;
    const lines = [
      'Host: h',
      `Authorization: ${basic}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    expectFailure(path, await sendRaw(server.url, `${head(`POST ${path} HTTP/1.1`, ...lines)}zz\r\n`), 400);
  });

  it('B2: returns 400 for bytes that are not HTTP', async () => {
    expectFailure('', await sendRaw(server.url, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'), 400);
  });

  it.each([
    ['DELETE', '/v1/organizations', 'GET, HEAD'],
    ['PUT', `/v1/organizations/${acme.id}/keys`, 'GET, HEAD, POST'],
    ['GET', scaling, 'PATCH'],
    ['POST', `/v1/organizations/${acme.id}/usageCost`, 'GET, HEAD'],
    ['PUT', '/api/v2/dashboards', 'GET, HEAD, POST'],
    ['PATCH', `/api/v2/dashboards/${acme.dashboard}`, 'DELETE, GET, HEAD, PUT'],
    ['GET', `/api/v2/dashboards/${acme.dashboard}/versions/1/restore`, 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['OPTIONS', '/v1/organizations', 'GET, HEAD'],
  ])('B2, B3: %s %s returns 405 with the allowed methods', async (method, path, allow) => {
    const response = await server.call({ method, path });
    expectFailure(path, response, 405);
    expect(response.headers.get('allow')).toBe(allow);
  });

  it('B2: TRACE and CONNECT have an Allow header too', async () => {
    for (const method of ['TRACE', 'CONNECT']) {
      const response = await sendRaw(server.url, head(`${method} /v1/organizations HTTP/1.1`, 'Host: h'));
      expectFailure('/v1/organizations', response, 405);
      expect(response.headers.allow).toMatch(/GET/);
    }
  });

  it('B2: a body shorter than its Content-Length changes nothing, and the server keeps running', async () => {
    const connection = await openRawConnection(server.url);
    connection.send(
      `${head(`PATCH ${scaling} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`, 'Content-Type: application/json', 'Content-Length: 100')}{"numReplicas": 9}`,
    );
    connection.socket.end();
    await connection.closed;
    const { json } = await server.call({ path: scaling.replace('/scaling', ''), key: acme.admin });
    expect(json.result.numReplicas).toBe(3);
  });

  it('B2: Expect: 100-continue is supported', async () => {
    const connection = await openRawConnection(server.url);
    connection.send(
      head(
        `PATCH ${scaling} HTTP/1.1`,
        'Host: h',
        `Authorization: ${basic}`,
        'Content-Type: application/json',
        'Content-Length: 2',
        'Expect: 100-continue',
      ),
    );
    expect((await connection.response()).status).toBe(100);
    connection.send('{}');
    expect((await connection.response()).status).toBe(200);
    connection.socket.destroy();
  });

  it('B2: HTTP/1.0 requires no Host header', async () => {
    expect((await sendRaw(server.url, head('GET /healthz HTTP/1.0'))).status).toBe(200);
  });

  it('B2: an absolute-form target is routed by its path', async () => {
    const response = await sendRaw(server.url, head('GET http://h/v1/nothing HTTP/1.1', 'Host: h'));
    expectFailure('/v1/nothing', response, 404);
  });

  it('B6: every response has a new x-request-id, regardless of the one in the request', async () => {
    const given = '11111111-1111-4111-8111-111111111111';
    const requestIds = new Set<string>();
    for (const path of [
      '/healthz',
      '/v1',
      '/metrics',
      '/docs',
      '/nothing',
      '/v1/nothing',
      '/api/v2/nothing',
      '/api/v2/dashboards',
      '/v1/organizations',
      '/v1/%zz',
    ]) {
      const { headers } = await server.call({ path, headers: { 'x-request-id': given } });
      expect(headers.get('x-request-id'), path).toMatch(UUID_V4);
      requestIds.add(headers.get('x-request-id') ?? '');
    }
    expect(requestIds.size).toBe(10);
    expect(requestIds).not.toContain(given);
  });
});
