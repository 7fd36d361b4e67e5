import { createCursor, Incomplete, Malformed } from './cursor.ts';

const QUERY = 1;
const PING = 4;

/** From these revisions on, a client answers the hello of the server with a few values, which are no packet. */
const ADDENDUM_REVISION = 54458;
const CHUNKED_REVISION = 54470;
const PARALLEL_REPLICAS_REVISION = 54471;

/** The revision in the hello of a server; undefined if it is not complete, 0 if there is another packet. */
export function findServerRevision(bytes: Buffer): number | undefined {
  const cursor = createCursor(bytes);
  return attempt(() => {
    if (cursor.readNumber() !== 0) return 0;
    cursor.readText();
    cursor.readNumber();
    cursor.readNumber();
    return cursor.readNumber();
  }, 0);
}

/** What follows the values that a client sends after the hello; undefined if they are not complete. */
export function skipAddendum(bytes: Buffer, revision: number): Buffer | undefined {
  if (revision < ADDENDUM_REVISION) return bytes;
  const cursor = createCursor(bytes);
  return attempt(() => {
    cursor.readText();
    if (revision >= CHUNKED_REVISION) {
      cursor.readText();
      cursor.readText();
    }
    if (revision >= PARALLEL_REPLICAS_REVISION) cursor.readNumber();
    return cursor.getRest();
  }, bytes);
}

function attempt<T>(read: () => T, otherwise: T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Incomplete) return undefined;
    if (error instanceof Malformed) return otherwise;
    throw error;
  }
}

/** `none`: only pings. `query`: a query begins. `other`: anything else, such as the rows of an insert. */
export type ClientPackets = 'none' | 'query' | 'other';

/** What the bytes that a client sends after an answer are. Bytes after the first packet are not looked at. */
export function classifyPackets(bytes: Buffer): ClientPackets {
  let position = 0;
  while (bytes[position] === PING) position++;
  if (position === bytes.length) return 'none';
  return bytes[position] === QUERY ? 'query' : 'other';
}
