import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLUSTER, type ClickHouseCluster, startClickHouseCluster } from '../support/clickhouse-cluster.ts';
import { createClient, type Json } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { logRecord, span, toRequest } from '../support/otlp-requests.ts';
import { START_LIMIT_MS } from '../support/server.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-cluster-'));
const RECORDS = 200;
let cluster: ClickHouseCluster;
let server: InProcessServer;
const call = createClient(() => ({ url: server.url, dashboardUrl: server.url }));

beforeAll(async () => {
  cluster = await startClickHouseCluster(directory);
  server = await openInProcessServer({ telemetry: 'off', clickhouseUrl: cluster.url, clickhouseCluster: CLUSTER });
}, START_LIMIT_MS);
afterAll(async () => {
  await server?.remove();
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
}, START_LIMIT_MS);

const toTraceId = (index: number): string => (index + 1).toString(16).padStart(32, '0');

it('telemetry that was accepted is on the shards, and all of it is on charts and in reports', async () => {
  const authorization = await createIngestToken(server.url, acme);
  const target = { url: `${server.url}/otlp`, authorization };
  const now = Date.now();
  const records = Array.from({ length: RECORDS }, (_, index) => toTraceId(index % 20));
  const requests = [
    ['logs', records.map((traceId) => logRecord(now, { traceId }))],
    ['traces', records.map((traceId) => span(now, { traceId }))],
  ] as const;
  for (const [signal, list] of requests)
    expect((await send(target, signal, toRequest(signal, list))).status, signal).toBe(200);

  for (const table of ['otel_logs', 'otel_traces']) {
    const sql = `SELECT count(), uniqExact(TraceId) FROM pilothouse.${table}_local`;
    const shards = await Promise.all([0, 1].map(async (shard) => (await cluster.query(shard, sql)).trim().split('\t')));
    expect(
      shards.map(([rows]) => Number(rows)).filter((rows) => rows > 0),
      table,
    ).toHaveLength(2);
    const sum = (column: number) => shards.reduce((total, values) => total + Number(values[column]), 0);
    expect([sum(0), sum(1)], `${table}: each trace is on one shard`).toEqual([RECORDS, 20]);
  }

  const chart = async (token: string): Promise<Json[]> => {
    const series = ['logs', 'traces'].map((sourceId) => ({ sourceId, aggFn: 'count', where: '', groupBy: [] }));
    const body = { startTime: now - 60_000, endTime: now + 60_000, granularity: '1h', series };
    const { status, json } = await call({ method: 'POST', path: '/api/v2/charts/series', token, body });
    expect(status).toBe(200);
    return json.data;
  };
  const counted = (await chart(acme.token)).map((row) => [row['series_0.data'], row['series_1.data']]);
  const total = (column: number) => counted.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
  expect([total(0), total(1)]).toEqual([RECORDS, RECORDS]);
  expect(JSON.stringify(await chart(globex.token))).not.toContain(`${RECORDS}`);

  const path = `/v1/organizations/${acme.id}/telemetry/storage`;
  const { json } = await call({ path, key: acme.admin });
  expect(json.result.signals.slice(0, 2)).toEqual([
    expect.objectContaining({ signal: 'logs', rows: RECORDS, bytesOnDisk: expect.any(Number) }),
    expect.objectContaining({ signal: 'traces', rows: RECORDS, bytesOnDisk: expect.any(Number) }),
  ]);
});
