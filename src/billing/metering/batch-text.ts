import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '../../kernel/errors.ts';

export const MAX_BATCH_BYTES = 32 * 1024 * 1024;

/** A JSON array, or one JSON object to a line. */
export type BatchFormat = 'json' | 'ndjson';

/** The text of each event as it stands in the batch; undefined where it is not even text. */
export type EventTexts = Iterable<string | undefined>;

const inflate = promisify(gunzip);

/** What was sent, unpacked; a small body that unpacks to a huge one is refused before it does. */
export async function unpacked(bytes: Buffer, encoding: string | undefined): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity') return bytes;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw new AppError(
      'unsupported_media_type',
      `The body must be sent as it is or with gzip, not ${name.slice(0, 32)}`,
    );
  try {
    return await inflate(bytes, { maxOutputLength: MAX_BATCH_BYTES });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('payload_too_large', 'The unpacked batch is larger than 32 MiB', { cause });
    throw new AppError('bad_request', 'request body is not valid gzip, or was cut off', { cause });
  }
}

export function eventTexts(bytes: Buffer, format: BatchFormat): EventTexts {
  return format === 'ndjson' ? linesOf(bytes) : elementsOf(bytes);
}

const BYTE_ORDER_MARK = '\uFEFF';

function linesOf(bytes: Buffer): EventTexts {
  return isUtf8(bytes) ? linesIn(withoutMark(bytes.toString('utf8'))) : linesInPart(bytes);
}

/** Somewhere it is not text: only the lines where that is so are lost. */
function* linesInPart(bytes: Buffer): EventTexts {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    start = end + 1;
    if (!isUtf8(line)) yield undefined;
    else yield* linesIn(line.toString('utf8'));
  }
}

/** Empty lines do not count. */
function* linesIn(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end);
    start = end + 1;
    if (line.charCodeAt(0) === OPEN_OBJECT || line.trim() !== '') yield line;
  }
}

const withoutMark = (text: string): string => (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map((mark) =>
  mark.charCodeAt(0),
);
const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;

/** The elements of an array one after the other, so that a long one is never parsed in one go. */
function* elementsOf(bytes: Buffer): EventTexts {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'request body is not valid UTF-8');
  const text = withoutMark(bytes.toString('utf8'));
  const broken = () => new AppError('bad_request', 'request body is not a JSON array of events');
  let at = afterSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN) throw broken();
  at = afterSpace(text, at + 1);
  for (let isFirst = true; ; isFirst = false) {
    if (isFirst && text.charCodeAt(at) === CLOSE) break;
    const end = elementEnd(text, at);
    if (end === at || end >= text.length) throw broken();
    yield text.slice(at, end);
    if (text.charCodeAt(end) === CLOSE) {
      at = end;
      break;
    }
    at = afterSpace(text, end + 1);
  }
  if (afterSpace(text, at + 1) !== text.length) throw broken();
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Where the comma or bracket stands that ends an element of the outermost array. */
function elementEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === OPEN || code === OPEN_OBJECT) depth++;
    else if (depth === 0 && (code === COMMA || code === CLOSE)) return at;
    else if (code === CLOSE || code === CLOSE_OBJECT) depth--;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
