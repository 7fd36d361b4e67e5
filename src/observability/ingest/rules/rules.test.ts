import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { useEngine } from '../../../../test/support/engine.ts';
import { isLongRun } from '../../../../test/support/long-run.ts';
import { encodeRequest } from '../../../../test/support/otlp-encoding.ts';
import { text, toNanos, toRequest } from '../../../../test/support/otlp-requests.ts';
import type { TelemetryRule } from '../../../management/organizations/organization.ts';
import { parseLucene } from '../../expressions/lucene/lucene.ts';
import { parseCondition } from '../../expressions/sql/sql.ts';
import { createWriter } from '../../expressions/writer.ts';
import { transcode } from '../transcode.ts';
import { LOG_COLUMNS } from '../wire/logs.ts';
import { METRIC_COLUMNS } from '../wire/metrics.ts';
import { SIGNALS, type Signal } from '../wire/otlp-messages.ts';
import { SPAN_COLUMNS } from '../wire/spans.ts';
import { toScope } from './columns.ts';
import { listRuleViolations } from './rule.ts';

const NOW = Date.now();
const ROWS = 300;
const CONDITIONS = isLongRun ? 600 : 60;
const options = { organizationId: 'acme', now: NOW * 1e6, oldest: 0, newest: NOW * 1e6 + 86_400e9 };

const TEXTS = [
  '',
  'error',
  'GET /cart',
  'get /CART',
  'Größe ÄÖÜ',
  'a_b%c',
  'x\\y',
  'payment failed',
  '日本 語',
  '500',
  '42.5',
  '-7',
  '1e3',
];
const VALUES = fc.constantFrom(...TEXTS);
const KEYS = ['code', 'path', 'user.id', 'leer'];

const attributes = fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), VALUES), {
  selector: ([key]) => key,
  maxLength: 4,
});
const seeds = fc.record({
  body: VALUES,
  service: VALUES,
  attributes,
  number: fc.nat(25),
  traced: fc.boolean(),
  nanos: fc.nat(2_000_000),
});
type Seed = typeof seeds extends fc.Arbitrary<infer T> ? T : never;

const toId = (index: number): string => `row-${index}.`;
const toTraceId = (index: number): string => (Math.floor(index / 5) + 1).toString(16).padStart(32, '0');

function toRecord(signal: Signal, seed: Seed, index: number): object {
  const all = [...seed.attributes.map(([key, value]) => text(key, value)), text('id', toId(index))];
  const time = toNanos(NOW - index);
  if (signal === 'logs')
    return {
      timeUnixNano: time,
      severityNumber: seed.number,
      body: { stringValue: seed.body },
      attributes: all,
      ...(seed.traced && { traceId: toTraceId(index), spanId: '1'.repeat(16) }),
    };
  if (signal === 'traces')
    return {
      traceId: toTraceId(index),
      spanId: (index + 1).toString(16).padStart(16, '0'),
      name: seed.body,
      kind: seed.number % 6,
      startTimeUnixNano: toNanos(NOW),
      endTimeUnixNano: String(BigInt(toNanos(NOW)) + BigInt(seed.nanos)),
      attributes: all,
      status: { code: seed.number % 3 },
    };
  return {
    name: seed.body,
    gauge: { dataPoints: [{ timeUnixNano: time, asDouble: 1, attributes: all, flags: seed.number }] },
  };
}

const merge = (requests: readonly object[]): object =>
  Object.fromEntries(
    Object.keys(requests[0] ?? {}).map((key) => [
      key,
      requests.flatMap((one) => (one as Record<string, object[]>)[key] ?? []),
    ]),
  );

const generate = (signal: Signal) =>
  merge(fc.sample(seeds, ROWS).map((seed, index) => toRequest(signal, [toRecord(signal, seed, index)], seed.service)));

const NUMBERS: Record<Signal, string> = { logs: 'SeverityNumber', traces: 'Duration', metrics: 'Flags' };
const MAPS: Record<Signal, string> = { logs: 'LogAttributes', traces: 'SpanAttributes', metrics: 'Attributes' };
const WORDS: Record<Signal, string> = { logs: 'Body', traces: 'SpanName', metrics: 'MetricName' };

const sqlText = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const luceneText = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

