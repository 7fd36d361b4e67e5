import { describe, expect, it } from 'vitest';
import { createClient, type Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { useIngest } from '../support/ingest.ts';
import { until } from '../support/until.ts';
import { newTraceId, post, sendLogs, sendSpans } from './support.ts';

describe('traces of other sources', () => {
  const used = useIngest('libsql', { telemetry: 'on' });
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const target = () => ({ url: used.server.otlpUrl, authorization: used.acme });
  const createSource = async (body: object): Promise<string> => {
    const { status, json, text } = await call({ method: 'POST', path: '/api/v2/sources', token: acme.writer, body });
    expect(status, text).toBe(200);
    return json.data.id;
  };
  const get = (id: string, query: string) => call({ path: `/api/v2/traces/${id}?${query}`, token: acme.token });

  it('use the expressions of the source', async () => {
    const custom = newTraceId();
    const at = Date.now();
    const attributes = { request: custom };
    await sendSpans(target(), newTraceId(), at, [
      { id: 'root', kind: 'server', from: 0, to: 10, attributes },
      { id: 'child', parent: 'root', from: 2, to: 5, attributes },
    ]);
    await sendLogs(target(), custom, at, [{ at: 1, body: 'found' }]);
    const logSourceId = await createSource({ name: 'logs', kind: 'log', bodyExpression: 'SeverityText' });
    const sourceId = await createSource({
      name: 'custom',
      kind: 'trace',
      traceIdExpression: "SpanAttributes['request']",
      spanNameExpression: "concat(SpanKind, ' ', SpanName)",
      serviceNameExpression: "upper(ResourceAttributes['service.name'])",
      statusMessageExpression: "''",
      durationExpression: 'Duration',
      durationPrecision: 6,
      logSourceId,
    });
    const { status, json, text } = await get(custom, `sourceId=${sourceId}`);
    expect(status, text).toBe(200);
    expect(json.data.spans.map(({ name, service, durationNs }: Json) => [name, service, durationNs])).toEqual([
      ['Server root', 'WEB', 10e9],
      ['Internal child', 'WEB', 3e9],
    ]);
    expect(json.data.logs.map(({ body }: Json) => body)).toEqual(['INFO']);
    expect(json.data.logSourceId).toBe(logSourceId);
    const operations = await post(call, acme.token, 'operations', { sourceId, where: 'SpanName:root' });
    expect(operations.json.data.operations).toEqual([
      expect.objectContaining({ service: 'WEB', name: 'Server root', totalNs: 10e9, selfTimeNs: 7e9 }),
    ]);
  });

  it('a member that a source lacks or that cannot be used is named', async () => {
    const lacking = await createSource({ name: 'lacking', kind: 'trace', from: { tableName: 'otel_logs' } });
    const wrong = await createSource({ name: 'wrong', kind: 'trace', spanIdExpression: 'SpanIdd' });
    const messages = await Promise.all(
      [
        get(newTraceId(), `sourceId=${lacking}`),
        ...['operations', 'search', 'service-map'].flatMap((path) =>
          [lacking, wrong].map((sourceId) => post(call, acme.token, path, { sourceId })),
        ),
      ].map(async (response) => [(await response).status, (await response).json.message]),
    );
    for (const [status] of messages) expect([200, 400, 404]).toContain(status);
    const missing = (member: string, column: string) =>
      `sourceId: The source ${lacking} has no ${member}, and its table pilothouse.otel_logs has no column ${column}`;
    const unusable = `sourceId: The spanIdExpression of the source ${wrong} cannot be used: Unknown column "SpanIdd"; did you mean "SpanId"?`;
    expect(messages.map(([, message]) => message)).toEqual(
      expect.arrayContaining([
        missing('parentSpanIdExpression', 'ParentSpanId'),
        missing('durationExpression', 'Duration'),
        unusable,
      ]),
    );
  });

  it('a change leads from the audit log to its trace', async () => {
    const organization = `/v1/organizations/${acme.id}`;
    const path = `${organization}/services/${acme.primary}/replicaScaling`;
    const changed = await call({ method: 'PATCH', path, key: acme.admin, body: { numReplicas: 4 } });
    expect(changed.status, changed.text).toBe(200);
    const { json } = await call({ path: `${organization}/activities`, key: acme.admin });
    const { requestId } = json.result.find((one: Json) => one.activityType === 'service_update_autoscaling_replicas');
    const { json: found } = await until(
      () => get(requestId, 'sourceId=pilothouse-traces'),
      ({ status, json: { data } }) => status === 200 && data.totalSpans > 0 && data.totalLogs > 0,
      'the request is not written',
    );
    const trace = found.data;
    expect(trace).toMatchObject({
      traceId: requestId.replaceAll('-', ''),
      logSourceId: 'pilothouse-logs',
      totalSpans: 1,
    });
    expect(trace.spans[0]).toMatchObject({
      name: 'PATCH /v1/organizations/{organizationId}/services/{serviceId}/replicaScaling',
      service: 'pilothouse',
    });
    expect(trace.logs[0].attributes).toMatchObject({ 'request.id': requestId });
  });
});
