import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { head, openRawConnection } from '../../../../test/support/raw.ts';
import { expectFailure } from '../../../../test/support/shapes.ts';
import type { AppError } from '../../../kernel/errors.ts';
import { createMalformedRequestHandler } from './malformed-requests.ts';

let server: Server | undefined;
const logged: { error: AppError; requestId: string }[] = [];

/** A real server with a short timeout instead of 30 s. */
async function listen(timeoutMs: number): Promise<string> {
  const malformed = createMalformedRequestHandler((error, requestId) => logged.push({ error, requestId }));
  const started = createServer({
    requestTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    connectionsCheckingInterval: 20,
    requireHostHeader: false,
  });
  server = started;
  started.on('clientError', malformed.clientError);
  malformed.attach(started);
  started.on('request', (request, response) => request.resume().on('end', () => response.end('fine')));
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  logged.length = 0;
});

it.each([
  ['/v1/organizations', 'the management envelope'],
  ['/api/v2/dashboards', 'a message'],
  ['/healthz', 'a message'],
])('B2, B3: a slow body for %s returns 408 in %s', async (path) => {
  const connection = await openRawConnection(await listen(100));
  connection.send(`${head(`POST ${path} HTTP/1.1`, 'Host: h', 'Content-Length: 10')}half`);
  const response = await connection.response();
  expectFailure(path, response, 408);
  await connection.closed;
  expect(logged).toEqual([
    { error: expect.objectContaining({ code: 'request_timeout' }), requestId: response.headers['x-request-id'] },
  ]);
});

it('B2, B3: slow headers return 408', async () => {
  const connection = await openRawConnection(await listen(100));
  connection.send('GET /elsewhere HTTP/1.1\r\nHost: h\r\nX-Slow: ');
  expectFailure('', await connection.response(), 408);
  await connection.closed;
});

it('B2: each malformed request on a connection gets its own response', async () => {
  const connection = await openRawConnection(await listen(10_000));
  connection.send(head('GET /api/v2/dashboards HTTP/1.1', 'Host: h'));
  expect((await connection.response()).status).toBe(200);
  connection.send(head('BREW /v1/pot HTTP/1.1', 'Host: h'));
  expectFailure('/v1/pot', await connection.response(), 400);
  await connection.closed;
});

it('B2: does not log a client that disconnects', async () => {
  const url = await listen(10_000);
  const connection = await openRawConnection(url);
  connection.send('GET /v1 HT');
  connection.socket.resetAndDestroy();
  await connection.closed;
  const next = await openRawConnection(url);
  next.send(head('GET /v1 HTTP/1.1', 'Host: h'));
  expect((await next.response()).status).toBe(200);
  next.socket.destroy();
});
