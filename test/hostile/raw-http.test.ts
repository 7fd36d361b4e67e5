import { afterEach, describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { head, openRawConnection } from '../support/raw.ts';
import { useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const basic = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
const service = `/v1/organizations/${acme.id}/services/${acme.primary}`;
const scaling = `${service}/scaling`;

/** A request that would have an effect if a part of another request were taken for a request of its own. */
const smuggled = `${head(`PATCH ${scaling} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`, 'Content-Type: application/json', 'Content-Length: 17')}{"numReplicas":9}`;
const change = (...lines: string[]) =>
  head(`PATCH ${scaling} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`, 'Content-Type: application/json', ...lines);

/** The statuses on the status lines of everything that was received. */
const listStatuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe('raw HTTP', () => {
  const server = useServer('libsql', { args: ['--log-level', 'error'] });

  afterEach(async () => {
    const { status, json } = await server.call({ path: service, key: acme.admin });
    expect([status, json.result?.numReplicas]).toEqual([200, 3]);
  });

  /** Sends the bytes and reads until the server closes the connection. */
  async function exchange(bytes: string | Uint8Array): Promise<number[]> {
    const connection = await openRawConnection(server.url);
    connection.send(bytes);
    connection.socket.end();
    await connection.closed;
    return listStatuses(connection.received());
  }

  it.each([
    ['Content-Length and chunked', `${change('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['chunked and Content-Length', `${change('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n${smuggled}`],
    ['two lengths', `${change('Content-Length: 0', 'Content-Length: 300')}${smuggled}`],
    ['two lengths in one header', `${change('Content-Length: 0, 300')}${smuggled}`],
    ['a signed length', `${change('Content-Length: +2')}{}${smuggled}`],
    ['a hexadecimal length', `${change('Content-Length: 0x2')}{}${smuggled}`],
    ['a length that overflows', `${change('Content-Length: 18446744073709551618')}{}${smuggled}`],
    ['a space before the colon', `${change('Transfer-Encoding : chunked')}0\r\n\r\n${smuggled}`],
    ['an unknown transfer coding', `${change('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled}`],
    ['chunked that is not the last coding', `${change('Transfer-Encoding: chunked, identity')}0\r\n\r\n${smuggled}`],
    ['chunked in quotes', `${change('Transfer-Encoding: "chunked"')}0\r\n\r\n${smuggled}`],
    ['a folded header', `${change('Transfer-Encoding:\r\n chunked', 'Content-Length: 4')}0\r\n\r\n${smuggled}`],
    ['a bare line feed after the chunk size', `${change('Transfer-Encoding: chunked')}2\n{}\r\n0\r\n\r\n${smuggled}`],
    ['a negative chunk size', `${change('Transfer-Encoding: chunked')}-1\r\n${smuggled}`],
    ['a chunk size that overflows', `${change('Transfer-Encoding: chunked')}ffffffffffffffff1\r\n${smuggled}`],
    ['a chunk longer than its size', `${change('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ['a bare line feed in a header', `${change('X: a\nTransfer-Encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['a bare carriage return in a header', `${change('X: a\rTransfer-Encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['a NUL in a header', `${change('X: a\0b', 'Content-Length: 2')}{}${smuggled}`],
    ['a NUL in a header name', `${change('X\0: a', 'Content-Length: 2')}{}${smuggled}`],
    ['a NUL in the target', `${head(`GET ${service}\0 HTTP/1.1`, 'Host: h')}${smuggled}`],
  ])('B2: a request with %s is rejected, and the rest of the connection is not read', async (_, bytes) => {
    const statuses = await exchange(bytes);
    expect(statuses.length, String(statuses)).toBe(1);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    expect(statuses[0]).toBeLessThan(500);
  });

  it.each([
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['bytes of TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a request line without a version', `GET ${service}\r\n\r\n`],
    ['only line feeds and garbage', '\r\n\r\n\r\n\u0001\u0002\r\n\r\n'],
    [
      '10,000 headers',
      head(`GET ${service} HTTP/1.1`, 'Host: h', ...Array.from({ length: 10_000 }, (_, at) => `X${at}: 1`)),
    ],
    ['a header of 1 MiB', head(`GET ${service} HTTP/1.1`, 'Host: h', `X: ${'x'.repeat(1024 * 1024)}`)],
    ['a target of 1 MiB', head(`GET /v1/${'x'.repeat(1024 * 1024)} HTTP/1.1`, 'Host: h')],
    ['trailers of 1 MiB', `${change('Transfer-Encoding: chunked')}0\r\n${'X: 1\r\n'.repeat(170_000)}\r\n`],
    [
      'a chunk extension of 1 MiB',
      `${change('Transfer-Encoding: chunked')}2;${'x'.repeat(1024 * 1024)}\r\n{}\r\n0\r\n\r\n`,
    ],
  ])('B2: %s are rejected', async (_, bytes) => {
    const statuses = await exchange(bytes);
    // The server may close the connection before the client has sent everything, and the response is then lost.
    for (const status of statuses) expect([400, 401, 404, 405, 413, 431]).toContain(status);
    expect(statuses.length).toBeLessThanOrEqual(1);
  });

  it('B2: a body that turns out to be malformed after the response gets no second response', async () => {
    for (const body of ['zz\r\n', '-1\r\n', '1\r\n{}\r\n0\r\n\r\n'])
      expect(
        await exchange(
          `${head('POST /v1/nothing HTTP/1.1', 'Host: h', 'Transfer-Encoding: chunked')}${body}${smuggled}`,
        ),
      ).toEqual([404]);
  });

  it.each([
    ['an absolute target of another host', `GET http://elsewhere.invalid${service} HTTP/1.1`, ['Host: h'], 200],
    ['an absolute target of https', `GET https://h${service} HTTP/1.1`, ['Host: h'], 200],
    ['the target *', 'OPTIONS * HTTP/1.1', ['Host: h'], 404],
    ['an upgrade to h2c', `GET ${service} HTTP/1.1`, ['Host: h', 'Connection: Upgrade', 'Upgrade: h2c'], 200],
    [
      'an upgrade to WebSocket',
      `GET ${service} HTTP/1.1`,
      ['Host: h', 'Connection: Upgrade', 'Upgrade: websocket'],
      200,
    ],
    ['a method override', `GET ${service} HTTP/1.1`, ['Host: h', 'X-HTTP-Method-Override: DELETE'], 200],
  ])('B2: %s gets one response', async (_, line, lines, status) => {
    const statuses = await exchange(head(line, ...lines, `Authorization: ${basic}`, 'Connection: close'));
    expect(statuses).toEqual([status]);
  });

  it('B2: any Host header gets one response of the API', async () => {
    for (const host of [
      '',
      ' ',
      'a b',
      '@',
      '[::1',
      'h:99999',
      '../..',
      'x'.repeat(2000),
      '127.0.0.1:80, other',
      '\u00ff',
    ]) {
      const request = head(`GET ${service} HTTP/1.1`, `Host: ${host}`, `Authorization: ${basic}`, 'Connection: close');
      const statuses = await exchange(Buffer.from(request, 'latin1'));
      expect(statuses.length, host).toBe(1);
      expect([200, 400, 403, 421], host).toContain(statuses[0]);
    }
  });

  it('B6: 200 pipelined requests get 200 responses in order', async () => {
    const connection = await openRawConnection(server.url);
    const paths = Array.from({ length: 200 }, (_, index) => `/v1/pipelined/${index}`);
    connection.send(paths.map((path) => head(`GET ${path} HTTP/1.1`, 'Host: h')).join(''));
    const requestIds = new Set<string>();
    for (const path of paths) {
      const { status, json, headers } = await connection.response();
      expect([status, json.error]).toEqual([404, `NOT_FOUND: GET ${path} does not exist`]);
      requestIds.add(headers['x-request-id'] ?? '');
    }
    expect(requestIds.size).toBe(200);
    connection.socket.destroy();
  });

  it('B2: uploads that are aborted change nothing, and leave no connection', async () => {
    const unfinished = `${head(`PATCH ${scaling} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`, 'Content-Type: application/json', 'Content-Length: 500000')}{"numReplicas":9,"x":"${'x'.repeat(100_000)}`;
    for (let round = 0; round < 5; round++) {
      const connections = await Promise.all(Array.from({ length: 40 }, () => openRawConnection(server.url)));
      for (const { send, socket } of connections) {
        send(unfinished);
        socket.destroySoon();
      }
      await Promise.all(connections.map(({ closed }) => closed));
    }
    await until(
      async () => (await server.call({ path: '/healthz' })).status,
      (status) => status === 200,
      'the server does not respond',
    );
  });

  it('B2: other requests are served while 100 clients send their bodies slowly', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => openRawConnection(server.url)));
    for (const { send } of slow)
      send(
        `${head(`PATCH ${scaling} HTTP/1.1`, 'Host: h', `Authorization: ${basic}`, 'Content-Type: application/json', 'Content-Length: 100')}{`,
      );
    for (let count = 0; count < 20; count++)
      expect((await server.call({ path: service, key: acme.admin })).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });
});
