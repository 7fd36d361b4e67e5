import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { listErrors, useStore } from '../support/cli.ts';
import { type ClickHouseServer, getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import { createClient } from '../support/client.ts';
import { countRows } from '../support/engine-rows.ts';
import { acme, globex } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken, useIngest } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { exportMessage } from '../support/otlp-grpc.ts';
import { logRecord, span, toRequest } from '../support/otlp-requests.ts';
import { createDatabase, MIGRATED } from '../support/postgres.ts';
import { onEachStore, START_LIMIT_MS, useServer } from '../support/server.ts';

const MAX_ROWS = 1000;
const path = `/v1/organizations/${acme.id}/telemetryLimits`;

const logs = (count: number, service: string) =>
  toRequest(
    'logs',
    Array.from({ length: count }, () => ({ body: { stringValue: 'x' } })),
    service,
  );
const ofService = (service: string) => `ServiceName = '${service}'`;

onEachStore('limits of telemetry per organization', (store) => {
  const used = useIngest(store, { ingestRowsPerMinute: String(MAX_ROWS) });
  let second = '';
  beforeAll(async () => {
    second = await createIngestToken(used.server.url, acme);
  });
  const target = (authorization: string) => ({ url: `${used.server.url}/otlp`, authorization });

  it('hold for all tokens together, over HTTP and gRPC, in both formats, and for each signal', async () => {
    expect((await send(target(used.acme), 'logs', logs(MAX_ROWS, 'reached'))).status).toBe(200);
    for (const token of [used.acme, second]) {
      for (const format of ['json', 'protobuf'] as const) {
        const { status, headers, json } = await send(target(token), 'logs', logs(1, 'reached'), format);
        expect([status, json]).toEqual([
          429,
          { code: 8, message: `The organization may send ${MAX_ROWS} rows of logs per minute` },
        ]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(5);
      }
      const { code, retryAfterSeconds } = await exportMessage(
        { port: used.server.otlpGrpcPort, authorization: token },
        'logs',
        encodeRequest('logs', logs(1, 'reached')),
      );
      expect(code).toBe(8);
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(retryAfterSeconds).toBeLessThanOrEqual(5);
    }
    const { engine } = used.server;
    expect(await countRows(engine, 'otel_logs', acme.id, ofService('reached'))).toBe(MAX_ROWS);
    expect((await send(target(second), 'traces', toRequest('traces', [span(Date.now())]))).status).toBe(200);
    expect((await send(target(used.globex), 'logs', logs(1, 'reached'))).status).toBe(200);
    expect(await countRows(engine, 'otel_logs', globex.id, ofService('reached'))).toBe(1);
  });
});

describe.skipIf(inject('postgresUrl') === '')('limits of telemetry on two nodes', () => {
  const nodes: InProcessServer[] = [];
  const tokens: string[] = [];
  let drop = async () => {};
  let clickHouse: ClickHouseServer | undefined;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-limits-'));
  beforeAll(async () => {
    const database = await createDatabase(inject('postgresUrl'), { template: MIGRATED });
    drop = database.drop;
    clickHouse = await startClickHouseServer(directory);
    for (let index = 0; index < 2; index++) {
      const node = await openInProcessServer({
        telemetry: 'off',
        databaseUrl: database.url,
        clickhouseUrl: getWriterUrl(clickHouse),
        ingestRowsPerMinute: String(MAX_ROWS),
      });
      nodes.push(node);
      tokens.push(await createIngestToken(node.url, acme));
    }
  }, 2 * START_LIMIT_MS);
  afterAll(async () => {
    for (const node of nodes) await node.remove();
    await clickHouse?.close();
    await drop();
    rmSync(directory, { recursive: true, force: true });
  }, START_LIMIT_MS);

  it('are one limit, whichever node and token a sender uses', async () => {
    let accepted = 0;
    for (const authorization of tokens)
      for (const { url } of nodes)
        for (let count = 0; count < 8; count++)
          if ((await send({ url: `${url}/otlp`, authorization }, 'logs', logs(100, 'both'))).status === 200)
            accepted += 100;
    // Each node leaves at most one share of 2 %, and passes the limit by one request.
    expect(accepted).toBeGreaterThanOrEqual(MAX_ROWS - 200);
    expect(accepted).toBeLessThanOrEqual(MAX_ROWS + 200);
  });
});

onEachStore('limits of telemetry of an organization', (store) => {
  const server = useServer(store, { args: ['--ingest-rows', '5000'] });
  const get = async (key = acme.admin) => (await server.call({ path, key })).json.result;
  const patch = (body: object, key = acme.admin) => server.call({ method: 'PATCH', path, key, body });

  it('are those of the server until they are changed', async () => {
    const { logs: ofLogs, metrics, maximum } = await get(acme.developer);
    expect(ofLogs).toMatchObject({ rowsPerMinute: 5000, bytesPerMinute: null });
    expect(metrics).toHaveProperty('streamsPerDay');
    expect(ofLogs).not.toHaveProperty('streamsPerDay');
    expect(maximum).toMatchObject({ rowsPerMinute: 5000, bytesPerMinute: null });
  });

  it('are changed one by one, and null is that of the server', async () => {
    const changed = await patch({ logs: { rowsPerMinute: 10, bytesPerMinute: 2000 }, metrics: { streamsPerDay: 7 } });
    expect(changed.json.result).toMatchObject({
      logs: { rowsPerMinute: 10, bytesPerMinute: 2000 },
      traces: { rowsPerMinute: 5000, bytesPerMinute: null },
      metrics: { rowsPerMinute: 5000, streamsPerDay: 7 },
    });
    expect((await patch({ logs: { rowsPerMinute: null } })).json.result.logs).toMatchObject({
      rowsPerMinute: 5000,
      bytesPerMinute: 2000,
    });
    expect((await get()).logs.bytesPerMinute).toBe(2000);
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    expect(json.result[0]).toMatchObject({ type: 'organization_update_name', organizationId: acme.id });
  });

  it.each([
    [{ logs: { rowsPerMinute: 5001 } }, 'request body.logs.rowsPerMinute: The value must be at most 5000'],
    [{ logs: { rowsPerMinute: 0 } }, 'request body.logs.rowsPerMinute'],
    [{ logs: { streamsPerDay: 5 } }, 'request body.logs.streamsPerDay'],
    [{ profiles: {} }, 'request body.profiles'],
  ])('rejects %j', async (body, message) => {
    const { status, json } = await patch(body);
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('R1: are changed by admins of the organization only', async () => {
    expect((await patch({ logs: { rowsPerMinute: 5 } }, acme.developer)).status).toBe(403);
    expect((await patch({ logs: { rowsPerMinute: 5 } }, globex.admin)).status).toBe(404);
  });
});

describe('a lower limit of an organization', () => {
  const used = useIngest('libsql', { ingestRowsPerMinute: '5000' });

  it('applies to its next request, also over gRPC, and not to other organizations', async () => {
    const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
    const body = { logs: { rowsPerMinute: 2 } };
    expect((await call({ method: 'PATCH', path, key: acme.admin, body })).status).toBe(200);
    const sendAs = async (authorization: string, signal: Signal, record: object) =>
      (await send({ url: `${used.server.url}/otlp`, authorization }, signal, toRequest(signal, [record, record])))
        .status;
    const log = logRecord(Date.now());
    expect(await sendAs(used.acme, 'logs', log)).toBe(200);
    expect(await sendAs(used.acme, 'logs', log)).toBe(429);
    expect(await sendAs(used.acme, 'traces', span(Date.now()))).toBe(200);
    for (let count = 0; count < 3; count++) expect(await sendAs(used.globex, 'logs', log)).toBe(200);
  });
});

describe('a fleet file', () => {
  const at = useStore('libsql');
  const declare = (telemetryLimits?: object) => ({
    organizations: [{ id: acme.id, name: 'Acme', ...(telemetryLimits && { telemetryLimits }) }],
  });

  it('sets the limits of telemetry, exports them, resets them and rejects others', async () => {
    const limits = { logs: { rowsPerMinute: 7 }, metrics: { streamsPerDay: 9 } };
    expect(await at.plan(declare(limits))).toEqual(['add organization Acme']);
    expect((await at.exportFirstOrganization()).telemetryLimits).toEqual(limits);
    expect(await at.plan(declare(limits))).toEqual([]);
    expect(await at.plan(declare({}))).toEqual(['change organization Acme']);
    expect(await at.exportFirstOrganization()).not.toHaveProperty('telemetryLimits');
    expect(listErrors(await at.apply(declare({ traces: { streamsPerDay: 7 } })))).toEqual([
      expect.stringContaining('streamsPerDay'),
    ]);
    expect(listErrors(await at.apply(declare({ logs: { rowsPerMinute: 0 } })))).toEqual([
      expect.stringContaining('rowsPerMinute'),
    ]);
  });
});
