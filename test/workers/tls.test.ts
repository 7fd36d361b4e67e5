import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createCertificateFiles } from '../support/certificates.ts';
import { acme } from '../support/fleet.ts';
import { useServer } from '../support/server.ts';
import { basic, readSerial, requestTls } from '../support/tls-client.ts';
import { until } from '../support/until.ts';

const files = createCertificateFiles();
const { ca } = files;
afterAll(files.remove);

const server = useServer('libsql', {
  inProcess: false,
  args: ['--workers', '2', '--tls-cert', files.certFile, '--tls-key', files.keyFile],
});
const headers = { authorization: basic(acme.admin.keyId, acme.admin.keySecret), 'content-type': 'application/json' };

async function createToken(): Promise<string> {
  const path = `${server.url}/v1/organizations/${acme.id}/dashboardTokens`;
  const body = JSON.stringify({ name: 'sender', access: 'ingest' });
  return (await requestTls(path, { ca, method: 'POST', headers, body })).json.result.token;
}

it('every worker uses the certificate, and a renewed one', async () => {
  const readAll = () => Promise.all(Array.from({ length: 6 }, () => readSerial(Number(new URL(server.url).port), ca)));
  const before = new Set(await readAll());
  expect(before.size).toBe(1);
  files.write(files.issue());
  const [serial = ''] = before;
  await until(readAll, (serials) => !serials.includes(serial), 'a worker has the old certificate');
  expect((await requestTls(`${server.url}/v1/organizations`, { ca, headers })).status).toBe(200);
});

/** Without any configuration in its code. */
const INSTRUMENTED_APP = `
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const { logs } = require('@opentelemetry/api-logs');
  const sdk = new NodeSDK();
  sdk.start();
  logs.getLogger('app').emit({ body: 'started' });
  sdk.shutdown();
`;

it("OpenTelemetry's SDK sends over HTTPS with the authority in its variables", async () => {
  const environment = {
    PATH: process.env.PATH,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${server.url}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${await createToken()}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_CERTIFICATE: files.caFile,
    // The engine starts with the first request, which takes longer than the default on a busy machine.
    OTEL_EXPORTER_OTLP_TIMEOUT: '50000',
    OTEL_BLRP_EXPORT_TIMEOUT: '50000',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_SERVICE_NAME: 'over-tls',
  };
  await promisify(execFile)(process.execPath, ['-e', INSTRUMENTED_APP], { env: environment });
  await until(
    async () => (await requestTls(`${server.url}/metrics`, { ca })).text,
    (text) => /^pilothouse_ingest_records_total\{signal="logs",outcome="accepted"\} [1-9]/m.test(text),
    'no log was accepted',
  );
});