/** Conditions of each form that rules accept. */
function conditions(signal: Signal): fc.Arbitrary<Pick<TelemetryRule, 'where' | 'whereLanguage'>> {
  const fields = fc.constantFrom('ServiceName', WORDS[signal], ...KEYS.map((key) => `${MAPS[signal]}['${key}']`));
  const paths = fc.constantFrom(
    'ServiceName',
    WORDS[signal],
    ...KEYS.map((key) => `${MAPS[signal]}.${key}`),
    MAPS[signal],
  );
  const [number, value] = [fc.nat(30), VALUES];
  const parts = fc.constantFrom('err', 'CART', 'ö', 'Ä', '5', '_b', 'x\\\\y', 'a');
  const comparison = fc.constantFrom('=', '!=', '<', '<=', '>', '>=');
  const sql = fc.oneof(
    fc.tuple(fields, comparison, value).map(([field, operator, one]) => `${field} ${operator} ${sqlText(one)}`),
    fc.tuple(fields, comparison, number).map(([field, operator, one]) => `${field} ${operator} ${one}`),
    fc
      .tuple(comparison, number)
      .map(([operator, one]) => `${NUMBERS[signal]} ${operator} ${one * (signal === 'traces' ? 50_000 : 1)}`),
    fc
      .tuple(fields, fc.array(value, { minLength: 1, maxLength: 3 }))
      .map(([field, all]) => `${field} IN (${all.map(sqlText).join(', ')})`),
    number.map((one) => `${NUMBERS[signal]} IN (${one}, 3)`),
    number.map((one) => `${NUMBERS[signal]} BETWEEN ${one} AND ${one + 5}`),
    fc
      .tuple(fields, fc.constantFrom('LIKE', 'ILIKE', 'NOT LIKE'), parts)
      .map(([field, operator, part]) => `${field} ${operator} ${sqlText(`%${part.replace('_', '\\_')}%`)}`),
    fc
      .tuple(fields, fc.constantFrom('startsWith', 'endsWith'), parts)
      .map(([field, name, part]) => `${name}(${field}, ${sqlText(part)})`),
    fields.map((field) => `empty(${field}) OR length(${field}) > 8`),
    fc.constantFrom(...KEYS).map((key) => `mapContains(${MAPS[signal]}, '${key}')`),
    fc.constantFrom(...KEYS).map((key) => `${MAPS[signal]}['${key}'] IS NULL`),
    fc.constantFrom(...KEYS).map((key) => `has(mapKeys(${MAPS[signal]}), '${key}')`),
    fields.map((field) => `lower(${field}) = 'get /cart' OR upper(${field}) = 'ERROR'`),
    fields.map((field) => `hasToken(${field}, 'cart')`),
  );
  const lucene = fc.oneof(
    fc.constantFrom('error', 'cart', 'größe', 'failed', '"GET /c"', '*art*', 'payment-failed', '日本'),
    fc.tuple(paths, value).map(([path, one]) => `${path}:${luceneText(one)}`),
    fc
      .tuple(paths, fc.constantFrom('err', '500', '*CART', 'ä*', '1*3', '42.5', '*'))
      .map(([path, one]) => `${path}:${one}`),
    fc.tuple(paths, number).map(([path, one]) => `${path}:>${one}`),
    fc.tuple(paths, number).map(([path, one]) => `${path}:[${one} TO ${one + 100}]`),
    number.map((one) => `${NUMBERS[signal]}:${one}`),
  );
  const combine = (one: fc.Arbitrary<string>, not: string) =>
    fc.oneof(
      one,
      fc.tuple(one, one).map(([left, right]) => `(${left}) AND ${not}(${right})`),
      fc.tuple(one, one, one).map(([a, b, c]) => `(${a}) OR ((${b}) AND ${not}(${c}))`),
    );
  return fc.oneof(
    combine(sql, 'NOT ').map((where) => ({ where, whereLanguage: 'sql' as const })),
    combine(lucene, 'NOT ').map((where) => ({ where, whereLanguage: 'lucene' as const })),
  );
}

const rule = (signal: Signal, more: Partial<TelemetryRule> = {}): TelemetryRule => ({
  name: 'r',
  signal,
  where: '',
  whereLanguage: 'lucene',
  action: 'drop',
  enabled: true,
  ...more,
});

function run(signal: Signal, request: object, rules: TelemetryRule[] | undefined) {
  const body = encodeRequest(signal, request);
  const result = transcode({ signal, format: 'protobuf', compression: undefined, body }, { ...options, rules });
  if (!('rows' in result)) expect.fail(result.message);
  const stored = result.rows.map(({ bytes }) => bytes.toString('latin1')).join('');
  const dropped = result.dropped.reduce((sum, { records }) => sum + records, 0);
  return { ...result, ids: new Set([...stored.matchAll(/row-\d+\./g)].map(([id]) => id)), droppedRecords: dropped };
}

