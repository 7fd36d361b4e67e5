import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '../../kernel/errors.ts';

export const MAX_BATCH_BYTES = 32 * 1024 * 1024;

/** A JSON array, or one JSON object per line. */
type BatchFormat = 'json' | 'ndjson';

/** The JSON text of each event; undefined where it is not valid UTF-8. */
export type EventTexts = Iterable<string | undefined>;

const inflate = promisify(gunzip);

/** Stops as soon as the output exceeds the limit, so a small body cannot exhaust memory. */
export async function decompressBatch(bytes: Buffer, encoding: string | undefined): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw new AppError(
      'unsupported_media_type',
      `The body must be uncompressed or compressed with gzip, not ${name.slice(0, 32)}`,
    );
  try {
    return await inflate(bytes, { maxOutputLength: MAX_BATCH_BYTES });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('payload_too_large', 'The decompressed batch is larger than 32 MiB', { cause });
    throw new AppError('bad_request', 'request body is not valid gzip, or is truncated', { cause });
  }
}

export function splitEvents(bytes: Buffer, format: BatchFormat): EventTexts {
  return format === 'ndjson' ? splitLines(bytes) : splitArray(bytes);
}

const BYTE_ORDER_MARK = '\uFEFF';

function splitLines(bytes: Buffer): EventTexts {
  return isUtf8(bytes) ? splitTextLines(removeByteOrderMark(bytes.toString('utf8'))) : splitInvalidLines(bytes);
}

/** Only the lines with invalid UTF-8 are lost. */
function* splitInvalidLines(bytes: Buffer): EventTexts {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    start = end + 1;
    if (!isUtf8(line)) yield undefined;
    else yield* splitTextLines(line.toString('utf8'));
  }
}

/** Skips empty lines. */
function* splitTextLines(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    start = end + 1;
    if (line.charCodeAt(0) === OPEN_OBJECT || line.trim() !== '') yield line;
  }
}

const removeByteOrderMark = (text: string): string => (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);
const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;

/** Yields the elements one by one: parsing a long array at once would block the event loop. */
function* splitArray(bytes: Buffer): EventTexts {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'request body is not valid UTF-8');
  const text = removeByteOrderMark(bytes.toString('utf8'));
  const invalidArray = () => new AppError('bad_request', 'request body is not a JSON array of events');
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN) throw invalidArray();
  at = skipSpace(text, at + 1);
  for (let isFirst = true; ; isFirst = false) {
    if (isFirst && text.charCodeAt(at) === CLOSE) break;
    const end = findElementEnd(text, at);
    if (end === at || end >= text.length) throw invalidArray();
    yield text.slice(at, end);
    if (text.charCodeAt(end) === CLOSE) {
      at = end;
      break;
    }
    at = skipSpace(text, end + 1);
  }
  if (skipSpace(text, at + 1) !== text.length) throw invalidArray();
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The position of the comma or bracket that ends an element of the outermost array. */
function findElementEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === OPEN || code === OPEN_OBJECT) depth++;
    else if (depth === 0 && (code === COMMA || code === CLOSE)) return at;
    else if (code === CLOSE || code === CLOSE_OBJECT) depth--;
  }
  return text.length;
}

function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
