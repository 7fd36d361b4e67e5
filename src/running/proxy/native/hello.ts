import type { Hello } from '../../../platform/listener/native-hello.ts';
import { createCursor, Incomplete, Malformed } from './cursor.ts';

/** Longer than any hello whose texts are short enough. */
export const MAX_HELLO_BYTES = 16 * 1024;

/** `rest`: what follows the packet. */
type HelloReading = { hello: Hello; rest: Buffer } | { problem: string } | { isHttp: true } | undefined;

const HELLO = 0;
/** The first letters of methods. A packet with such a number would not be the first one of a client. */
const HTTP = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PRI) /;
const MAX_METHOD_BYTES = 8;

/** Reads the first packet of a client. Undefined if more bytes are needed. */
export function readHello(bytes: Buffer): HelloReading {
  const [first] = bytes;
  if (first === undefined) return undefined;
  if (first !== HELLO) return readOther(bytes, first);
  const cursor = createCursor(bytes);
  try {
    cursor.readNumber();
    const hello: Hello = {
      clientName: cursor.readText(),
      major: cursor.readNumber(),
      minor: cursor.readNumber(),
      revision: cursor.readNumber(),
      database: cursor.readText(),
      user: cursor.readText(),
      password: cursor.readText(),
    };
    return { hello, rest: cursor.getRest() };
  } catch (error) {
    if (error instanceof Malformed) return { problem: error.message };
    if (!(error instanceof Incomplete)) throw error;
    return bytes.length > MAX_HELLO_BYTES ? { problem: 'The hello is too long' } : undefined;
  }
}

function readOther(bytes: Buffer, first: number): HelloReading {
  const start = bytes.toString('latin1', 0, MAX_METHOD_BYTES);
  if (HTTP.test(start)) return { isHttp: true };
  if (bytes.length < MAX_METHOD_BYTES && /^[A-Z]+$/.test(start)) return undefined;
  return { problem: `Unexpected packet from client (expected Hello, got ${first})` };
}
