import { describe, expect, it } from 'vitest';
import { AUTHORIZATION, NO_CREDENTIALS, openTestProxy, openUpstream } from '../../../test/support/proxy.ts';
import { head, openRawConnection, sendRaw } from '../../../test/support/raw.ts';

const CREDENTIALS = `Authorization: ${AUTHORIZATION}`;

async function openPair(options?: Parameters<typeof openTestProxy>[0]) {
  const upstream = await openUpstream((incoming, response) => {
    incoming.resume().once('end', () => response.end('2\n'));
  });
  const proxy = await openTestProxy(options);
  proxy.setUpstream(upstream.upstream);
  return { ...proxy, upstream };
}

describe('requests that two parsers could read differently', () => {
  it.each([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 4', 'Content-Length: 5']],
    ['a length with a sign', ['Content-Length: +4']],
    ['an encoding that is not chunked', ['Transfer-Encoding: gzip']],
    ['another encoding under chunks', ['Transfer-Encoding: gzip, chunked']],
    ['chunks twice', ['Transfer-Encoding: chunked, chunked']],
    ['a space before the colon', ['Content-Length : 4']],
    ['a folded header', ['X-A: b', ' Content-Length: 4']],
  ])('%s: rejected and not forwarded', async (_, headers) => {
    const { url, upstream } = await openPair();
    const reply = await sendRaw(
      url,
      `${head('POST /?query=SELECT+2 HTTP/1.1', 'Host: x', CREDENTIALS, ...headers)}0\r\n\r\nGET /?query=SELECT+666 HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    expect(reply.status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });

  it('a pipelined request without credentials is not covered by those of the one before', async () => {
    const { url, upstream } = await openPair();
    const connection = await openRawConnection(url);
    connection.send(
      head('GET /?query=SELECT+2 HTTP/1.1', 'Host: x', CREDENTIALS) + head('GET /?query=SELECT+3 HTTP/1.1', 'Host: x'),
    );
    expect((await connection.response()).status).toBe(200);
    expect((await connection.response()).status).toBe(401);
    connection.socket.destroy();
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([
    'GET http://elsewhere/?query=SELECT+2 HTTP/1.1',
    'GET *?query=SELECT+2 HTTP/1.1',
    'GET /../?query=x HTTP/1.1',
  ])('%s: not a path of the endpoint', async (line) => {
    const { url, upstream } = await openPair();
    expect([400, 404]).toContain((await sendRaw(url, head(line, 'Host: x', CREDENTIALS))).status);
    expect(upstream.requests).toEqual([]);
  });

  it('line breaks in parameters stay encoded', async () => {
    const { url, upstream } = await openPair();
    const line = 'GET /?query=SELECT+2&query_id=a%0D%0AX-Door:+b HTTP/1.1';
    expect((await sendRaw(url, head(line, 'Host: x', CREDENTIALS))).status).toBe(200);
    expect(upstream.requests[0]?.headers['x-door']).toBe('secret of the upstream');
    expect(upstream.requests[0]?.url).toContain('a%0D%0AX-Door:+b');
  });
});

describe('sizes', () => {
  it('a URL of 64 KiB is forwarded, a longer one is rejected unread', async () => {
    const { send, upstream } = await openPair();
    const path = `/?query=SELECT+'${'a'.repeat(64 * 1024 - 200)}'`;
    // The stand-in for ClickHouse takes 16 KiB: the proxy has forwarded it.
    expect((await send({ path })).status).toBe(431);
    expect(await send({ path: `${path}${'a'.repeat(1000)}` })).toMatchObject({
      status: 414,
      headers: { 'x-clickhouse-exception-code': '131' },
      text: expect.stringContaining('Maximum: 65536'),
    });
    expect(upstream.requests).toEqual([]);
  });

  it('1,001 parameters are rejected before the credentials are read', async () => {
    const { send, upstream } = await openPair();
    for (const path of [`/?${'a&'.repeat(1000)}`, `/?${'a&'.repeat(32_000)}`, `/?query=x${'&'.repeat(1000)}`])
      expect(await send({ path, headers: NO_CREDENTIALS })).toMatchObject({
        status: 400,
        text: expect.stringContaining('more than 1000 parameters'),
      });
    expect((await send({ path: `/?query=SELECT+2${'&a=1'.repeat(999)}` })).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
  });

  it('a head of 2 MB is rejected while it arrives', async () => {
    const { url, upstream } = await openPair();
    const line = `GET /?query=${'a'.repeat(2_000_000)} HTTP/1.1`;
    expect((await sendRaw(url, head(line, 'Host: x', CREDENTIALS))).status).toBe(431);
    expect(upstream.requests).toEqual([]);
  });

  it('a rejected upload is read to its end if it is small, and cut if it is not', async () => {
    const { url, send } = await openPair();
    const wrong = { authorization: 'Basic eDp5' };
    const small = await send({ method: 'POST', body: Buffer.alloc(500_000), headers: wrong });
    expect(small.status).toBe(403);
    const connection = await openRawConnection(url);
    connection.send(
      head('POST /?query=INSERT HTTP/1.1', 'Host: x', 'Authorization: Basic eDp5', 'Content-Length: 99000000'),
    );
    expect((await connection.response()).status).toBe(403);
    const chunk = Buffer.alloc(64 * 1024);
    const pump = () => {
      while (!connection.socket.destroyed && connection.socket.write(chunk));
    };
    connection.socket.on('drain', pump);
    pump();
    await connection.closed;
    expect(connection.socket.bytesWritten).toBeLessThan(99_000_000);
  });
});

describe('slow clients', () => {
  it('a head that does not end is rejected', async () => {
    const { url } = await openPair({ limits: { headMs: 50 } });
    const connection = await openRawConnection(url);
    connection.send('GET /?query=SELECT+2 HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect((await connection.response()).status).toBe(408);
    await connection.closed;
  });

  it('a rejected upload that stalls is closed', async () => {
    const { url } = await openPair({ limits: { rejectedMs: 20 } });
    const connection = await openRawConnection(url);
    connection.send(head('POST /?query=INSERT HTTP/1.1', 'Host: x', 'Content-Length: 100'));
    expect((await connection.response()).status).toBe(401);
    await connection.closed;
  });
});

it('bytes that are not HTTP are rejected', async () => {
  const { url } = await openPair();
  expect((await sendRaw(url, '\x16\x03\x01 TLS\r\n\r\n')).status).toBe(400);
});

describe('a query that sets the headers of its response', () => {
  const HOSTILE = {
    'Set-Cookie': 'pilothouse_session=planted; Path=/',
    'Set-Cookie2': 'a=b',
    'Clear-Site-Data': '"*"',
    'Strict-Transport-Security': 'max-age=31536000',
    'Service-Worker-Allowed': '/',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Credentials': 'true',
    'Alt-Svc': 'h3=":443"',
    'Content-Security-Policy': "script-src 'unsafe-inline'",
    'Content-Location': '/elsewhere',
    Link: '</x>; rel=preload',
    Location: 'https://elsewhere.example',
    NEL: '{}',
    'Public-Key-Pins': 'x',
    Refresh: '0; url=https://elsewhere.example',
    'Report-To': '{}',
    SourceMap: '/x.map',
    'WWW-Authenticate': 'Basic realm="another"',
    'Proxy-Authenticate': 'Basic',
    'X-Anything': 'else',
  };
  const SECURITY = { 'content-security-policy': "sandbox; default-src 'none'", 'x-content-type-options': 'nosniff' };
  const PAGE = '<script>document.cookie = "a=b"</script>';

  it('cannot act on the host: only headers about the content and those of ClickHouse are sent', async () => {
    const upstream = await openUpstream((incoming, response) => {
      response.writeHead(200, {
        ...HOSTILE,
        'Content-Type': 'text/html',
        'Content-Disposition': 'inline',
        'X-ClickHouse-Summary': '{}',
      });
      response.write(PAGE);
      // A long response is streamed.
      response.end(incoming.url?.includes('long') ? 'x'.repeat(100_000) : '');
    });
    const { send, setUpstream } = await openTestProxy();
    setUpstream(upstream.upstream);
    for (const path of ['/?query=SELECT+2', '/?query=long']) {
      const { headers, text } = await send({ path });
      expect(text.startsWith(PAGE)).toBe(true);
      const hop = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'];
      expect(Object.fromEntries(Object.entries(headers).filter(([name]) => !hop.includes(name)))).toEqual({
        ...SECURITY,
        'content-type': 'text/html',
        'content-disposition': 'inline',
        'x-clickhouse-summary': '{}',
      });
    }
  });

  it('cannot see the cookies of a browser, which are sent to every port of a host', async () => {
    const { send, upstream } = await openPair();
    expect((await send({ headers: { cookie: 'pilothouse_session_x=secret' } })).status).toBe(200);
    expect(JSON.stringify(upstream.requests)).not.toContain('pilothouse_session_x');
  });

  it.each([
    ['a path', 'GET /<script> HTTP/1.1', 404],
    ['a missing password', 'GET /?query=SELECT+2 HTTP/1.1', 401],
    ['a ping', 'GET /ping HTTP/1.1', 200],
    ['bytes that are not HTTP', 'nonsense', 400],
  ])('%s: the answers of the proxy have the same headers', async (_, line, status) => {
    const { url } = await openPair();
    expect(await sendRaw(url, head(line, 'Host: x'))).toMatchObject({ status, headers: SECURITY });
  });
});

describe('a page of another site', () => {
  it('cannot send queries with the credentials of a browser', async () => {
    const { send, upstream, wakes } = await openPair();
    const reply = await send({ headers: { 'sec-fetch-site': 'cross-site' } });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('Requests from pages of other sites are not accepted');
    expect((await send({ headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
    expect([upstream.requests.length, wakes.length]).toEqual([1, 0]);
  });

  it.each([
    ['evil.example', 403],
    ['127.0.0.1.evil.example:80', 403],
    ['127.0.0.1:8123', 200],
    ['localhost', 200],
    ['[::1]:8123', 200],
  ])('cannot reach an endpoint with a public password by DNS rebinding: %s', async (host, status) => {
    const { send } = await openPair({ isLoopbackOnly: true });
    expect((await send({ headers: { host } })).status).toBe(status);
  });
});
