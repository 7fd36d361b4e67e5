import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Hello, renderHello, renderText, renderVarint } from '../../../platform/listener/native-hello.ts';
import { MAX_HELLO_BYTES, readHello } from './hello.ts';

const HELLO: Hello = {
  clientName: 'ClickHouse client',
  major: 26,
  minor: 7,
  revision: 54483,
  database: 'größe',
  user: 'default',
  password: 'a password',
};
const bytes = renderHello(HELLO);

describe('the hello of a native client', () => {
  it('is read, with the bytes after it', () => {
    const rest = Buffer.from([1, 2, 3]);
    expect(readHello(Buffer.concat([bytes, rest]))).toEqual({ hello: HELLO, rest });
  });

  it('is incomplete until its last byte', () => {
    for (let length = 0; length < bytes.length; length++) expect(readHello(bytes.subarray(0, length))).toBeUndefined();
  });

  it('has short texts: the length of a longer one is enough to reject it', () => {
    const long = (length: number) => readHello(Buffer.concat([Buffer.from([0]), renderVarint(length)]));
    for (const length of [4097, 10 * 1024 * 1024, 2 ** 32 - 1])
      expect(long(length)).toEqual({ problem: `A text has ${length} bytes. Maximum: 4096` });
    const text = renderText('a'.repeat(4096));
    const longest = [Buffer.from([0]), text, renderVarint(1), renderVarint(1), renderVarint(1), text, text, text];
    const whole = Buffer.concat(longest);
    expect(readHello(whole)).toMatchObject({ hello: { major: 1 } });
    expect(readHello(whole.subarray(0, -1))).toEqual(
      whole.length - 1 > MAX_HELLO_BYTES ? { problem: 'The hello is too long' } : undefined,
    );
  });

  it.each([
    ['a number of more than 32 bits', Buffer.from([0, 255, 255, 255, 255, 127])],
    ['a number that does not end', Buffer.from([0, ...Array(20).fill(255)])],
    ['a text that is not UTF-8', Buffer.from([0, 1, 255])],
    ['another packet', Buffer.from([1, 0])],
    ['a TLS handshake', Buffer.from([22, 3, 1, 2, 0])],
    ['other text', Buffer.from('EHLO example.com\r\n')],
  ])('is not %s', (_, sent) => {
    expect(readHello(sent)).toEqual({ problem: expect.any(String) });
  });

  it.each(['GET / HTTP/1.1\r\n', 'POST /?query=SELECT+1 HTTP/1.1', 'OPTIONS * '])('is not HTTP: %s', (text) => {
    expect(readHello(Buffer.from(text))).toEqual({ isHttp: true });
    expect(readHello(Buffer.from(text.slice(0, 2)))).toBeUndefined();
  });

  it('is a hello, a problem or incomplete, whatever the bytes are', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(fc.nat(bytes.length), fc.array(change, { maxLength: 4 }), (length, changes) => {
        const changed = Buffer.from(bytes.subarray(0, length));
        for (const [place, value] of changes) if (length > 0) changed[place % length] = value;
        const reading = readHello(changed);
        if (reading && 'problem' in reading) expect(reading.problem).not.toBe('');
        if (!reading || !('hello' in reading)) return;
        const read = Buffer.concat([renderHello(reading.hello), reading.rest]);
        expect(readHello(read)).toEqual(reading);
      }),
      { numRuns: 20_000 },
    );
  });
});
