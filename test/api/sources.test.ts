import { expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { createDashboard, HEX_ID, tile, write } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, useServer } from '../support/server.ts';

const path = '/api/v2/sources';

const METRIC_TABLES = {
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  summary: 'otel_metrics_summary',
  'exponential histogram': 'otel_metrics_exponential_histogram',
};

onEachStore('sources', (store) => {
  const server = useServer(store);
  const call = (method: string, suffix = '', body?: unknown, token = acme.writer) =>
    server.call({ method, path: path + suffix, token, ...(body === undefined ? {} : { body }) });
  const createSource = async (body: object): Promise<Json> => {
    const { status, json, text } = await call('POST', '', body);
    expect(status, text).toBe(200);
    return json.data;
  };

  it('lists the built-in sources first, with the OpenTelemetry tables', async () => {
    const { json } = await call('GET', '', undefined, acme.token);
    const from = (tableName: string) => ({ databaseName: 'pilothouse', tableName });
    expect(json.data.slice(0, 3)).toEqual([
      {
        id: 'logs',
        name: 'Logs',
        kind: 'log',
        from: from('otel_logs'),
        timestampValueExpression: 'Timestamp',
        implicitColumnExpression: 'Body',
        bodyExpression: 'Body',
        connection: 'engine',
        defaultTableSelectExpression: 'Timestamp, ServiceName, SeverityText, Body',
      },
      {
        id: 'traces',
        name: 'Traces',
        kind: 'trace',
        from: from('otel_traces'),
        timestampValueExpression: 'Timestamp',
        implicitColumnExpression: 'SpanName',
        bodyExpression: 'SpanName',
        durationExpression: 'Duration',
        durationPrecision: 9,
        connection: 'engine',
        defaultTableSelectExpression: 'Timestamp, ServiceName, StatusCode, Duration, SpanName',
        traceIdExpression: 'TraceId',
        spanIdExpression: 'SpanId',
        parentSpanIdExpression: 'ParentSpanId',
        spanNameExpression: 'SpanName',
        spanKindExpression: 'SpanKind',
        logSourceId: 'logs',
      },
      {
        id: 'metrics',
        name: 'Metrics',
        kind: 'metric',
        from: from(''),
        timestampValueExpression: 'TimeUnix',
        metricTables: METRIC_TABLES,
        connection: 'engine',
        resourceAttributesExpression: 'ResourceAttributes',
      },
    ]);
    expect(
      json.data.slice(3, 6).map(({ id, kind, from, metricTables }: Json) => [id, kind, metricTables ?? from]),
    ).toEqual([
      ['pilothouse-logs', 'log', from('pilothouse_logs')],
      ['pilothouse-traces', 'trace', from('pilothouse_traces')],
      [
        'pilothouse-metrics',
        'metric',
        {
          gauge: 'pilothouse_metrics_gauge',
          sum: 'pilothouse_metrics_sum',
          histogram: 'pilothouse_metrics_histogram',
        },
      ],
    ]);
    for (const builtIn of json.data.slice(0, 6))
      expect((await call('GET', `/${builtIn.id}`)).json.data).toEqual(builtIn);
  });

  it.each([
    ['log', 'logs'],
    ['trace', 'traces'],
    ['metric', 'metrics'],
  ])('a %s requires a name and a kind; the record has what was sent, and where to read', async (kind, builtInId) => {
    const source = await createSource({ name: 'mine', kind, more: 'ignored' });
    const { from, timestampValueExpression } = (await call('GET', `/${builtInId}`)).json.data;
    const id = expect.stringMatching(HEX_ID);
    expect(source).toEqual({ id, name: 'mine', kind, from, timestampValueExpression, connection: 'engine' });
    expect((await call('GET', `/${source.id}`)).json.data).toEqual(source);
    expect((await call('GET')).json.data.slice(6)).toContainEqual(source);
  });

  it.each([
    ['log', { aggFn: 'count', where: 'word' }],
    ['trace', { aggFn: 'count', where: 'word' }],
    ['metric', { aggFn: 'avg', where: '', metricName: 'cpu' }],
  ])('queries use the defaults of a %s for what was not sent', async (kind, series) => {
    const { id } = await createSource({ name: 'mine', kind });
    const body = {
      series: [{ sourceId: id, groupBy: [], ...series }],
      startTime: 1_700_000_000_000,
      endTime: 1_700_000_060_000,
      granularity: '1m',
    };
    const { status, text } = await server.call({
      method: 'POST',
      path: '/api/v2/charts/series',
      token: acme.token,
      body,
    });
    expect(status, text).toBe(200);
  });

  it('accepts any other table, and PUT replaces the whole source', async () => {
    const body = {
      name: 'shop',
      kind: 'log',
      from: { databaseName: 'shop', tableName: 'events' },
      timestampValueExpression: 'At',
      implicitColumnExpression: 'Message.Text',
      bodyExpression: 'Message.Text',
      connection: 'engine',
      defaultTableSelectExpression: 'At, Message',
    };
    const source = await createSource(body);
    expect(source).toEqual({ id: source.id, ...body });
    const replaced = await call('PUT', `/${source.id}`, { name: 'shop', kind: 'metric', metricTables: { gauge: 'g' } });
    expect(replaced.json.data).toEqual({
      id: source.id,
      name: 'shop',
      kind: 'metric',
      from: { databaseName: 'pilothouse', tableName: '' },
      timestampValueExpression: 'TimeUnix',
      metricTables: { gauge: 'g' },
      connection: 'engine',
    });
    expect((await call('GET', `/${source.id}`)).json).toEqual(replaced.json);
  });

  it.each([
    {
      kind: 'log',
      section: 'Shop',
      disabled: false,
      connection: 'engine',
      from: { databaseName: 'shop', tableName: 'events' },
      querySettings: [{ setting: 'max_threads', value: '4' }],
      filterSettings: {
        databaseName: 'shop',
        tableName: 'rollup',
        columns: [{ name: 'a', label: 'A', allowAll: true }],
      },
      defaultTableSelectExpression: "At, LogAttributes['x'], Body",
      timestampValueExpression: 'At',
      serviceNameExpression: 'ServiceName',
      serviceVersionExpression: "ResourceAttributes['service.version']",
      severityTextExpression: 'SeverityText',
      bodyExpression: 'Body',
      eventAttributesExpression: 'LogAttributes',
      resourceAttributesExpression: 'ResourceAttributes',
      displayedTimestampValueExpression: 'At',
      orderByExpression: 'At DESC',
      metricSourceId: 'metrics',
      traceSourceId: 'traces',
      traceIdExpression: 'TraceId',
      spanIdExpression: 'SpanId',
      implicitColumnExpression: 'Body',
      knownColumnsListExpression: 'Body, At',
      useTextIndexForImplicitColumn: 'auto',
      highlightedTraceAttributeExpressions: [{ sqlExpression: 'a', luceneExpression: 'b', alias: 'c' }],
      highlightedRowAttributeExpressions: [{ sqlExpression: 'a' }],
      materializedViews: [
        {
          databaseName: 'shop',
          tableName: 'mv',
          dimensionColumns: 'a, b',
          minGranularity: '1 minute',
          timestampColumn: 'At',
          aggregatedColumns: [{ sourceColumn: 'x', aggFn: 'sum', mvColumn: 'sum__x' }],
        },
      ],
      metadataMaterializedViews: { keyRollupTable: 'k', kvRollupTable: 'kv', granularity: '1 hour' },
    },
    {
      kind: 'trace',
      connection: 'engine',
      from: { databaseName: 'shop', tableName: 'spans' },
      defaultTableSelectExpression: 'At',
      timestampValueExpression: 'At',
      implicitColumnExpression: 'Name',
      bodyExpression: 'Name',
      durationExpression: 'Ms',
      durationPrecision: 3,
      traceIdExpression: 'Trace',
      spanIdExpression: 'Span',
      parentSpanIdExpression: 'Parent',
      spanNameExpression: 'Name',
      spanKindExpression: 'Kind',
      logSourceId: 'logs',
      sessionSourceId: 'sessions',
      statusCodeExpression: 'Status',
      statusMessageExpression: 'Message',
      sampleRateExpression: 'SampleRate',
      spanEventsValueExpression: 'Events',
      spanLinksValueExpression: 'Links',
    },
    {
      kind: 'metric',
      connection: 'engine',
      from: { databaseName: 'shop', tableName: '' },
      metricTables: { gauge: 'g' },
      timestampValueExpression: 'TimeUnix',
      resourceAttributesExpression: 'Resource',
      logSourceId: 'logs',
    },
  ])('keeps every member that clients write: $kind', async (members) => {
    const body = { name: 'kept', ...members };
    const source = await createSource(body);
    expect(source).toEqual({ id: source.id, ...body });
    const again = await call('PUT', `/${source.id}`, source);
    expect([again.status, again.json.data]).toEqual([200, source]);
    expect((await call('GET', `/${source.id}`)).json.data).toEqual(source);
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=1`, key: acme.admin });
    expect(json.result[0]).toMatchObject({ activityType: 'dashboard_source_create', resourceId: source.id });
  });

  it.each<[Json, string]>([
    [{}, 'name'],
    [{ name: 'x' }, 'kind'],
    [{ name: '', kind: 'log' }, 'name'],
    [{ name: 'x', kind: 'session' }, 'kind'],
    [{ name: 'x', kind: 'log', from: { tableName: '' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: 'a b' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: 'system.tables' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: 'x; DROP TABLE y' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: 'file(1)' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: '`x`' } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { tableName: 'x'.repeat(129) } }, 'from.tableName'],
    [{ name: 'x', kind: 'log', from: { databaseName: 'system' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', from: { databaseName: 'System' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', from: { databaseName: 'information_schema' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', from: { databaseName: 'INFORMATION_SCHEMA' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', from: { databaseName: '1x' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', from: { databaseName: 'x\ny' } }, 'from.databaseName'],
    [{ name: 'x', kind: 'log', timestampValueExpression: 'now()' }, 'timestampValueExpression'],
    [{ name: 'x', kind: 'log', implicitColumnExpression: '(SELECT 1)' }, 'implicitColumnExpression'],
    [{ name: 'x', kind: 'log', bodyExpression: "Body'--" }, 'bodyExpression'],
    [{ name: 'x', kind: 'log', bodyExpression: 'Bödy' }, 'bodyExpression'],
    [{ name: 'x', kind: 'log', metricTables: {} }, 'metricTables'],
    [{ name: 'x', kind: 'metric', from: { tableName: 'x' } }, 'from.tableName'],
    [{ name: 'x', kind: 'metric', metricTables: { gauge: 'a.b' } }, 'metricTables.gauge'],
    [{ name: 'x', kind: 'log', connection: 'local' }, 'connection'],
    [{ name: 'x', kind: 'log', connection: '' }, 'connection'],
    [{ name: 'x', kind: 'log', eventAttributesExpression: 'a\u0000b' }, 'eventAttributesExpression'],
    [{ name: 'x', kind: 'log', querySettings: Array(101).fill({ setting: 'a', value: 'b' }) }, 'querySettings'],
  ])('D1: %j returns 400 at %s, and nothing is stored', async (body, errorPath) => {
    const before = (await call('GET')).json;
    const { id } = before.data.at(-1);
    for (const response of [await call('POST', '', body), await call('PUT', `/${id}`, body)]) {
      expect([response.status, response.json.errors?.[0]?.path]).toEqual([400, errorPath]);
      expect(response.json.message).toMatch(/^Body validation failed: /);
    }
    expect((await call('GET')).json).toEqual(before);
  });

  it('a built-in source cannot be changed', async () => {
    for (const id of ['logs', 'traces', 'metrics', 'pilothouse-logs']) {
      for (const { status, json } of [
        await call('PUT', `/${id}`, { name: 'x', kind: 'log' }),
        await call('DELETE', `/${id}`),
      ])
        expect([status, json]).toEqual([409, { message: expect.stringContaining(id) }]);
    }
  });

  it('a source cannot be deleted while a dashboard uses it', async () => {
    const { id } = await createSource({ name: 'used', kind: 'log' });
    const series = [{ type: 'time', aggFn: 'count', sourceId: id }];
    const { data } = await createDashboard(server, { name: 'Reader', tiles: [tile({ series })] });
    const rejected = await call('DELETE', `/${id}`);
    expect([rejected.status, rejected.json.message]).toEqual([409, expect.stringContaining(`Reader (${data.id})`)]);
    await write(server, 'PUT', `/${data.id}`, { name: 'Reader' });
    const deleted = await call('DELETE', `/${id}`);
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    expect((await call('GET', `/${id}`)).status).toBe(404);
    const restored = await write(server, 'PUT', `/${data.id}`, { name: 'Reader', tiles: [tile({ series })] });
    expect(restored.json.message).toBe(`Could not find the following source IDs: ${id}`);
  });

  it('R2: a read-only token cannot change a source', async () => {
    const { id } = await createSource({ name: 'x', kind: 'log' });
    for (const [method, suffix, body] of [
      ['POST', '', { name: 'x', kind: 'log' }],
      ['PUT', `/${id}`, { name: 'x', kind: 'log' }],
      ['DELETE', `/${id}`],
    ] as const)
      expect((await call(method, suffix, body, acme.token)).status).toBe(403);
  });

  it('D1: sources of another organization and invalid ids are not found', async () => {
    expect((await call('GET', `/${globex.dashboard}`, undefined, globex.token)).status).toBe(200);
    for (const id of [globex.dashboard, 'f'.repeat(24), 'a%20b', 'x'.repeat(65)]) {
      for (const [method, body] of [['GET'], ['PUT', { name: 'x', kind: 'log' }], ['DELETE']] as const) {
        const { status, json } = await call(method, `/${id}`, body);
        expect([status, json]).toEqual([404, { message: 'Source not found' }]);
      }
    }
    expect((await call('GET')).text).not.toContain('Globex');
  });

  it('B6: every change to a source is in the audit log', async () => {
    const source = await createSource({ name: 'audited', kind: 'log' });
    await call('PUT', `/${source.id}`, { name: 'audited', kind: 'log' });
    await call('PUT', `/${source.id}`, { name: 'renamed', kind: 'log' });
    await call('DELETE', `/${source.id}`);
    const { json } = await server.call({ path: `/v1/organizations/${acme.id}/activities?limit=3`, key: acme.admin });
    const known = { resourceType: 'source', resourceId: source.id, actorDetails: 'editor' };
    expect(json.result).toEqual([
      expect.objectContaining({
        ...known,
        activityType: 'dashboard_source_delete',
        before: { ...source, name: 'renamed' },
      }),
      expect.objectContaining({
        ...known,
        activityType: 'dashboard_source_update',
        before: { name: 'audited' },
        after: { name: 'renamed' },
      }),
      expect.objectContaining({ ...known, activityType: 'dashboard_source_create', after: source }),
    ]);
  });
});
