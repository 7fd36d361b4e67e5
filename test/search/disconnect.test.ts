import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseServer, getWriterUrl, PASSWORDS, startClickHouseServer } from '../support/clickhouse-server.ts';
import { acme } from '../support/fleet.ts';
import { type InProcessServer, openInProcessServer } from '../support/in-process-server.ts';
import { createSearchClient } from '../support/search.ts';
import { START_LIMIT_MS } from '../support/server.ts';
import { until } from '../support/until.ts';

/** Spans of the organization without an end. */
const VIEW = `CREATE VIEW pilothouse.endless AS
  SELECT '${acme.id}' AS OrganizationId, now64(9) - INTERVAL 1 MINUTE AS Timestamp, toString(number) AS TraceId,
    TraceId AS SpanId, '' AS ParentSpanId, 'x' AS SpanName, 'x' AS ServiceName, 'Unset' AS StatusCode, 'Server' AS SpanKind,
    number AS Duration, map('a', 'b') AS SpanAttributes
  FROM numbers(1000000000000)`;

const SOURCE = {
  name: 'endless',
  kind: 'trace',
  connection: 'engine',
  from: { databaseName: 'pilothouse', tableName: 'endless' },
  timestampValueExpression: 'Timestamp',
};

describe('a client that disconnects', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  let clickHouse: ClickHouseServer;
  let server: InProcessServer;
  let sourceId: string;

  async function runAt(user: keyof typeof PASSWORDS, body: string): Promise<string> {
    const url = `http://127.0.0.1:${clickHouse.port}/?user=${user}&password=${PASSWORDS[user]}`;
    const response = await fetch(url, { method: 'POST', body });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  }
  const countRunning = async () =>
    Number(
      await runAt('monitor', "SELECT count() FROM system.processes WHERE query LIKE '%endless%' AND user = 'writer'"),
    );
  const countCanceled = async () =>
    (await server.metrics()).get('pilothouse_engine_query_seconds_count{outcome="canceled"}') ?? 0;

  beforeAll(async () => {
    clickHouse = await startClickHouseServer(directory);
    server = await openInProcessServer({ telemetry: 'off', clickhouseUrl: getWriterUrl(clickHouse) });
    await server.engine.query({ sql: 'SELECT 1', parameters: {} });
    await runAt('writer', VIEW);
    const created = await createSearchClient(() => server.url)('sources', SOURCE, acme.writer);
    expect(created.status, created.text).toBe(200);
    sourceId = created.json.data.id;
  }, START_LIMIT_MS);
  afterAll(async () => {
    await server?.remove();
    await clickHouse?.close();
    rmSync(directory, { recursive: true, force: true });
  }, START_LIMIT_MS);

  it.each([
    ['search', { where: 'TraceId:"x"' }],
    ['search', { orderBy: 'Duration' }],
    ['search/histogram', {}],
    ['search/facets/values', { fields: ['SpanName'] }],
    ['search/context', { time: new Date(Date.now() - 60_000).toISOString(), where: 'TraceId:"x"' }],
    ['search/export', { format: 'ndjson', where: 'TraceId:"x"' }],
    ['search/tail', { where: 'TraceId:"x"' }],
    ['traces/search', { where: 'TraceId:"x"' }],
    ['traces/service-map', {}],
  ])('stops its query: %s %j', async (path, body) => {
    const canceled = await countCanceled();
    const controller = new AbortController();
    const response = fetch(`${server.url}/api/v2/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${acme.token}`,
        'content-type': 'application/json',
        accept: path === 'search/tail' ? 'text/event-stream' : 'application/json',
      },
      body: JSON.stringify({ sourceId, ...body }),
      signal: controller.signal,
    });
    const outcome = response.then(
      async (answer) => `${answer.status} ${await answer.text()}`,
      (error) => error.name,
    );
    await Promise.race([
      until(countRunning, (count) => count > 0, 'no query is running'),
      outcome.then((early) => expect.fail(`the request ended: ${early}`)),
    ]);
    controller.abort();
    expect(await outcome).toBe('AbortError');
    await until(countRunning, (count) => count === 0, 'the query is still running');
    // Its own time limit would count as rejected.
    await until(countCanceled, (count) => count > canceled, 'the query was not canceled');
  });
});
