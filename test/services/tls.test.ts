import { Agent } from 'node:https';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createCertificateFiles } from '../support/certificates.ts';
import { cliProcess } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { connectNative } from '../support/native-client.ts';
import { sendRaw } from '../support/raw.ts';
import { basic, readSerial, requestTls } from '../support/tls-client.ts';
import { until } from '../support/until.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const files = createCertificateFiles();
const { ca } = files;
let server: InProcessServer;
let service: { id: string; port: number; nativePort: number; url: string; password: string };

const services = () => `${server.url}/v1/organizations/${acme.id}/services`;
const headers = {
  authorization: basic(acme.admin.keyId, acme.admin.keySecret),
  'content-type': 'application/json',
};

beforeAll(async () => {
  server = await openInProcessServer({
    tlsCertFile: files.certFile,
    tlsKeyFile: files.keyFile,
    otlpGrpcPort: '0',
    endpointPorts: '0',
  });
  const wanted = { name: 'real', provider: 'aws', region: 'eu-central-1', driver: 'embedded' };
  const created = await requestTls(services(), { ca, method: 'POST', headers, body: JSON.stringify(wanted) });
  const { id } = created.json.result.service;
  const { endpoints } = await until(
    async (): Promise<Json> => (await requestTls(`${services()}/${id}`, { ca, headers })).json.result,
    ({ status }) => status.state === 'running' && status.inFlight === undefined,
    'the service does not run',
  );
  const place = { host: '127.0.0.1', port: expect.any(Number), username: 'default' };
  expect(endpoints).toEqual([
    { protocol: 'https', ...place },
    { protocol: 'nativesecure', ...place },
  ]);
  const [{ host, port }, { port: nativePort }] = endpoints;
  service = { id, port, nativePort, url: `https://${host}:${port}`, password: created.json.result.password };
});
afterAll(async () => {
  await server?.remove();
  files.remove();
});

const query = (sql: string, agent?: Agent) =>
  requestTls(`${service.url}/`, {
    ca,
    method: 'POST',
    headers: { authorization: basic('default', service.password) },
    body: sql,
    ...(agent && { agent }),
  });

const runByRole = (sql: string, { access = 'read', ...options }: { access?: string; servername?: string } = {}) =>
  requestTls(`${services()}/${service.id}/sql/${access}`, {
    ca,
    method: 'POST',
    headers,
    body: JSON.stringify({ sql }),
    ...options,
  });

it('a ClickHouse client inserts and reads over HTTPS', async () => {
  const client = createClient({ ...service, username: 'default', tls: { ca_cert: Buffer.from(ca) } });
  await client.command({ query: 'CREATE TABLE t (n UInt32) ENGINE = MergeTree ORDER BY n' });
  const values = Array.from({ length: 10_000 }, (_, n) => ({ n }));
  await client.insert({ table: 't', values, format: 'JSONEachRow' });
  const result = await client.query({ query: 'SELECT sum(n) AS total FROM t', format: 'JSONEachRow' });
  expect(await result.json()).toEqual([{ total: 49995000 }]);
  await client.close();
  const log = { level: ClickHouseLogLevel.OFF };
  const untrusting = createClient({ ...service, username: 'default', log });
  await expect(untrusting.query({ query: 'SELECT 1' })).rejects.toThrow(/certificate/);
  await untrusting.close();
});

it('a native client inserts and reads over TLS', async () => {
  const { nativePort: port, password } = service;
  const client = await connectNative({ port, password, tls: { ca } });
  await client.query('CREATE TABLE native (n UInt64) ENGINE = MergeTree ORDER BY n');
  await client.insert('native', 'n', [1, 2, 3]);
  expect(await client.query('SELECT sum(n) FROM native')).toEqual([[6]]);
  await client.close();
  await expect(connectNative({ port, password, tls: {} })).rejects.toThrow(/certificate/);
  await expect(connectNative({ port, password })).rejects.toThrow();
});

it('a long response arrives complete', async () => {
  const { text } = await query("SELECT repeat('x', 1000) FROM numbers(20000) FORMAT RawBLOB");
  expect(text).toHaveLength(20_000_000);
});

it('statements by role use the endpoint without an authority that this machine knows', async () => {
  const { status, text } = await runByRole('SELECT 6 * 7 AS answer');
  expect(status, text).toBe(200);
  expect(text).toContain('[42]');
  const create = 'CREATE TABLE by_role (a UInt8) ENGINE = Memory';
  expect((await runByRole(create, { access: 'write' })).text).not.toContain('exception');
});

it('plain HTTP is rejected, and the password is checked as before', async () => {
  const plain = await sendRaw(`http://127.0.0.1:${service.port}`, 'GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(plain).toMatchObject({ status: 400, text: 'This port accepts HTTPS only\n' });
  const wrong = { ca, headers: { authorization: basic('default', 'wrong') } };
  expect((await requestTls(`${service.url}/?query=SELECT+1`, wrong)).status).toBe(401);
});

it('the command line uses the authority of NODE_EXTRA_CA_CERTS', async () => {
  const { keyId, keySecret } = acme.admin;
  const environment = {
    PILOTHOUSE_URL: server.url,
    PILOTHOUSE_KEY: `${keyId}:${keySecret}`,
    PILOTHOUSE_PASSWORD: service.password,
  };
  const args = ['service', 'query', service.id, 'SELECT 6 * 7 AS answer', '--json'];
  const trusting = await cliProcess(args, { ...environment, NODE_EXTRA_CA_CERTS: files.caFile });
  expect(trusting.code, trusting.stderr).toBe(0);
  expect(JSON.parse(trusting.stdout).data).toEqual([{ answer: 42 }]);
  const { code, stderr } = await cliProcess(args, environment);
  expect(code).not.toBe(0);
  expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
});

it('every port uses a renewed certificate without a restart, and open connections continue', async () => {
  const ports = [Number(new URL(server.url).port), service.port, service.nativePort];
  const readAll = async () => [
    ...(await Promise.all(ports.map((port) => readSerial(port, ca)))),
    await readSerial(server.otlpGrpcPort ?? 0, ca, ['h2']),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  expect((await query('SELECT 1', agent)).text).toBe('1\n');
  const [before] = await readAll();
  const running = query('SELECT sleepEachRow(0.1) FROM numbers(60) SETTINGS max_block_size = 1 FORMAT Null', agent);
  files.write(files.issue());
  const after = await until(readAll, (serials) => !serials.includes(before ?? ''), 'a port has the old certificate');
  expect(new Set(after).size).toBe(1);
  expect((await running).status).toBe(200);
  expect((await query('SELECT 2', agent)).text).toBe('2\n');
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
  agent.destroy();
  expect((await runByRole('SELECT 43')).text).toContain('[43]');
});

it('clients refuse a certificate that is for another host, or expired', async () => {
  const untilFailure = (code: string) =>
    until(
      () =>
        requestTls(`${service.url}/ping`, { ca }).then(
          () => 'accepted',
          (error) => error.code,
        ),
      (result) => result === code,
      `no client gets ${code}`,
    );
  files.write(files.issue({ hosts: ['elsewhere.test'] }));
  await untilFailure('ERR_TLS_CERT_ALTNAME_INVALID');
  // The server itself knows the file.
  expect((await runByRole('SELECT 44', { servername: 'elsewhere.test' })).text).toContain('[44]');
  files.write(files.issue({ days: -1 }));
  await untilFailure('CERT_HAS_EXPIRED');
});
