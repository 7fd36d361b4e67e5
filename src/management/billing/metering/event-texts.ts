import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '../../../kernel/errors.ts';

export const MAX_BATCH_BYTES = 32 * 1024 * 1024;

/** A JSON array, or one JSON object per line. */
type BatchFormat = 'json' | 'ndjson';

/** After this, the reader of a batch should let other requests run. */
export const PAUSE = Symbol('pause');

/** The JSON text of each event; undefined where it is not valid UTF-8. */
export type EventTexts = Iterable<string | undefined | typeof PAUSE>;

/** Takes a few milliseconds to split. */
const BLOCK_BYTES = 128 * 1024;
/** Replaces an event that is too long to be valid. */
const TOO_LONG = '…';

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

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

const skipByteOrderMark = (bytes: Buffer): number =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

/** Decodes block by block: decoding a long batch at once would block the event loop. */
function* splitLines(bytes: Buffer): Generator<string | undefined | typeof PAUSE> {
  for (let start = skipByteOrderMark(bytes); start < bytes.length; ) {
    const end = findBlockEnd(bytes, start);
    const block = bytes.subarray(start, end);
    if (block.length > BLOCK_BYTES) yield* splitLongLine(block);
    else if (isUtf8(block)) yield* splitTextLines(block.toString('utf8'));
    else yield* splitInvalidLines(block);
    start = end;
    if (start < bytes.length) yield PAUSE;
  }
}

/** The end of the last line that ends within a block, or of the one line that is longer. */
function findBlockEnd(bytes: Buffer, start: number): number {
  const limit = start + BLOCK_BYTES;
  if (limit >= bytes.length) return bytes.length;
  const lastNewline = bytes.lastIndexOf(NEWLINE, limit - 1);
  if (lastNewline >= start) return lastNewline + 1;
  const newline = bytes.indexOf(NEWLINE, limit);
  return newline < 0 ? bytes.length : newline + 1;
}

function* splitLongLine(line: Buffer): Generator<string | undefined> {
  if (!isUtf8(line)) yield undefined;
  else if (line.toString('latin1').trim() !== '') yield TOO_LONG;
}

/** Only the lines with invalid UTF-8 are lost. */
function* splitInvalidLines(bytes: Buffer): Generator<string | undefined> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
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

const [NEWLINE, QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [...'\n"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number, number];
const isSpace = (byte: number | undefined) => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** Yields the elements one by one: parsing a long array at once would block the event loop. */
function* splitArray(bytes: Buffer): Generator<string | typeof PAUSE> {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'request body is not valid UTF-8');
  const invalidArray = () => new AppError('bad_request', 'request body is not a JSON array of events');
  const open = yield* skipSpace(bytes, skipByteOrderMark(bytes));
  if (bytes[open] !== OPEN) throw invalidArray();
  let end = open;
  let pauseAt = open + BLOCK_BYTES;
  for (let isFirst = true; isFirst || bytes[end] === COMMA; isFirst = false) {
    const start = end + 1;
    const scan = { at: start, depth: 0, isInString: false, isEmpty: true };
    while (!scanElement(bytes, scan, pauseAt)) {
      if (scan.at >= bytes.length) throw invalidArray();
      pauseAt = scan.at + BLOCK_BYTES;
      yield PAUSE;
    }
    end = scan.at;
    if (isFirst && scan.isEmpty && bytes[end] === CLOSE) break;
    if (scan.isEmpty) throw invalidArray();
    yield end - start > BLOCK_BYTES ? TOO_LONG : bytes.toString('utf8', start, end);
  }
  if ((yield* skipSpace(bytes, end + 1)) !== bytes.length) throw invalidArray();
}

function* skipSpace(bytes: Buffer, start: number): Generator<typeof PAUSE, number> {
  let at = start;
  for (let pauseAt = start + BLOCK_BYTES; isSpace(bytes[at]); at++) {
    if (at < pauseAt) continue;
    pauseAt += BLOCK_BYTES;
    yield PAUSE;
  }
  return at;
}

interface ElementScan {
  at: number;
  depth: number;
  isInString: boolean;
  /** Only whitespace so far. */
  isEmpty: boolean;
}

/** Moves to the comma or bracket that ends an element of the outermost array. False if it is not before `limit`. */
function scanElement(bytes: Buffer, scan: ElementScan, limit: number): boolean {
  const end = Math.min(limit, bytes.length);
  for (; scan.at < end; scan.at++) {
    const byte = bytes[scan.at];
    if (scan.isInString) {
      if (byte === BACKSLASH) scan.at++;
      scan.isInString = byte !== QUOTE;
    } else if (scan.depth === 0 && (byte === COMMA || byte === CLOSE)) return true;
    else if (!isSpace(byte)) scanContent(byte, scan);
  }
  return false;
}

function scanContent(byte: number | undefined, scan: ElementScan): void {
  scan.isEmpty = false;
  if (byte === QUOTE) scan.isInString = true;
  else if (byte === OPEN || byte === OPEN_OBJECT) scan.depth++;
  else if (byte === CLOSE || byte === CLOSE_OBJECT) scan.depth--;
}
