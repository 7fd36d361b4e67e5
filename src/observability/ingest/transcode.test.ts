import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../../../test/support/otlp-encoding.ts';
import { createValid } from '../../../test/support/otlp-rejected.ts';
import { toRequest } from '../../../test/support/otlp-requests.ts';
import { transcode } from './transcode.ts';
import { createTranscoder } from './transcoder.ts';
import { SIGNALS, type Signal } from './wire/otlp-messages.ts';

const NOW = Date.UTC(2026, 10, 17);
const options = { organizationId: 'acme', now: NOW * 1e6, oldest: 0, newest: NOW * 1e6 + 86_400e9 };
const run = (signal: Signal, format: 'protobuf' | 'json', body: Buffer) =>
  transcode({ signal, format, compression: undefined, body }, options);

/** A field of a message, with its length as a varint. */
function field(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), content]);
}
const repeat = (count: number, part: Buffer): Buffer => Buffer.concat(Array(count).fill(part));
const EMPTY = Buffer.alloc(0);

describe('a request with very many small parts', () => {
  const TOO_MANY = 1_000_001;
  const empty = (number: number) => repeat(TOO_MANY, field(number, EMPTY));

  it.each<[string, Signal, Buffer]>([
    ['resources', 'logs', empty(1)],
    ['scopes', 'traces', field(1, empty(2))],
    ['records', 'logs', field(1, field(2, empty(2)))],
    ['spans', 'traces', field(1, field(2, empty(2)))],
    ['metrics', 'metrics', field(1, field(2, empty(2)))],
    ['data points', 'metrics', field(1, field(2, field(2, field(5, empty(1)))))],
    ['resources with a record', 'logs', repeat(400_000, field(1, field(2, field(2, EMPTY))))],
  ])('is refused: %s', (_, signal, body) => {
    expect(run(signal, 'protobuf', body)).toEqual({
      code: 'payload_too_large',
      message: 'The request has more than 1000000 resources, scopes and records; send fewer at a time',
    });
  });

  it('is refused as JSON with more than 2,000,000 values', () => {
    const names = Array.from({ length: 2_000_001 }, (_, index) => `"${index.toString(36)}":1`);
    expect(run('logs', 'json', Buffer.from(`{${names.join(',')}}`))).toEqual({
      code: 'payload_too_large',
      message: 'The request has more than 2000000 values',
    });
  });

  it('is accepted below the limit, and every rejected record is counted', () => {
    const body = field(1, field(2, repeat(500_000, field(2, EMPTY))));
    expect(run('traces', 'protobuf', body)).toMatchObject({
      accepted: 0,
      rejected: 500_000,
      rejections: [{ records: 500_000 }],
    });
  });

  it.each(SIGNALS)('%s: resources and scopes without records change nothing', (signal) => {
    const request = encodeRequest(signal, toRequest(signal, [createValid(signal, NOW)]));
    const none = Buffer.concat([field(1, EMPTY), field(1, repeat(3, field(2, EMPTY)))]);
    const result = run(signal, 'protobuf', request);
    expect(result).toMatchObject({ accepted: 1 });
    expect(run(signal, 'protobuf', Buffer.concat([none, request, none]))).toEqual(result);
  });
});

describe('the threads', () => {
  it('a small request does not wait for a large one', async () => {
    const transcoder = createTranscoder();
    const finished: string[] = [];
    const send = async (name: string, body: Buffer) => {
      const result = await transcoder.run({ signal: 'logs', format: 'json', compression: undefined, body }, options);
      finished.push(name);
      return result;
    };
    // Starts the thread.
    await send('first', Buffer.from('{}'));
    const names = Array.from({ length: 900_000 }, (_, index) => `"${index.toString(36)}":1`);
    const sent = [
      send('large', Buffer.from(`{${names.join(',')}}`)),
      ...Array.from({ length: 5 }, () => send('small', Buffer.from('{}'))),
    ];
    for (const result of await Promise.all(sent)) expect(result).toMatchObject({ accepted: 0, rejected: 0 });
    expect(finished).toEqual(['first', ...Array(5).fill('small'), 'large']);
    await transcoder.close();
  });
});
