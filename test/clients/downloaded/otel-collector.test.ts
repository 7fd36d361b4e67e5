import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { SIGNALS } from '../../../src/observability/ingest/wire/otlp-messages.ts';
import { findFreePort } from '../../../src/platform/listener/listener.ts';
import { readRows } from '../../support/engine-rows.ts';
import { acme, globex, initech } from '../../support/fleet.ts';
import { createIngestToken, useIngest } from '../../support/ingest.ts';
import { send } from '../../support/otlp-client.ts';
import { createFullRequest } from '../../support/otlp-requests.ts';
import { until } from '../../support/until.ts';
import { buildGoProgram, describeClient } from '../install.ts';

const NAME = 'otel-collector';
const SOURCE = join(import.meta.dirname, '../go/collector');
const TABLES = [
  'otel_logs',
  'otel_traces',
  'otel_metrics_gauge',
  'otel_metrics_sum',
  'otel_metrics_histogram',
  'otel_metrics_exponential_histogram',
  'otel_metrics_summary',
];

describeClient(
  'the OpenTelemetry collector 0.120.0',
  () => buildGoProgram(NAME, SOURCE),
  (programs) => {
    const used = useIngest('libsql');
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-collector-'));
    let collector: ChildProcess | undefined;
    let url = '';
    let log = '';

    /** The same data for three organizations, each over another protocol. */
    beforeAll(async () => {
      const { server } = used;
      const withToken = async (organization: typeof initech) => ({
        headers: { authorization: `Bearer ${await createIngestToken(server.url, organization)}` },
      });
      const exporters = {
        otlphttp: { endpoint: server.otlpUrl, ...(await withToken(acme)) },
        'otlphttp/json': { endpoint: `${server.url}/otlp`, encoding: 'json', ...(await withToken(globex)) },
        otlp: {
          endpoint: `127.0.0.1:${server.otlpGrpcPort}`,
          tls: { insecure: true },
          ...(await withToken(initech)),
        },
      };
      const endpoint = `127.0.0.1:${await findFreePort()}`;
      const pipeline = { receivers: ['otlp'], exporters: Object.keys(exporters) };
      const config = {
        receivers: { otlp: { protocols: { http: { endpoint } } } },
        exporters,
        service: {
          telemetry: { metrics: { level: 'none' } },
          pipelines: { logs: pipeline, traces: pipeline, metrics: pipeline },
        },
      };
      const file = join(directory, 'config.yaml');
      writeFileSync(file, stringify(config));
      collector = spawn(join(programs, NAME), ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
      collector.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
      url = `http://${endpoint}`;
    });
    afterAll(async () => {
      collector?.kill();
      if (collector && collector.exitCode === null) await once(collector, 'exit');
      rmSync(directory, { recursive: true, force: true });
    });

    it('forwards everything over HTTP with protobuf, HTTP with JSON, and gRPC', { timeout: 180_000 }, async () => {
      await until(
        async () => log,
        (text) => text.includes('Everything is ready'),
        'the collector does not start',
      );
      const now = Date.now();
      for (const signal of SIGNALS)
        expect((await send({ url }, signal, createFullRequest(signal, now))).status).toBe(200);
      const { server } = used;
      const direct = { url: server.otlpUrl, authorization: used.acme };
      for (const signal of SIGNALS)
        expect((await send(direct, signal, createFullRequest(signal, now))).json).toEqual({});
      for (const table of TABLES) {
        const read = (id: string) =>
          readRows(server.engine, table, id, { order: table.includes('gauge') ? 'Value' : '1' });
        const [expected, ...others] = await until(
          async () => {
            const [ours = [], ...theirs] = await Promise.all([acme.id, globex.id, initech.id].map(read));
            // The rows that were sent directly, and those of the collector.
            return [ours.filter((_, index) => index % 2 === 0), ours.filter((_, index) => index % 2 === 1), ...theirs];
          },
          (lists) => lists.every(({ length }) => length > 0 && length === lists[0]?.length),
          `the collector does not send all rows of ${table}: ${log.slice(-2000)}`,
        );
        for (const rows of others) expect(rows.map((row) => ({ ...row, OrganizationId: acme.id }))).toEqual(expected);
      }
    });
  },
);
