import { execFile } from 'node:child_process';
import { Agent } from 'node:https';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCertificateFiles } from '../support/certificates.ts';
import { acme } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { exportMessage } from '../support/otlp-grpc.ts';
import { findFreePort } from '../support/postgres.ts';
import { openRawConnection, sendRaw } from '../support/raw.ts';
import { START_LIMIT_MS } from '../support/server.ts';
import { basic, requestTls } from '../support/tls-client.ts';

const files = createCertificateFiles({ hosts: ['localhost', '127.0.0.1', 'pilothouse.test'] });
const { ca } = files;
let server: InProcessServer;
let redirectUrl = '';

beforeAll(async () => {
  const redirectPort = await findFreePort();
  redirectUrl = `http://127.0.0.1:${redirectPort}`;
  server = await openInProcessServer({
    tlsCertFile: files.certFile,
    tlsKeyFile: files.keyFile,
    tlsRedirectPort: String(redirectPort),
    dashboardPort: '0',
    otlpPort: '0',
    otlpGrpcPort: '0',
  });
}, START_LIMIT_MS);
afterAll(async () => {
  await server?.remove();
  files.remove();
}, START_LIMIT_MS);

const authorization = basic(acme.admin.keyId, acme.admin.keySecret);
const log = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'over TLS' } }] }] }] };

async function createIngestToken(): Promise<string> {
  const { status, json, text } = await requestTls(`${server.url}/v1/organizations/${acme.id}/dashboardTokens`, {
    ca,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sender', access: 'ingest' }),
  });
  expect(status, text).toBe(200);
  return json.result.token;
}

it('serves the API, the dashboard API and the console over HTTPS', async () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const organization = await requestTls(`${server.url}/v1/organizations/${acme.id}`, {
    ca,
    headers: { authorization },
  });
  expect(organization.json.result.id).toBe(acme.id);
  const dashboards = await requestTls(`${server.dashboardUrl}/api/v2/dashboards`, {
    ca,
    headers: { authorization: `Bearer ${acme.token}` },
  });
  expect(dashboards.status).toBe(200);
  const page = await requestTls(`${server.url}/`, { ca, headers: { accept: 'text/html' } });
  expect(page.headers['content-type']).toMatch(/^text\/html/);
});

it('receives OpenTelemetry data over HTTPS and over gRPC with TLS', async () => {
  const bearer = `Bearer ${await createIngestToken()}`;
  expect(server.otlpUrl).toMatch(/^https:/);
  const response = await requestTls(`${server.otlpUrl}/v1/logs`, {
    ca,
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: JSON.stringify(log),
  });
  expect(response.status, response.text).toBe(200);
  const target = { port: server.otlpGrpcPort, authorization: bearer };
  const message = encodeRequest('logs', log);
  expect(await exportMessage({ ...target, ca }, 'logs', message)).toEqual({});
  // Code 14: unavailable.
  expect(await exportMessage(target, 'logs', message)).toMatchObject({ code: 14 });
});

it('is accepted by curl with the authority, and by no client without it', async () => {
  const run = (...args: string[]) =>
    promisify(execFile)('curl', ['--silent', '--show-error', ...args, `${server.url}/healthz`]);
  expect(JSON.parse((await run('--cacert', files.caFile)).stdout)).toEqual({ status: 'ok' });
  await expect(run()).rejects.toThrow(/certificate/);
  await expect(fetch(`${server.url}/healthz`)).rejects.toMatchObject({
    cause: { code: expect.stringMatching(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/) },
  });
});

it('tells browsers to stay on HTTPS, except under a loopback name', async () => {
  const read = async (host: string) =>
    (await requestTls(`${server.url}/healthz`, { ca, headers: { host } })).headers['strict-transport-security'];
  expect(await read('pilothouse.test')).toBe('max-age=31536000');
  expect(await read(`localhost:${new URL(server.url).port}`)).toBeUndefined();
});

it('sets a secure cookie without a proxy that says so', async () => {
  const { status, headers } = await requestTls(`${server.url}/console/session`, {
    ca,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(acme.admin),
  });
  expect(status).toBe(200);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^__Host-pilothouse_session_\w+=.*; HttpOnly; SameSite=Strict; Secure$/);
  const session = { ca, headers: { cookie: cookie.split(';', 1)[0] ?? '' } };
  expect((await requestTls(`${server.url}/console/session`, session)).status).toBe(200);
  const plain = { ca, headers: { cookie: session.headers.cookie.replace('__Host-', '') } };
  expect((await requestTls(`${server.url}/console/session`, plain)).status).toBe(401);
});

it('redirects plain HTTP to the same path under a name of the certificate', async () => {
  const { port } = new URL(server.url);
  const send = (target: string, host: string) =>
    sendRaw(redirectUrl, `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`);
  expect(await send('/v1/organizations?a=b', 'pilothouse.test:80')).toMatchObject({
    status: 308,
    headers: { location: `https://pilothouse.test:${port}/v1/organizations?a=b`, connection: 'close' },
  });
  expect((await send('//evil.test/', 'localhost')).headers.location).toBe(`https://localhost:${port}//evil.test/`);
  for (const host of ['evil.test', 'pilothouse.test@evil.test', 'pilothouse.test/x', '', '[::1]', 'localhost:1:2'])
    expect((await send('/', host)).status, host).toBe(400);
  expect((await send('http://evil.test/', 'localhost')).status).toBe(400);
});

it('tells a client that uses plain HTTP on its port', async () => {
  const answer = await sendRaw(server.url, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(answer).toMatchObject({ status: 400, text: 'This port accepts HTTPS only\n' });
  const other = await openRawConnection(server.url);
  other.send('not TLS, not HTTP');
  await other.closed;
  expect((await requestTls(`${server.url}/healthz`, { ca })).status).toBe(200);
});

it('answers a request that is not valid HTTP, and keeps connections', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  for (let i = 0; i < 3; i++) expect((await requestTls(`${server.url}/healthz`, { ca, agent })).status).toBe(200);
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  agent.destroy();
  expect(await requestTls(`${server.url}/v1/organizations`, { ca, method: 'FOO' })).toMatchObject({ status: 400 });
});
