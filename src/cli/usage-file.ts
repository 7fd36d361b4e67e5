import { createGunzip } from 'node:zlib';
import { AppError } from '../kernel/errors.ts';

type UsageFormat = 'csv' | 'ndjson' | 'parquet';

/** By the end of its name, `.gz` or not; undefined when it says nothing. */
export function usageFormatOf(path: string): UsageFormat | undefined {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  if (name.endsWith('.csv')) return 'csv';
  if (name.endsWith('.parquet')) return 'parquet';
  return /\.(ndjson|jsonl|json)$/.test(name) ? 'ndjson' : undefined;
}

const LONGEST_ROW_CHARACTERS = 1_000_000;

/** Bytes as they come, counted on their way, unpacked where the name says that they are packed. */
export async function* textOf(path: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const source = path.toLowerCase().endsWith('.gz') ? gunzipped(bytes) : bytes;
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

async function* gunzipped(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { Readable } = await import('node:stream');
  const packed = Readable.from(bytes);
  const gunzip = createGunzip();
  packed.once('error', (error) => gunzip.destroy(error));
  yield* packed.pipe(gunzip);
}

/** One JSON text for each event of the file. */
export async function* eventsIn(text: AsyncIterable<string>, format: 'csv' | 'ndjson'): AsyncGenerator<string> {
  if (format === 'csv') yield* csvEvents(text);
  else for await (const row of rowsOf(text, () => false)) if (row.trim() !== '') yield row.replace(/^\uFEFF/, '');
}

/** Rows end where a line does, unless that is inside quotes. */
async function* rowsOf(text: AsyncIterable<string>, isUnfinished: (row: string) => boolean): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    rest += piece;
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', end + 1)) {
      const row = rest.slice(start, end);
      if (isUnfinished(row)) continue;
      yield row.replace(/\r$/, '');
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > LONGEST_ROW_CHARACTERS)
      throw new AppError('bad_request', 'The file has a row of more than a million characters; is it a usage file?');
  }
  if (rest !== '') yield rest.replace(/\r$/, '');
}

export const USAGE_COLUMNS = ['id', 'source', 'time', 'entityType', 'entityId', 'meter', 'quantity'];

/** The first row names the columns, in any order; columns that are not ours are left out. */
async function* csvEvents(text: AsyncIterable<string>): AsyncGenerator<string> {
  let names: string[] | undefined;
  for await (const row of rowsOf(text, hasOpenQuote)) {
    if (row.trim() === '') continue;
    const cells = cellsOf(row.replace(/^\uFEFF/, ''));
    if (names) {
      const pairs = names.map((name, column) => [name, cells[column]] as const);
      yield JSON.stringify(Object.fromEntries(pairs.filter(([name]) => USAGE_COLUMNS.includes(name))));
      continue;
    }
    names = cells.map((name) => name.trim());
    const missing = USAGE_COLUMNS.filter((name) => !names?.includes(name));
    if (missing.length > 0)
      throw new AppError('bad_request', `The first row must name the columns; ${missing.join(', ')} are missing`);
  }
}

const hasOpenQuote = (row: string): boolean => (row.match(/"/g)?.length ?? 0) % 2 === 1;

/** RFC 4180: cells may be quoted, and a quote in them is written twice. */
function cellsOf(row: string): string[] {
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
