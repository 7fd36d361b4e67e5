import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../test/support/client.ts';
import { encodeRequest } from '../../../../test/support/otlp-encoding.ts';
import { createFullRequest, logRecord, numberPoint, toRequest } from '../../../../test/support/otlp-requests.ts';
import { transcode } from '../transcode.ts';
import { SIGNALS, type Signal } from './otlp-messages.ts';

const NOW = Date.UTC(2026, 10, 17);
const options = { organizationId: 'acme', now: NOW * 1e6, oldest: 0, newest: NOW * 1e6 + 86_400e9 };

const fromProtobuf = (signal: Signal, request: object) =>
  transcode({ signal, format: 'protobuf', compression: undefined, body: encodeRequest(signal, request) }, options);
const fromText = (signal: Signal, body: string | Buffer) =>
  transcode({ signal, format: 'json', compression: undefined, body: Buffer.from(body) }, options);
const fromJson = (signal: Signal, request: object) => fromText(signal, JSON.stringify(request));

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
    ['an attribute that is null', { attributes: [null] }, 'attributes[0] must be an object'],
    ['text for a truth value', { body: { boolValue: 'true' } }, 'body.boolValue must be true or false'],
    ['text for a double', { body: { doubleValue: '0x10' } }, 'body.doubleValue must be a number'],
    ['bytes that are not base64', { body: { bytesValue: '*' } }, 'body.bytesValue must be base64'],
  ])('refuses %s and names the member', (_, member, message) => {
    expect(fromJson('logs', log(member))).toEqual({
      code: 'bad_request',
      message: expect.stringContaining(`resourceLogs[0].scopeLogs[0].logRecords[0].${message}`),
    });
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
