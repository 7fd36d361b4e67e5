import { describe, expect, it } from 'vitest';
import { encodeRequest, field, split, unwrap, varint } from '../../../../test/support/otlp-encoding.ts';
import { createFullRequest, logRecord, text, toRequest } from '../../../../test/support/otlp-requests.ts';
import { transcode } from '../transcode.ts';
import type { Transcoded } from './batch.ts';
import { SIGNALS, type Signal } from './otlp-messages.ts';

const NOW = Date.UTC(2026, 10, 17);
const DAY_NANOS = 86_400e9;
const options = {
  organizationId: 'acme',
  now: NOW * 1e6,
  oldest: NOW * 1e6 - 30 * DAY_NANOS,
  newest: NOW * 1e6 + DAY_NANOS,
};

const run = (signal: Signal, body: Buffer) =>
  transcode({ signal, format: 'protobuf', compression: undefined, body }, options);

function accept(signal: Signal, body: Buffer): Transcoded {
  const result = run(signal, body);
  if (!('rows' in result)) return expect.fail(result.message);
  return result;
}

const readBytes = ({ rows }: Transcoded) => rows.map(({ table, rows: count, bytes }) => [table, count, bytes]);

/** Unknown fields of every wire type; the group has another one inside. */
const UNKNOWN = Buffer.concat([
  varint(900 * 8),
  varint(300),
  varint(901 * 8 + 1),
  Buffer.alloc(8, 0xff),
  field(902, Buffer.from('anything')),
  varint(903 * 8 + 3),
  varint(904 * 8 + 3),
  field(1, Buffer.from('x')),
  varint(904 * 8 + 4),
  varint(903 * 8 + 4),
  varint(905 * 8 + 5),
  Buffer.alloc(4, 0xff),
]);

