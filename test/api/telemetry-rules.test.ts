import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SIGNALS, type Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import { listErrors, useStore } from '../support/cli.ts';
import { createClient, type Json } from '../support/client.ts';
import { countRows } from '../support/engine-rows.ts';
import { acme, globex } from '../support/fleet.ts';
import { openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken, useIngest } from '../support/ingest.ts';
import { send } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { exportMessage } from '../support/otlp-grpc.ts';
import { logRecord, numberPoint, span, text, toRequest } from '../support/otlp-requests.ts';
import { openRawConnection } from '../support/raw.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const path = `${organization}/telemetryRules`;
const DAY_MS = 86_400_000;

const drop = { name: 'Debug', signal: 'logs', where: 'SeverityNumber:<9', action: 'drop' };
const sample = { name: 'Traces', signal: 'traces', whereLanguage: 'sql', action: 'sample', keepPercent: 50 };

onEachStore('the rules of telemetry', (store) => {
  const server = useServer(store);
  const get = (key = acme.admin) => server.call({ path, key });
  const put = (rules: object[], { key = acme.admin, headers = {} } = {}) =>
    server.call({ method: 'PUT', path, key, headers, body: { rules } });

  it('are a list that is replaced as a whole, in its order, with If-Match', async () => {
    const first = await get(acme.developer);
    expect(first.json.result).toEqual({ rules: [] });
    const stored = [
      { ...drop, whereLanguage: 'lucene', enabled: true },
      { ...sample, where: '', enabled: true },
    ];
    const changed = await put([drop, sample], { headers: { 'if-match': String(first.headers.get('etag')) } });
    expect([changed.status, changed.json.result]).toEqual([200, { rules: stored }]);
    expect((await put([], { headers: { 'if-match': String(first.headers.get('etag')) } })).status).toBe(412);
    const { json, headers } = await get();
    expect([json.result.rules, headers.get('etag')]).toEqual([stored, changed.headers.get('etag')]);
    const { json: activities } = await server.call({ path: `${organization}/activities`, key: acme.admin });
    expect(activities.result[0]).toMatchObject({ type: 'organization_update_name', organizationId: acme.id });
    expect((await put([sample, drop])).json.result.rules.map(({ name }: Json) => name)).toEqual(['Traces', 'Debug']);
  });

  it.each([
    ['two of one name', [drop, drop], 'rules[1].name: Another rule has this name'],
    ['a condition that is not valid', [{ ...drop, where: 'Body:(a' }], 'rules[0].where'],
    ['an unknown column', [{ ...drop, where: 'Bod:a' }], 'did you mean "Body"?'],
    ['a time', [{ ...drop, where: 'Timestamp:>2026-01-01' }], 'A rule cannot use times'],
    ['a sample without a percentage', [{ ...sample, keepPercent: undefined }], 'rules[0].keepPercent'],
    ['a drop with one', [{ ...drop, keepPercent: 5 }], 'rules[0].keepPercent: Only rules that sample have it'],
    ['100 %', [{ ...sample, keepPercent: 100 }], 'rules[0].keepPercent'],
    ['a condition of 1,001 characters', [{ ...drop, where: 'a'.repeat(1001) }], 'rules[0].where'],
    ['21 rules', Array.from({ length: 21 }, (_, index) => ({ ...drop, name: `r${index}` })), 'request body.rules'],
  ])('reject %s', async (_, rules, message) => {
    const { status, json } = await put(rules);
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('R1: are changed by admins of the organization only', async () => {
    expect((await put([], { key: acme.developer })).status).toBe(403);
    expect((await put([], { key: globex.admin })).status).toBe(404);
  });
});

describe('a fleet file', () => {
  const at = useStore('libsql');
  const declare = (telemetryRules?: object[]) => ({
    organizations: [{ id: acme.id, name: 'Acme', ...(telemetryRules && { telemetryRules }) }],
  });

  it('declares rules, exports them, removes them and rejects invalid ones', async () => {
    expect(await at.plan(declare([drop]))).toEqual(['add organization Acme']);
    expect((await at.exportFirstOrganization()).telemetryRules).toEqual([
      { ...drop, whereLanguage: 'lucene', enabled: true },
    ]);
    expect(await at.plan(declare([drop]))).toEqual([]);
    expect(await at.plan(declare([]))).toEqual(['change organization Acme']);
    expect(await at.exportFirstOrganization()).not.toHaveProperty('telemetryRules');
    expect(listErrors(await at.apply(declare([{ ...drop, where: 'Bod:a' }])))).toEqual([
      expect.stringContaining('telemetryRules[0].where'),
    ]);
  });
});

describe('received telemetry', () => {
  const used = useIngest('libsql', { ingestAttributeKeys: '200', ingestMetricStreams: '300' });
  const call = createClient(() => ({ url: used.server.url, dashboardUrl: used.server.url }));
  const readUsage = async () => (await call({ path: `${organization}/telemetry/usage`, key: acme.admin })).json.result;
  const sumRecords = (items: Json[], signal: Signal) =>
    items.reduce((sum: number, one: Json) => sum + (one.signal === signal ? one.records : 0), 0);
  const tables: Record<Signal, string> = { logs: 'otel_logs', traces: 'otel_traces', metrics: 'otel_metrics_gauge' };

  /** Of each signal, records that are stored, rejected, dropped by a rule and, of metrics, beyond the limit of streams. */
  function createRequest(signal: Signal, count: number, offset: number): object {
    const now = Date.now();
    const time = (index: number) => (index % 10 === 0 ? now - 60 * DAY_MS : now - index);
    const attributes = (index: number) => [text('n', String(index)), text(`key.${index}`, 'x')];
    const indexes = Array.from({ length: count }, (_, index) => index + offset);
    if (signal === 'metrics')
      return toRequest(
        signal,
        indexes.map((index) => ({
          name: index % 7 === 0 ? 'dropped' : 'kept',
          gauge: { dataPoints: [numberPoint(time(index), { attributes: attributes(index) })] },
        })),
      );
    const more = (index: number) => ({
      attributes: attributes(index),
      traceId: (Math.floor(index / 3) + 1).toString(16).padStart(32, '0'),
    });
    return toRequest(
      signal,
      indexes.map((index) =>
        signal === 'logs'
          ? logRecord(time(index), { ...more(index), body: { stringValue: index % 7 === 0 ? 'dropped' : 'kept' } })
          : span(time(index), { ...more(index), name: index % 7 === 0 ? 'dropped' : 'kept' }),
      ),
    );
  }

  it('is accepted, rejected or dropped by a rule, and each record is counted as one of them, in both formats and protocols', async () => {
    const rules = [
      { name: 'logs', signal: 'logs', where: 'dropped', action: 'drop' },
      { name: 'off', signal: 'logs', action: 'drop', enabled: false },
      { name: 'spans', signal: 'traces', where: 'SpanName:dropped', action: 'drop' },
      { name: 'half', signal: 'traces', action: 'sample', keepPercent: 50 },
      { name: 'points', signal: 'metrics', where: "MetricName = 'dropped'", whereLanguage: 'sql', action: 'drop' },
    ];
    expect((await call({ method: 'PUT', path, key: acme.admin, body: { rules } })).status).toBe(200);
    const before = await used.server.metrics();
    const second = await createIngestToken(used.server.url, acme);
    const COUNT = 500;
    for (const signal of SIGNALS) {
      const target = { url: `${used.server.url}/otlp`, authorization: used.acme };
      expect((await send(target, signal, createRequest(signal, COUNT, 0))).status).toBe(200);
      const other = { ...target, authorization: second };
      expect((await send(other, signal, createRequest(signal, COUNT, COUNT), 'json')).status).toBe(200);
      const message = encodeRequest(signal, createRequest(signal, COUNT, 2 * COUNT));
      const grpc = { port: used.server.otlpGrpcPort, authorization: second };
      expect(await exportMessage(grpc, signal, message)).toHaveProperty('partialSuccess');
    }
    const count = ({ services, rejections, drops }: Json, signal: Signal) => ({
      accepted: sumRecords(services, signal),
      rejected: sumRecords(rejections, signal),
      dropped: sumRecords(drops, signal),
    });
    const usage = await until(
      readUsage,
      (found) =>
        SIGNALS.every((signal) => Object.values(count(found, signal)).reduce((sum, one) => sum + one) >= 3 * COUNT),
      'the records are not counted',
    );
    const after = await used.server.metrics();
    for (const signal of SIGNALS) {
      const counted = count(usage, signal);
      expect(counted.accepted + counted.rejected + counted.dropped, signal).toBe(3 * COUNT);
      expect(counted.dropped).toBeGreaterThan(150);
      expect(counted.rejected).toBeGreaterThanOrEqual(signal === 'metrics' ? 700 : 150);
      expect(await countRows(used.server.engine, tables[signal], acme.id)).toBe(counted.accepted);
      for (const outcome of ['accepted', 'rejected', 'dropped'] as const) {
        const name = `pilothouse_ingest_records_total{signal="${signal}",outcome="${outcome}"}`;
        expect((after.get(name) ?? 0) - (before.get(name) ?? 0), name).toBe(counted[outcome]);
      }
    }
    expect(usage.signals.find((one: Json) => one.signal === 'metrics').streamsToday).toBe(300);
    expect(usage.signals.find((one: Json) => one.signal === 'logs').attributeKeysToday).toBe(200);
    expect(usage.limits.logs.attributeKeysPerDay).toBe(200);
    expect(new Set(usage.drops.map(({ rule }: Json) => rule))).toEqual(new Set(['logs', 'spans', 'half', 'points']));
    expect(usage.signals.find((one: Json) => one.signal === 'logs').removedAttributes).toBe(
      after.get('pilothouse_ingest_removed_attributes_total{signal="logs"}'),
    );
    // Kept traces are whole.
    const spans = await used.server.engine.query({
      sql: 'SELECT TraceId, count() FROM pilothouse.otel_traces WHERE OrganizationId = {id:String} GROUP BY TraceId',
      parameters: { id: acme.id },
    });
    for (const [trace, found] of spans) {
      const first = 3 * (Number(`0x${trace}`) - 1);
      const sent = [first, first + 1, first + 2].filter((index) => index < 3 * COUNT);
      expect(found, String(trace)).toBe(sent.filter((index) => index % 10 !== 0 && index % 7 !== 0).length);
    }
  });

  it('of a sender that disconnects is stored, and counted as not answered', async () => {
    const name = 'pilothouse_ingest_unanswered_records_total{signal="logs"}';
    const count = async () => (await used.server.metrics()).get(name) ?? 0;
    const before = await count();
    const body = JSON.stringify(toRequest('logs', [logRecord(Date.now(), { body: { stringValue: 'unanswered' } })]));
    const headers = `authorization: ${used.globex}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
    // When the server closes the connection depends on its load: it may have answered already.
    await until(
      async () => {
        const connection = await openRawConnection(used.server.url);
        connection.send(`POST /otlp/v1/logs HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n${body}`);
        connection.socket.destroySoon();
        return count();
      },
      (found) => found > before,
      'no request was counted',
    );
    expect(await countRows(used.server.engine, 'otel_logs', globex.id, "Body = 'unanswered'")).toBeGreaterThan(0);
  });

  it('metering has the accepted bytes only', async () => {
    const { domains, engine } = used.server;
    const stored = async () =>
      (await domains.telemetryReports.getReport(acme.id, { from: Date.now() - DAY_MS })).buckets.reduce(
        (sum, { acceptedBytes }) => sum + acceptedBytes,
        0,
      );
    const metered = async () => {
      const [[quantity] = []] = await engine.query({
        sql: "SELECT toUInt64(sum(Quantity)) FROM pilothouse.usage_events FINAL WHERE OrganizationId = {id:String} AND Source = 'pilothouse-telemetry'",
        parameters: { id: acme.id },
      });
      return Number(quantity);
    };
    await until(
      async () => {
        await domains.telemetryMetering.flush();
        return [await stored(), await metered()] as const;
      },
      ([one, other]) => one > 0 && one === other,
      'the accepted bytes are not metered',
    );
  });
});

describe('20,000 attribute keys or metric streams in one request', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-keys-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const open = () =>
    openInProcessServer({
      telemetry: 'off',
      dataDirectory: join(directory, 'data'),
      ingestAttributeKeys: '1000',
      ingestMetricStreams: '1000',
    });
  const logs = (prefix: string) =>
    toRequest(
      'logs',
      Array.from({ length: 20 }, (_, index) =>
        logRecord(Date.now(), {
          attributes: Array.from({ length: 1000 }, (_key, key) => text(`${prefix}.${index}.${key}`, 'x')),
        }),
      ),
    );
  const points = (prefix: string) =>
    toRequest('metrics', [
      {
        name: 'm',
        gauge: {
          dataPoints: Array.from({ length: 20_000 }, (_, index) =>
            numberPoint(Date.now(), { attributes: [text('id', `${prefix}.${index}`)], exemplars: [] }),
          ),
        },
      },
    ]);

  it('are limited, with a message; a restart remembers those of the day', async () => {
    let server = await open();
    const tokens = [await createIngestToken(server.url, acme), await createIngestToken(server.url, acme)];
    const countKeys = async () => {
      const [[keys] = []] = await server.engine.query({
        sql: 'SELECT uniqExactArray(mapKeys(LogAttributes)) FROM pilothouse.otel_logs WHERE OrganizationId = {id:String}',
        parameters: { id: acme.id },
      });
      return Number(keys);
    };
    const sendTo = (signal: Signal, request: object, token = 0) =>
      send({ url: `${server.url}/otlp`, authorization: tokens[token] ?? '' }, signal, request, 'json');
    try {
      const { status, json } = await sendTo('logs', logs('first'));
      expect([status, json.partialSuccess]).toEqual([
        200,
        {
          rejectedLogRecords: '0',
          errorMessage: expect.stringMatching(/^190\d\d attributes were removed, because .* too many attribute keys: /),
        },
      ]);
      expect(await countRows(server.engine, 'otel_logs', acme.id)).toBe(20);
      const keys = await countKeys();
      expect(keys).toBeGreaterThan(900);
      expect(keys).toBeLessThanOrEqual(1000);
      expect((await sendTo('metrics', points('first'), 1)).json.partialSuccess).toMatchObject({
        rejectedDataPoints: '19000',
      });
      // A second token has no limit of its own.
      expect((await sendTo('logs', logs('second'), 1)).json.partialSuccess.errorMessage).toMatch(/^20000 attributes/);
      await server.close();
      server = await open();
      expect((await sendTo('logs', logs('third'))).json.partialSuccess.errorMessage).toMatch(/^20000 attributes/);
      expect((await sendTo('metrics', points('third'))).json.partialSuccess.rejectedDataPoints).toBe('20000');
      expect((await sendTo('metrics', points('first'))).json.partialSuccess.rejectedDataPoints).toBe('19000');
      expect(await countKeys()).toBe(keys);
    } finally {
      await server.remove();
    }
  });
});
