import type { Readable } from 'node:stream';
import { resultTooLarge } from './failures.ts';
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

/** Parses a result in ClickHouse's format JSONCompact. */
export function parseRows(text: string): unknown[][] {
  const { meta, data } = JSON.parse(text) as { meta: { type: string }[]; data: unknown[][] };
  return convertRows(
    meta.map(({ type }) => type),
    data,
  );
}
