import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../test/support/client.ts';
import { encodeRequest } from '../../../../test/support/otlp-encoding.ts';
import { createFullRequest, logRecord, numberPoint, toRequest } from '../../../../test/support/otlp-requests.ts';
import { transcode } from '../transcode.ts';
import type { Transcoded } from './batch.ts';
import { SIGNALS, type Signal } from './otlp-messages.ts';

const NOW = Date.UTC(2026, 10, 17);
const options = { organizationId: 'acme', now: NOW * 1e6, oldest: 0, newest: NOW * 1e6 + 86_400e9 };

const fromProtobuf = (signal: Signal, request: object) =>
  transcode({ signal, format: 'protobuf', compression: undefined, body: encodeRequest(signal, request) }, options);
const fromText = (signal: Signal, body: string | Buffer) =>
  transcode({ signal, format: 'json', compression: undefined, body: Buffer.from(body) }, options);
const fromJson = (signal: Signal, request: object) => fromText(signal, JSON.stringify(request));

function accepted(result: ReturnType<typeof transcode>): Transcoded {
  return 'rows' in result ? result : expect.fail(result.message);
}

const log = (more: object) => toRequest('logs', [logRecord(NOW, more)]);

describe('OTLP/JSON', () => {
  it.each(SIGNALS)('%s: a request with every field gives the same bytes as in protobuf', (signal) => {
    const request = createFullRequest(signal, NOW);
    const result = fromJson(signal, request);
    expect(result).toEqual(fromProtobuf(signal, request));
    expect(result).toMatchObject({ accepted: signal === 'metrics' ? 6 : 1, rejected: 0 });
  });

  it.each([
    ['numbers for 64-bit integers', { body: { intValue: 42 } }, { body: { intValue: '42' } }],
    ['null as not set', { traceId: null, body: null }, { traceId: '', body: {} }],
    [
      'upper-case ids',
      { traceId: 'ABCDEF0123456789ABCDEF0123456789' },
      { traceId: 'abcdef0123456789abcdef0123456789' },
    ],
    ['unknown members', { unknown: [{ a: 1 }], __proto__: { x: 1 }, constructor: 1, trace_id: 'x' }, {}],
    ['base64 without padding', { body: { bytesValue: 'AAEC_w' } }, { body: { bytesValue: 'AAEC/w==' } }],
    ['numbers as text', { body: { doubleValue: '-1.5e3' } }, { body: { doubleValue: -1500 } }],
    ['-0 and very small numbers', { body: { doubleValue: -5e-324 } }, { body: { doubleValue: -5e-324 } }],
  ])('accepts %s', (_, given: object, same: object) => {
    const result = fromJson('logs', log(given));
    expect(result).toMatchObject({ accepted: 1 });
    expect(result).toEqual(fromProtobuf('logs', log(same)));
  });

  it('accepts an own member __proto__', () => {
    expect(fromText('logs', '{"__proto__":{"resourceLogs":5},"resourceLogs":[]}')).toMatchObject({ accepted: 0 });
  });

  it.each(['', '{}', '{"resourceLogs":[]}', '{"resourceLogs":[{}]}', '{"resourceLogs":[{"scopeLogs":[{}]}]}'])(
    'accepts the empty request %j',
    (body) => expect(fromText('logs', body)).toMatchObject({ accepted: 0, rejected: 0, rows: [] }),
  );

  it.each<[string, Json, string]>([
    ['an id that is not hexadecimal', { traceId: 'xyz' }, 'traceId must be hexadecimal digits'],
    ['an odd number of digits', { spanId: 'abc' }, 'spanId must be hexadecimal digits'],
    ['an enum by name', { severityNumber: 'SEVERITY_NUMBER_INFO' }, 'severityNumber must be an integer'],
    ['a negative time', { timeUnixNano: '-1' }, 'timeUnixNano must be an integer from 0'],
    ['a fraction', { timeUnixNano: 1.5 }, 'timeUnixNano must be an integer'],
    ['more than 64 bits', { timeUnixNano: '18446744073709551616' }, 'timeUnixNano must be an integer'],
    ['a number as text of a log', { body: { stringValue: 5 } }, 'body.stringValue must be a string'],
    ['a value that is not an object', { body: 'text' }, 'body must be an object'],
    ['attributes that are an object', { attributes: {} }, 'attributes must be an array'],
    ['an attribute that is null', { attributes: [null] }, 'attributes[] must be an object'],
    ['text for a truth value', { body: { boolValue: 'true' } }, 'body.boolValue must be true or false'],
    ['text for a double', { body: { doubleValue: '0x10' } }, 'body.doubleValue must be a number'],
    ['bytes that are not base64', { body: { bytesValue: '*' } }, 'body.bytesValue must be base64'],
  ])('rejects a record with %s, names the member and keeps the other records', (_, member, message) => {
    const [first, last] = [logRecord(NOW, { body: { stringValue: 'first' } }), logRecord(NOW)];
    const result = fromJson('logs', toRequest('logs', [first, logRecord(NOW, member), last]));
    const reason = expect.stringMatching(new RegExp(`^${message.replace(/[[\]]/g, '\\$&')}`));
    const sample = expect.stringMatching(/^the record \{"timeUnixNano/);
    expect(result).toMatchObject({
      rejected: 1,
      rejections: [{ reason, sample, records: 1, serviceName: 'checkout' }],
    });
    expect(result).toMatchObject({
      accepted: 2,
      rows: accepted(fromJson('logs', toRequest('logs', [first, last]))).rows,
    });
  });

  it.each([null, 5, 'text', [], true])('rejects the record %j', (record) => {
    expect(fromJson('logs', toRequest('logs', [record, logRecord(NOW)]))).toMatchObject({
      accepted: 1,
      rejections: [{ reason: 'it must be an object', records: 1 }],
    });
  });

  it('rejects single spans and data points', () => {
    const request = createFullRequest('traces', NOW);
    const spans = request.resourceSpans[0].scopeSpans[0].spans;
    spans.push({ ...spans[0], events: [{ name: 5 }] });
    expect(fromJson('traces', request)).toMatchObject({
      accepted: 1,
      rejections: [{ reason: 'events[].name must be a string' }],
    });
    const dataPoints = [numberPoint(NOW), numberPoint(NOW, { asDouble: 'many' }), numberPoint(NOW)];
    expect(fromJson('metrics', toRequest('metrics', [{ name: 'm', gauge: { dataPoints } }]))).toMatchObject({
      accepted: 2,
      rejections: [
        { reason: expect.stringContaining('asDouble must be a number'), sample: expect.stringContaining('many') },
      ],
    });
  });

  it.each<[string, Json, string]>([
    ['a resource', { resource: { attributes: 5 }, scopeLogs: [] }, 'resource.attributes must be an array'],
    ['a scope', { scopeLogs: [{ scope: { name: 5 } }] }, 'scopeLogs[0].scope.name must be a string'],
    ['a list of records', { scopeLogs: [{ logRecords: {} }] }, 'scopeLogs[0].logRecords must be an array'],
  ])('refuses a request with a wrong type in %s', (_, ofResource, message) => {
    expect(fromJson('logs', { resourceLogs: [...log({}).resourceLogs, ofResource] })).toEqual({
      code: 'bad_request',
      message: expect.stringContaining(`resourceLogs[1].${message}`),
    });
  });

  it('refuses a request with more than 1,000 records of a wrong type', () => {
    const many = (count: number) => fromJson('logs', toRequest('logs', [logRecord(NOW), ...Array(count).fill(0)]));
    expect(many(1000)).toMatchObject({ accepted: 1, rejected: 1000, rejections: [{ records: 1000 }] });
    expect(many(1001)).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('logRecords[1001] must be an object'),
    });
  });

  it('bounds the reason and the sample of a record', () => {
    let body: object = { intValue: 'x' };
    for (let depth = 0; depth < 30; depth++) body = { arrayValue: { values: [body] } };
    const attributes = [{ key: '😀'.repeat(500) }];
    const result = accepted(fromJson('logs', log({ attributes, body })));
    expect(result.rejections[0]?.reason.length).toBeLessThan(210);
    expect(result.rejections[0]?.reason).toMatch(/^….*intValue must be an integer/);
    expect(result.rejections[0]?.sample.length).toBeLessThanOrEqual(300);
  });

  it.each(['[]', '1', 'null', '"x"', '{', '{"resourceLogs":[}', '{"resourceLogs":5}', `${'['.repeat(500_000)}`])(
    'refuses %.40s',
    (body) => expect(fromText('logs', body)).toMatchObject({ code: 'bad_request' }),
  );

  it('refuses nesting beyond 100 levels without building the values', () => {
    const depth = 200_000;
    const deep = `{"resourceLogs":[{"x":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}]}`;
    expect(fromText('logs', deep)).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('100 levels'),
    });
  });

  it('stores NaN and infinite values of data points', () => {
    const dataPoints = ['NaN', 'Infinity', '-Infinity'].map((asDouble) => numberPoint(NOW, { asDouble }));
    const request = toRequest('metrics', [{ name: 'm', gauge: { dataPoints } }]);
    const result = fromJson('metrics', request);
    expect(result).toMatchObject({ accepted: 3, rejected: 0 });
    expect(result).toEqual(fromProtobuf('metrics', request));
  });
});
