import { once } from 'node:events';
import { Agent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { useCertificateFiles } from '../../../test/support/certificates.ts';
import { head, openRawConnection } from '../../../test/support/raw.ts';
import { requestTls } from '../../../test/support/tls-client.ts';
import { type Certificate, openCertificate } from '../tls/certificate.ts';
import { createApp } from './app.ts';
import { createMetrics } from './monitoring/metrics.ts';

async function listen(requestTimeoutMs: number, certificate?: Certificate) {
  const app = createApp({
    access() {},
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    explain: (error) => error,
    requestTimeoutMs,
    certificate,
  });
  app.post('/echo', async (request) => request.body);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` };
}

const upload = head(
  'POST /echo HTTP/1.1',
  'Host: h',
  'Content-Type: application/json',
  'Content-Length: 10',
  'Expect: 100-continue',
);

it('aborts a stalled upload after the request timeout while the server stops', async () => {
  const { app, url } = await listen(200);
  const stalled = await openRawConnection(url);
  stalled.send(upload);
  expect((await stalled.response()).status).toBe(100);
  await app.close();
  await stalled.closed;
});

it('completes an active upload while the server stops, then closes the connection', async () => {
  const { app, url } = await listen(20_000);
  const slow = await openRawConnection(url);
  slow.send(upload);
  expect((await slow.response()).status).toBe(100);
  const closed = app.close();
  slow.send('{"a": "b"}');
  const { status, headers, json } = await slow.response();
  expect([status, headers.connection, json]).toEqual([200, 'close', { a: 'b' }]);
  await slow.closed;
  await closed;
});

it('serves the next request on an idle connection while the server stops, then closes the connection', async () => {
  const { app, url } = await listen(20_000);
  const request = head('POST /echo HTTP/1.1', 'Host: h', 'Content-Type: application/json', 'Content-Length: 2');
  const idle = await openRawConnection(url);
  idle.send(`${request}{}`);
  expect((await idle.response()).headers.connection).toBe('keep-alive');
  const closed = app.close();
  idle.send(`${request}{}`);
  const { status, headers } = await idle.response();
  expect([status, headers.connection]).toEqual([200, 'close']);
  await idle.closed;
  await closed;
});

it('closes a connection without a request when the server stops', async () => {
  const { app, url } = await listen(20_000);
  const silent = await openRawConnection(url);
  await app.close();
  await silent.closed;
});

it('closes connections over TLS that are idle, and those without a handshake, when the server stops', async () => {
  const files = useCertificateFiles();
  const certificate = await openCertificate({ ...files, log: { info() {}, warn() {} } });
  onTestFinished(() => certificate.close());
  const { app, url } = await listen(20_000, certificate);
  const silent = await openRawConnection(url);
  const { port } = new URL(url);
  const unused = connect({ host: '127.0.0.1', port: Number(port), ca: files.ca });
  await once(unused, 'secureConnect');
  const agent = new Agent({ keepAlive: true, ca: files.ca });
  expect((await requestTls(`https://127.0.0.1:${port}/echo`, { ca: files.ca, agent })).status).toBe(405);
  const closed = once(unused.resume(), 'close');
  await app.close();
  await Promise.all([silent.closed, closed]);
});
