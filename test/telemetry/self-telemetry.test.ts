import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { OWN_TABLES, TABLES } from '../../src/observability/own-telemetry/rows.ts';
import { openSelfTelemetry } from '../../src/observability/own-telemetry/self-telemetry.ts';
import type { Engine } from '../../src/platform/engine/engine.ts';
import { openEngine } from '../../src/platform/engine/open.ts';
import { createMetrics } from '../../src/platform/http/monitoring/metrics.ts';
import { acme, globex, initech } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer, withEngine } from '../support/in-process-server.ts';
import { until } from '../support/until.ts';

// Each test starts engines.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

type Key = { keyId: string; keySecret: string };
const basic = ({ keyId, keySecret }: Key) => `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`;
const get = (server: InProcessServer, path: string, authorization?: string) =>
  fetch(`${server.url}${path}`, authorization === undefined ? {} : { headers: { authorization } });
const servicePath = ({ id, primary }: { id: string; primary: string }) => `/v1/organizations/${id}/services/${primary}`;

const selectRows = (engine: Engine, columns: string, table: string, requestId: string | null) =>
  engine.query({
    sql: `SELECT ${columns} FROM pilothouse.${table} WHERE TraceId = {trace:String}`,
    parameters: { trace: (requestId ?? '').replaceAll('-', '') },
  });

const everything = async (engine: Engine): Promise<string> => {
  const tables = await Promise.all(
    [...Object.values(TABLES), ...Object.values(OWN_TABLES)].map((table) =>
      engine.query({ sql: `SELECT * FROM pilothouse.${table}`, parameters: {} }),
    ),
  );
  return JSON.stringify(tables);
};

