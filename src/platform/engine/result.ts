import type { Readable } from 'node:stream';
import { incompleteResult, resultTooLarge } from './failures.ts';
import { convertRows } from './values.ts';

/**
 * Reads a response of at most `maxBytes`. The engine limits the size of a result in its memory; the same result can be
 * several times larger as JSON. A larger response is not read to its end, which cancels the query.
 */
export async function readText(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw resultTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

interface Result {
  meta: { type: string }[];
  data: unknown[][];
  /** After the data. */
  rows: number;
  exception?: string;
}

/**
 * Parses a result in ClickHouse's format JSONCompact. One that is empty or cut is a failure of the engine: it buffers results
 * on its disk, which may be full, and the connection may end early.
 */
export function parseRows(text: string): unknown[][] {
  const { meta, data, rows, exception } = parseResult(text);
  if (data.length !== rows || exception !== undefined) throw incompleteResult();
  return convertRows(
    meta.map(({ type }) => type),
    data,
  );
}

function parseResult(text: string): Result {
  try {
    const value = JSON.parse(text) as Partial<Result> | null;
    if (Array.isArray(value?.meta) && Array.isArray(value.data)) return value as Result;
  } catch (error) {
    throw incompleteResult(error);
  }
  throw incompleteResult();
}

/** The row of a statement that always has one, such as `SELECT count()`. */
export function getOnlyRow(rows: readonly unknown[][]): unknown[] {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw incompleteResult();
  return row;
}
