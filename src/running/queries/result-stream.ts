import type { IncomingMessage } from 'node:http';
import { parseFailure, StatementFailure } from './clickhouse-failure.ts';

const MARK = '__exception__';
const MAX_ERROR_BYTES = 64 * 1024;
const LINE_FEED = 10;

/**
 * The bytes of a result. ClickHouse appends an error that occurs after the first bytes, marked with a random tag that the
 * head of the response has; it is thrown as a `StatementFailure`, and not part of the bytes.
 */
export async function* readResult(response: IncomingMessage, sql: string): AsyncGenerator<Buffer> {
  const tag = response.headers['x-clickhouse-exception-tag'];
  const mark = typeof tag === 'string' ? Buffer.from(`\r\n${MARK}\r\n${tag}`) : undefined;
  /** The end of the bytes so far, in which a mark may begin. */
  let held = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const at = mark ? bytes.indexOf(mark) : -1;
    if (mark && at >= 0) {
      if (at > 0) yield bytes.subarray(0, at);
      throw await readAppendedFailure(bytes.subarray(at + mark.length), response, sql);
    }
    const end = bytes.length - (mark ? countBeginning(bytes, mark) : 0);
    held = Buffer.from(bytes.subarray(end));
    if (end > 0) yield bytes.subarray(0, end);
  }
  if (held.length > 0) yield held;
  if (!response.complete) throw new Error('The connection to the service was lost before the end of the result');
}

/** How many bytes at the end of `bytes` are the beginning of `mark`. */
function countBeginning(bytes: Buffer, mark: Buffer): number {
  for (let count = Math.min(bytes.length, mark.length - 1); count > 0; count--)
    if (bytes.compare(mark, 0, count, bytes.length - count) === 0) return count;
  return 0;
}

async function readAppendedFailure(start: Buffer, response: IncomingMessage, sql: string): Promise<StatementFailure> {
  const text = await readText([start], response);
  // After the text, its length and the tag follow.
  const end = text.lastIndexOf(MARK);
  const lines = (end < 0 ? text : text.slice(0, end)).trim().split('\n');
  return new StatementFailure(parseFailure(lines.slice(0, end < 0 ? undefined : -1).join('\n'), sql));
}

/** The rest of a response, at most 64 KB of it. */
export async function readText(chunks: Buffer[], response: IncomingMessage): Promise<string> {
  let bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ERROR_BYTES) break;
    }
  } catch {
    // The connection was lost: what has arrived is still the reason.
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ERROR_BYTES);
}

/** Groups of whole lines, each with its line feed. A line must not be longer than `maxBytes`. */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      yield parts.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...parts, chunk.subarray(0, end)]);
      parts = [];
      bytes = 0;
    }
    if (end < chunk.length) {
      parts.push(chunk.subarray(end));
      bytes += chunk.length - end;
    }
    if (bytes > maxBytes) throw new Error(`A row has more than ${maxBytes} bytes; download the result instead`);
  }
  if (parts.length > 0) yield Buffer.concat([...parts, Buffer.from('\n')]);
}