describe('reading protobuf', () => {
  it.each(SIGNALS)('%s: a message cut off at any byte is refused or shorter, never a crash', (signal) => {
    const message = encodeRequest(signal, createFullRequest(signal, NOW));
    const complete = accept(signal, message).accepted;
    for (let length = 0; length < message.length; length++) {
      const result = run(signal, message.subarray(0, length));
      // Only the empty message is complete: all records are in one resource.
      if ('rows' in result) expect([length, result.accepted]).toEqual([0, 0]);
      else expect(result).toMatchObject({ code: 'bad_request', message: expect.stringContaining('not valid OTLP') });
    }
    expect(complete).toBeGreaterThan(0);
  });

  it.each(SIGNALS)('%s: a record cut off at any byte, in complete envelopes, is refused or stored', (signal) => {
    const request = createFullRequest(signal, NOW);
    const [, scopes] = split(unwrap(encodeRequest(signal, request))) as [unknown, { bytes: Buffer }];
    const [, record] = split(unwrap(scopes.bytes)) as [unknown, { bytes: Buffer }];
    const contents = unwrap(record.bytes);
    for (let length = 0; length < contents.length; length++) {
      const cut = field(1, field(2, field(2, contents.subarray(0, length))));
      const result = run(signal, cut);
      if ('rows' in result) expect(result.accepted + result.rejected).toBeLessThanOrEqual(2);
      else expect(result.code).toBe('bad_request');
    }
  });

  it.each(SIGNALS)('%s: unknown fields of every wire type are skipped everywhere', (signal) => {
    const message = encodeRequest(signal, createFullRequest(signal, NOW));
    const resource = Buffer.concat([
      UNKNOWN,
      ...split(unwrap(message)).map(({ number, bytes }) =>
        number === 3 ? bytes : field(number, Buffer.concat([UNKNOWN, unwrap(bytes), UNKNOWN])),
      ),
    ]);
    const extended = Buffer.concat([UNKNOWN, field(1, resource), UNKNOWN]);
    expect(readBytes(accept(signal, extended))).toEqual(readBytes(accept(signal, message)));
  });

  it.each(SIGNALS)('%s: a resource and a scope may follow the records that they describe', (signal) => {
    const message = encodeRequest(signal, createFullRequest(signal, NOW));
    const ownerLast = (envelope: Buffer) =>
      Buffer.concat(
        split(envelope)
          .sort((a, b) => Number(a.number === 1) - Number(b.number === 1))
          .map(({ bytes }) => bytes),
      );
    const resource = split(unwrap(message)).map(({ number, bytes }) =>
      number === 2 ? field(2, ownerLast(unwrap(bytes))) : bytes,
    );
    const reversed = field(1, ownerLast(Buffer.concat(resource)));
    expect(reversed.equals(message)).toBe(false);
    expect(readBytes(accept(signal, reversed))).toEqual(readBytes(accept(signal, message)));
  });

  it.each([
    ['a group that does not end', Buffer.concat([varint(7 * 8 + 3), varint(8), varint(1)])],
    ['a group that ends with another number', Buffer.concat([varint(7 * 8 + 3), varint(6 * 8 + 4)])],
    ['the end of a group without its start', varint(7 * 8 + 4)],
    ['groups nested too deep', Buffer.alloc(100_000, 7 * 8 + 3)],
    ['the wire type 6', varint(7 * 8 + 6)],
    ['the field number 0', Buffer.from([0x02, 0x00])],
    ['a number of 11 bytes', Buffer.concat([varint(7 * 8), Buffer.alloc(10, 0xff), Buffer.from([1])])],
    ['a length of 4 GiB', Buffer.concat([varint(7 * 8 + 2), Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])])],
  ])('refuses %s', (_, bytes) => {
    for (const signal of SIGNALS) expect(run(signal, bytes)).toMatchObject({ code: 'bad_request' });
  });

  it('accepts repeated numbers packed, one by one, and mixed', () => {
    const point = { startTimeUnixNano: '0', timeUnixNano: `${NOW}000000`, count: '3' };
    const encode = (extra: Buffer) => {
      const number = encodeRequest('metrics', {
        resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'h', histogram: { dataPoints: [point] } }] }] }],
      });
      // Resource, scope, metric, histogram, data point: each is the last field of the one around it.
      const rebuild = (message: Buffer, depth: number): Buffer => {
        if (depth === 0) return Buffer.concat([message, extra]);
        const fields = split(message);
        const last = fields.at(-1) as { number: number; bytes: Buffer };
        const before = fields.slice(0, -1).map(({ bytes }) => bytes);
        return Buffer.concat([...before, field(last.number, rebuild(unwrap(last.bytes), depth - 1))]);
      };
      return rebuild(number, 5);
    };
    const eight = (value: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32LE(value);
      return bytes;
    };
    const single = (value: number) => Buffer.concat([varint(6 * 8 + 1), eight(value)]);
    const packed = encode(field(6, Buffer.concat([1, 2, 3].map(eight))));
    const unpacked = encode(Buffer.concat([1, 2, 3].map(single)));
    const mixed = encode(Buffer.concat([single(1), field(6, Buffer.concat([2, 3].map(eight)))]));
    const expected = readBytes(accept('metrics', packed));
    expect(expected).toHaveLength(1);
    expect(readBytes(accept('metrics', unpacked))).toEqual(expected);
    expect(readBytes(accept('metrics', mixed))).toEqual(expected);
    expect(accept('metrics', encode(field(6, Buffer.alloc(7))))).toMatchObject({ accepted: 0, rejected: 1 });
  });

  it('the last value of a field that is sent twice counts', () => {
    const one = toRequest('logs', [logRecord(NOW)]);
    const twice = unwrap(encodeRequest('logs', one));
    const first = field(1, field(1, unwrapKeyValue(text('service.name', 'first'))));
    expect(readBytes(accept('logs', field(1, Buffer.concat([first, twice]))))).toEqual(
      readBytes(accept('logs', field(1, twice))),
    );
  });

  it('counts services up to a limit, and the rest together', () => {
    const resourceLogs = Array.from({ length: 5000 }, (_, index) => ({
      resource: { attributes: [text('service.name', `service ${index}`)] },
      scopeLogs: [{ logRecords: [{ timeUnixNano: `${NOW}000000` }] }],
    }));
    const { accepted, services } = accept('logs', encodeRequest('logs', { resourceLogs }));
    expect(accepted).toBe(5000);
    expect(services.length).toBeLessThanOrEqual(1001);
    expect(services.reduce((sum, { records }) => sum + records, 0)).toBe(5000);
  });
});

const unwrapKeyValue = ({ key, value: { stringValue } }: ReturnType<typeof text>): Buffer =>
  field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(stringValue)))]));
