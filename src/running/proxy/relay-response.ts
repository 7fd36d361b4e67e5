import type { IncomingMessage, ServerResponse } from 'node:http';
import { ENDPOINT_SECURITY_HEADERS } from './exceptions.ts';

/** A response that ends before these limits is sent in one write, which is most of the work of a small response. */
const MAX_SMALL_BYTES = 16 * 1024;
const MAX_PAUSE_MS = 10;

/**
 * Sends the response of ClickHouse to the client. ClickHouse ends one that fails with the reason and closes the
 * connection. Both are passed on, because a response that was cut must not look complete.
 */
export function relayResponse(incoming: IncomingMessage, response: ServerResponse, isHead: boolean): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // ClickHouse sends the end of a body on its own, right after the body.
  const timer = setTimeout(stream, MAX_PAUSE_MS);
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_SMALL_BYTES) stream();
  };
  const { socket } = incoming;
  // Before node:http discards what the client was too slow to take.
  socket.prependOnceListener('close', readRest);
  incoming.on('data', onData).once('end', sendWhole).once('close', finish);
  // It is followed by `close`.
  incoming.once('error', () => {});

  /** Each call of `read` passes what has arrived to the listeners. */
  function readRest(): void {
    while (!response.destroyed && incoming.read() !== null);
  }

  function finish(): void {
    clearTimeout(timer);
    socket.off('close', readRest);
    if (incoming.complete || response.destroyed) return;
    if (!response.headersSent) sendStart();
    // What was written is sent first.
    if (response.socket) response.socket.destroySoon();
    else response.destroy();
  }

  function start(headers: string[]): void {
    clearTimeout(timer);
    incoming.off('data', onData).off('end', sendWhole);
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  }

  function sendWhole(): void {
    if (incoming.rawTrailers.length > 0) return void stream();
    const headers = toResponseHeaders(incoming);
    if (!isHead && !hasLength(incoming)) headers.push('Content-Length', String(bytes));
    start(headers);
    // node:http joins text with the head, and Latin-1 keeps every byte.
    response.end(Buffer.concat(chunks).toString('latin1'), 'latin1');
  }

  function sendStart(): void {
    start(toResponseHeaders(incoming));
    for (const chunk of chunks) response.write(chunk);
  }

  function stream(): void {
    sendStart();
    incoming.once('end', () => addTrailers(incoming, response));
    if (incoming.readableEnded) {
      addTrailers(incoming, response);
      response.end();
    } else incoming.pipe(response);
  }
}

const hasLength = ({ headers, statusCode }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || statusCode === 204 || statusCode === 304;

function addTrailers({ rawTrailers }: IncomingMessage, response: ServerResponse): void {
  const trailers = selectResponseHeaders(rawTrailers);
  if (trailers.length === 0) return;
  response.addTrailers(
    Array.from({ length: trailers.length >> 1 }, (_, i): [string, string] => [
      trailers[2 * i] ?? '',
      trailers[2 * i + 1] ?? '',
    ]),
  );
}

/**
 * The headers of a response that reach the client, in addition to X-ClickHouse-*. A query can set any header
 * (`http_response_headers`), and some act on the whole host, which may also be that of the console: Set-Cookie,
 * Clear-Site-Data, Strict-Transport-Security. Others make a browser leave the page or trust another site.
 */
const RESPONSE_HEADERS = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
]);
const CLICKHOUSE_PREFIX = 'x-clickhouse-';

const isResponseHeader = (name: string): boolean => RESPONSE_HEADERS.has(name) || name.startsWith(CLICKHOUSE_PREFIX);

/** The names and values of the response to the client, alternating. */
const toResponseHeaders = ({ rawHeaders }: IncomingMessage): string[] => [
  ...selectResponseHeaders(rawHeaders),
  ...Object.entries(ENDPOINT_SECURITY_HEADERS).flat(),
];

/** Those of these names and values that reach the client. */
function selectResponseHeaders(from: readonly string[]): string[] {
  const selected: string[] = [];
  for (let i = 0; i + 1 < from.length; i += 2) {
    const [name = '', value = ''] = [from[i], from[i + 1]];
    if (isResponseHeader(name.toLowerCase())) selected.push(name, value);
  }
  return selected;
}