describe('self-telemetry', () => {
  let server: InProcessServer;
  beforeAll(async () => {
    server = await openInProcessServer({ telemetryOrganization: initech.id });
    await server.engine.start();
  });
  afterAll(() => server?.remove());

  const untilWritten = (requestId: string | null) =>
    until(
      () => selectRows(server.engine, 'OrganizationId, Body', OWN_TABLES.logs, requestId),
      (rows) => rows.length > 0,
      'the request is not written to the engine',
    );

  it('has a log row and a span for each request, owned by its organization', async () => {
    const response = await get(server, servicePath(acme), basic(acme.admin));
    const other = await get(server, servicePath(globex), basic(globex.admin));
    const requestId = response.headers.get('x-request-id');
    const route = '/v1/organizations/{organizationId}/services/{serviceId}';
    expect(await untilWritten(requestId)).toEqual([[acme.id, `GET ${route} 200`]]);
    expect(await untilWritten(other.headers.get('x-request-id'))).toEqual([[globex.id, `GET ${route} 200`]]);

    const logColumns = 'ServiceName, SeverityText, SeverityNumber, LogAttributes, mapKeys(ResourceAttributes)';
    const [log] = await selectRows(server.engine, logColumns, OWN_TABLES.logs, requestId);
    expect(log).toEqual([
      'pilothouse',
      'INFO',
      9,
      {
        'http.request.method': 'GET',
        'http.route': route,
        'http.response.status_code': '200',
        operation: 'instanceGet',
        'credential.suffix': acme.admin.keyId.slice(-4),
        'request.id': requestId,
        duration_ms: expect.stringMatching(/^\d+(\.\d+)?$/),
      },
      ['service.name', 'service.version', 'service.instance.id'],
    ]);
    const spanColumns = 'OrganizationId, SpanName, SpanKind, StatusCode, ParentSpanId, Duration > 0, SpanAttributes';
    const [span] = await selectRows(server.engine, spanColumns, OWN_TABLES.traces, requestId);
    expect(span).toMatchObject([acme.id, `GET ${route}`, 'Server', 'Unset', '', 1, { operation: 'instanceGet' }]);
  });

  it('assigns unauthenticated requests to the configured organization, without their path', async () => {
    const anonymous = await get(server, servicePath(acme));
    const unknown = await get(server, '/v1/nothing-here?token=secret');
    const route = '/v1/organizations/{organizationId}/services/{serviceId}';
    expect(await untilWritten(anonymous.headers.get('x-request-id'))).toEqual([[initech.id, `GET ${route} 401`]]);
    expect(await untilWritten(unknown.headers.get('x-request-id'))).toEqual([[initech.id, 'GET unknown 404']]);
  });

  it('counts written rows, and contains no secret, token, query or header', async () => {
    const before = (await server.metrics()).get('pilothouse_telemetry_written_total') ?? 0;
    const confidential = ['wrong-secret-to-hide', 'token-in-the-query', 'secret-in-the-path', 'header-to-hide'];
    const wrong = basic({ keyId: acme.admin.keyId, keySecret: 'wrong-secret-to-hide' });
    await get(server, `/v1/organizations/${acme.id}?token=token-in-the-query`, basic(acme.admin));
    await get(server, '/v1/secret-in-the-path', basic(acme.admin));
    await get(server, `/v1/organizations/${acme.id}/services/secret-in-the-path`, basic(acme.admin));
    await get(server, `/v1/organizations/${acme.id}`, 'Digest header-to-hide');
    await get(server, '/api/v2/dashboards', `Bearer ${acme.token}`);
    const last = await get(server, `/v1/organizations/${acme.id}`, wrong);
    await untilWritten(last.headers.get('x-request-id'));
    // The rows are written before they are counted.
    await until(
      async () => (await server.metrics()).get('pilothouse_telemetry_written_total') ?? 0,
      (written) => written >= before + 12,
      'the written rows are not counted',
    );
    const text = await everything(server.engine);
    const secrets = [...confidential, acme.admin.keyId, acme.admin.keySecret, acme.token, basic(acme.admin), wrong];
    for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

describe('self-telemetry at shutdown', () => {
  it('writes the buffered rows and the metrics of each organization', async () => {
    const server = await openInProcessServer({ telemetryOrganization: initech.id });
    try {
      await server.engine.start();
      for (let call = 0; call < 3; call++) await get(server, servicePath(acme), basic(acme.admin));
      await get(server, servicePath(globex), basic(globex.admin));
      await server.close();
      const { logs, requests, durations, own } = await withEngine(server.dataDirectory, async (engine) => {
        const all = (sql: string) => engine.query({ sql, parameters: {} });
        return {
          logs: await all('SELECT OrganizationId, count() FROM pilothouse.pilothouse_logs GROUP BY 1 ORDER BY 2 DESC'),
          requests: await all(
            "SELECT OrganizationId, Value, IsMonotonic, AggregationTemporality FROM pilothouse.pilothouse_metrics_sum WHERE MetricName = 'http.server.requests' ORDER BY Value DESC",
          ),
          durations: await all(
            "SELECT OrganizationId, Count, arraySum(BucketCounts) = Count, length(BucketCounts) - length(ExplicitBounds), TimeUnix > StartTimeUnix FROM pilothouse.pilothouse_metrics_histogram WHERE MetricName = 'http.server.request.duration' ORDER BY Count DESC",
          ),
          own: await all(
            `SELECT DISTINCT MetricName FROM (SELECT MetricName, OrganizationId FROM pilothouse.pilothouse_metrics_gauge UNION ALL SELECT MetricName, OrganizationId FROM pilothouse.pilothouse_metrics_histogram) WHERE OrganizationId = '${initech.id}' ORDER BY 1`,
          ),
        };
      });
      expect(logs).toEqual([
        [acme.id, 3],
        [globex.id, 1],
      ]);
      expect(requests).toEqual([
        [acme.id, 3, true, 2],
        [globex.id, 1, true, 2],
      ]);
      expect(durations).toEqual([
        [acme.id, 3, 1, 1, 1],
        [globex.id, 1, 1, 1, 1],
      ]);
      expect(own.flat()).toEqual([
        'nodejs.eventloop.delay.p99',
        'nodejs.heap.used',
        'process.memory.rss',
        'store.commit.duration',
        'store.query.duration',
      ]);
    } finally {
      await server.remove();
    }
  });
});

describe('an engine without queries', () => {
  const servers: InProcessServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.remove();
  });
  const open = async (...flags: Parameters<typeof openInProcessServer>) => {
    const server = await openInProcessServer(...flags);
    servers.push(server);
    return server;
  };

  it('is not started for telemetry, not even at shutdown', async () => {
    const server = await open();
    // Longer than the write interval.
    for (const endMs = Date.now() + 3500; Date.now() < endMs; ) await get(server, servicePath(acme), basic(acme.admin));
    expect((await server.metrics()).get('pilothouse_telemetry_written_total')).toBe(0);
    expect(server.engine.isRunning()).toBe(false);
    await server.close();
    expect(existsSync(join(server.dataDirectory, 'engine'))).toBe(false);
  });

  it('has no telemetry counters with --telemetry off', async () => {
    const server = await open({ telemetry: 'off' });
    await get(server, servicePath(acme), basic(acme.admin));
    expect([...(await server.metrics()).keys()].filter((name) => name.includes('telemetry'))).toEqual([]);
  });

  it('drops the oldest rows of a full buffer and counts them', async () => {
    const telemetry = openWithoutEngine(10);
    for (let call = 0; call < 25; call++) telemetry.request({ ...REQUEST, requestId: `request-${call}` });
    expect(telemetry.counts()).toMatchObject({ written: 0, dropped: { full: 30, stopped: 0 } });
    await telemetry.close();
    expect(telemetry.counts()).toMatchObject({ written: 0, dropped: { full: 30, stopped: 20 } });
  });

  it('samples requests above the write limit, but writes every server error', async () => {
    const telemetry = openWithoutEngine(100_000);
    const send = async (status: number) => {
      for (let call = 0; call < 2000; call++) telemetry.request({ ...REQUEST, requestId: `request-${call}`, status });
      return telemetry.counts().dropped.sampled;
    };
    await until(
      () => send(200),
      (sampled) => sampled > 0,
      'no requests are sampled',
    );
    const before = telemetry.counts().dropped.sampled;
    expect(await send(500)).toBe(before);
    expect(await send(200)).toBeGreaterThan(before);
    await telemetry.close();
  });
});

/** Uses an engine that is never started. */
const openWithoutEngine = (bufferedRequests: number) =>
  openSelfTelemetry({
    engine: openEngine({ dataDirectory: join(tmpdir(), 'pilothouse-never-created'), clock: systemClock, log: silent }),
    clock: systemClock,
    log: silent,
    version: '0',
    metrics: createMetrics(),
    operatorId: '',
    bufferedRequests,
  });

const silent = { debug() {}, info() {}, warn() {} };
const REQUEST = {
  operation: 'instanceGet',
  method: 'GET',
  route: '/v1/organizations/:organizationId',
  status: 200,
  ms: 1,
  key: undefined,
  organizationId: undefined,
};