describe('the conditions of rules', () => {
  const engine = useEngine();
  const requests = Object.fromEntries(SIGNALS.map((signal) => [signal, generate(signal)])) as Record<Signal, object>;
  const tables = { logs: 'otel_logs', traces: 'otel_traces', metrics: 'otel_metrics_gauge' };
  const columns = { logs: LOG_COLUMNS, traces: SPAN_COLUMNS, metrics: METRIC_COLUMNS.gauge };
  beforeAll(async () => {
    for (const signal of SIGNALS)
      for (const { bytes } of run(signal, requests[signal], undefined).rows)
        await engine.insertBinary(tables[signal], columns[signal], [bytes]);
  });

  async function select(signal: Signal, { where, whereLanguage }: Pick<TelemetryRule, 'where' | 'whereLanguage'>) {
    const parse = whereLanguage === 'sql' ? parseCondition : parseLucene;
    const expression = parse(where, toScope(signal));
    const writer = createWriter();
    const condition = expression ? writer.write(expression) : '1';
    const found = await engine.query({
      sql: `SELECT ${MAPS[signal]}['id'] FROM pilothouse.${tables[signal]} WHERE OrganizationId = 'acme' AND ${condition}`,
      parameters: writer.parameters,
    });
    return new Set(found.map(([id]) => String(id)));
  }

  it.each(SIGNALS)('%s: have the result of the engine for every row', { timeout: 180_000 }, async (signal) => {
    const all = run(signal, requests[signal], undefined).ids;
    expect(all.size).toBe(ROWS);
    let matched = 0;
    for (const condition of fc.sample(conditions(signal), CONDITIONS)) {
      const expected = await select(signal, condition);
      const { ids, accepted, droppedRecords } = run(signal, requests[signal], [rule(signal, condition)]);
      const dropped = new Set([...all].filter((id) => !ids.has(id)));
      expect(dropped, `${condition.whereLanguage}: ${condition.where}`).toEqual(expected);
      expect([accepted, droppedRecords]).toEqual([ROWS - expected.size, expected.size]);
      matched += expected.size > 0 && expected.size < ROWS ? 1 : 0;
    }
    expect(matched).toBeGreaterThan(CONDITIONS / 3);
  });

  it.each([
    ["Timestamp > '2026-01-01'", 'times'],
    ["match(Body, 'x+')", 'the function match'],
    ['SeverityNumber + 1 > 3', 'arithmetic'],
    ["Body LIKE 'a_'", 'a wildcard for one character'],
    ['OrganizationId = 1', 'Unknown column'],
    ['Body =', 'A value is missing'],
  ])('reject %s, which they cannot evaluate as the engine does', (where, message) => {
    const [violation] = listRuleViolations([rule('logs', { where, whereLanguage: 'sql' })], 'rules');
    expect(violation).toMatchObject({ path: 'rules[0].where', rule: expect.stringMatching(new RegExp(message, 'i')) });
  });
});

describe('rules that sample', () => {
  const spans = (count: number) =>
    toRequest(
      'traces',
      Array.from({ length: count }, (_, index) =>
        toRecord('traces', { body: 'x', service: 's', attributes: [], number: 1, traced: true, nanos: 5 }, index),
      ),
    );
  const sample = (signal: Signal, keepPercent: number) => [rule(signal, { action: 'sample', keepPercent })];
  const groupByTrace = (ids: ReadonlySet<string>) => {
    const members = new Map<string, string[]>();
    for (const id of ids) {
      const trace = toTraceId(Number(id.slice(4, -1)));
      members.set(trace, [...(members.get(trace) ?? []), id]);
    }
    return members;
  };

  it('keep whole traces, with their logs, about as many as they should, and the same in every request', () => {
    const { ids, accepted, droppedRecords } = run('traces', spans(5000), sample('traces', 20));
    expect(accepted + droppedRecords).toBe(5000);
    const kept = groupByTrace(ids);
    for (const [trace, members] of kept) expect(members, trace).toHaveLength(5);
    expect(kept.size).toBeGreaterThan(140);
    expect(kept.size).toBeLessThan(260);
    const logs = Array.from({ length: 5000 }, (_, index) =>
      toRecord('logs', { body: 'x', service: 's', attributes: [], number: 1, traced: true, nanos: 5 }, index),
    );
    expect(groupByTrace(run('logs', toRequest('logs', logs), sample('logs', 20)).ids)).toEqual(kept);
    // A higher rate keeps these and more.
    const more = groupByTrace(run('traces', spans(5000), sample('traces', 60)).ids);
    for (const trace of kept.keys()) expect(more.has(trace)).toBe(true);
  });

  it('decide about logs without a trace one by one, and about metrics by stream', () => {
    const logs = Array.from({ length: 1000 }, (_, index) =>
      toRecord('logs', { body: 'x', service: 's', attributes: [], number: 1, traced: false, nanos: 5 }, index),
    );
    const { accepted } = run('logs', toRequest('logs', logs), sample('logs', 50));
    expect(accepted).toBeGreaterThan(400);
    expect(accepted).toBeLessThan(600);
    const points = Array.from({ length: 1000 }, (_, index) => ({
      timeUnixNano: toNanos(NOW - index),
      asDouble: 1,
      attributes: [text('id', toId(index % 100))],
    }));
    const metrics = run(
      'metrics',
      toRequest('metrics', [{ name: 'm', gauge: { dataPoints: points } }]),
      sample('metrics', 50),
    );
    expect(metrics.ids.size).toBeGreaterThan(25);
    expect(metrics.ids.size).toBeLessThan(75);
    expect(metrics.accepted).toBe(metrics.ids.size * 10);
  });

  it('the first rule whose condition is true decides', () => {
    const keepErrors = rule('traces', { name: 'keep', where: 'StatusCode:Ok', action: 'sample', keepPercent: 99.999 });
    const rules = [keepErrors, rule('traces', { name: 'rest' })];
    expect(run('traces', spans(50), rules).accepted).toBe(50);
    expect(run('traces', spans(50), [...rules].reverse())).toMatchObject({
      accepted: 0,
      dropped: [{ rule: 'rest', records: 50 }],
    });
  });
});
