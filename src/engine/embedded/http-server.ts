import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { EngineException, formatException, toEngineException, toHttpStatus } from './exceptions.ts';
import type { Access } from './messages.ts';
import type { QueryRunner, Result } from './query-runner.ts';
import { readCall } from './request.ts';

interface Options {
  queries: QueryRunner;
  passwords: Record<Access, string>;
  timezone: string;
}

// ClickHouse's limit for URLs: they contain the parameters of a query.
const MAX_HEADER_BYTES = 2 ** 20;
// Longer than clients keep idle connections, so that the server never closes one that a client is about to use.
const KEEP_ALIVE_MS = 120_000;

/** Serves ClickHouse's HTTP interface on a free loopback port. */
export async function openHttpServer({
  queries,
  passwords,
  timezone,
}: Options): Promise<{ port: number; server: Server }> {
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    (request, response) => {
      handle(request, response).catch((error) => sendException(response, error));
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, server };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://engine');
    const hasNoQuery = request.method === 'GET' && !url.searchParams.has('query');
    if (url.pathname === '/ping' || (url.pathname === '/' && hasNoQuery)) {
      response.setHeader('content-type', 'text/html; charset=UTF-8').end('Ok.\n');
      return;
    }
    if (url.pathname !== '/') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=UTF-8' }).end(`${url.pathname} does not exist\n`);
      return;
    }
    // Authenticate before reading the body.
    const access = authenticate(request, url);
    const abort = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) abort.abort();
    });
    const call = await readCall(request, url);
    const queryId = call.queryId ?? randomUUID();
    response.setHeader('x-clickhouse-query-id', queryId);
    response.setHeader('x-clickhouse-timezone', timezone);
    const signal = access === 'reader' || call.isReadOnly ? abort.signal : undefined;
    const result = await queries.run(access, call, queryId, signal);
    response.setHeader('x-clickhouse-format', call.format);
    response.setHeader('x-clickhouse-summary', formatSummary(result));
    response.setHeader('content-type', toContentType(call.format));
    let bytes = result.bytes;
    if (call.wantsGzip && bytes.length > 0) {
      response.setHeader('content-encoding', 'gzip');
      bytes = await compress(bytes);
    }
    response.setHeader('content-length', bytes.length);
    response.end(bytes);
  }

  function authenticate(request: IncomingMessage, url: URL): Access {
    const { user, password } = readCredentials(request, url);
    const access = user === 'reader' || user === 'writer' ? user : undefined;
    // An unknown user takes as long as a wrong password.
    if (isEqual(password, passwords[access ?? 'reader']) && access) return access;
    throw new EngineException(
      516,
      'AUTHENTICATION_FAILED',
      `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
    );
  }
}

const compress = promisify<Uint8Array, Buffer>(gzip);

/** From HTTP Basic, ClickHouse's own headers, or the URL. */
function readCredentials(request: IncomingMessage, url: URL): { user: string; password: string } {
  const { authorization, 'x-clickhouse-user': user, 'x-clickhouse-key': key } = request.headers;
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? [];
  if (encoded !== undefined) {
    const [, name = '', password = ''] = /^([^:]*):([\s\S]*)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
    return { user: name, password };
  }
  if (typeof user === 'string') return { user, password: typeof key === 'string' ? key : '' };
  return { user: url.searchParams.get('user') ?? 'default', password: url.searchParams.get('password') ?? '' };
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const isEqual = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

function sendException(response: ServerResponse, error: unknown): void {
  const exception = toEngineException(error);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(toHttpStatus(exception.code), {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': String(exception.code),
    // The unread rest of the request is discarded, and the connection is closed.
    ...(response.req.complete ? {} : { connection: 'close' }),
  });
  response.end(formatException(exception));
  response.req.resume();
}

function formatSummary({ rowsRead, bytesRead, rowsWritten, bytesWritten, elapsedSeconds }: Result): string {
  return JSON.stringify({
    read_rows: String(rowsRead),
    read_bytes: String(bytesRead),
    written_rows: String(rowsWritten),
    written_bytes: String(bytesWritten),
    total_rows_to_read: String(rowsRead),
    result_rows: String(rowsWritten),
    result_bytes: String(bytesWritten),
    elapsed_ns: String(Math.round(elapsedSeconds * 1e9)),
  });
}

function toContentType(format: string): string {
  if (/^JSON.*EachRow/.test(format)) return 'application/x-ndjson; charset=UTF-8';
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8';
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8; header=absent';
  if (/^(TSV|TabSeparated)/.test(format)) return 'text/tab-separated-values; charset=UTF-8';
  return 'application/octet-stream';
}
