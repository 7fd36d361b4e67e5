import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../kernel/errors.ts';

type UsageFormat = 'csv' | 'ndjson' | 'parquet';

/** By file name, with or without `.gz`. */
export function detectFormat(path: string): UsageFormat | undefined {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  if (name.endsWith('.csv')) return 'csv';
  if (name.endsWith('.parquet')) return 'parquet';
  return /\.(ndjson|jsonl|json)$/.test(name) ? 'ndjson' : undefined;
}

/** Decodes UTF-8, and decompresses files whose name ends in `.gz`. */
export async function* decodeFile(path: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const source = path.toLowerCase().endsWith('.gz') ? decompress(bytes) : bytes;
  try {
    for await (const chunk of source) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not valid UTF-8' : message;
    throw new AppError('bad_request', `${path} cannot be read: ${reason}`, { cause });
  }
}

async function* decompress(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compressed = Readable.from(bytes);
  const gunzip = createGunzip();
  compressed.once('error', (error) => gunzip.destroy(error));
  yield* compressed.pipe(gunzip);
}

/** Yields each event of the file as JSON text. */
export async function* readEvents(text: AsyncIterable<string>, format: 'csv' | 'ndjson'): AsyncGenerator<string> {
  if (format === 'csv') yield* readCsvEvents(text);
  else for await (const row of readRows(text, () => false)) if (row.trim() !== '') yield removeByteOrderMark(row);
}

const removeByteOrderMark = (row: string): string => row.replace(/^\uFEFF/, '');

const MAX_ROW_CHARACTERS = 1_000_000;

/** Splits at line breaks, except those in an unfinished row (inside quotes). */
async function* readRows(text: AsyncIterable<string>, isUnfinished: (row: string) => boolean): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    rest += chunk;
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', end + 1)) {
      const row = rest.slice(start, end);
      if (isUnfinished(row)) continue;
      yield row.replace(/\r$/, '');
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > MAX_ROW_CHARACTERS)
      throw new AppError('bad_request', 'The file has a row of more than a million characters; is it a usage file?');
  }
  if (rest !== '') yield rest.replace(/\r$/, '');
}

export const USAGE_COLUMNS = ['id', 'source', 'time', 'entityType', 'entityId', 'meter', 'quantity'];

/** The first row names the columns, in any order; unknown columns are ignored. */
async function* readCsvEvents(text: AsyncIterable<string>): AsyncGenerator<string> {
  let names: string[] | undefined;
  for await (const row of readRows(text, hasOpenQuote)) {
    if (row.trim() === '') continue;
    const cells = parseCsvRow(removeByteOrderMark(row));
    if (names) yield toEvent(names, cells);
    else names = parseHeader(cells);
  }
}

function parseHeader(cells: readonly string[]): string[] {
  const names = cells.map((name) => name.trim());
  const missing = USAGE_COLUMNS.filter((name) => !names.includes(name));
  if (missing.length === 0) return names;
  throw new AppError('bad_request', `The first row must name the columns; missing: ${missing.join(', ')}`);
}

function toEvent(names: readonly string[], cells: readonly string[]): string {
  const pairs = names.map((name, column) => [name, cells[column]] as const);
  return JSON.stringify(Object.fromEntries(pairs.filter(([name]) => USAGE_COLUMNS.includes(name))));
}

const hasOpenQuote = (row: string): boolean => (row.match(/"/g)?.length ?? 0) % 2 === 1;

/** RFC 4180: cells may be quoted, and a quote inside them is doubled. */
function parseCsvRow(row: string): string[] {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(row);
    if (!match) return [...cells, row.slice(cell.lastIndex)];
    const [, quoted, plain = '', end] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') return cells;
  }
}
