import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { acceptsGzip } from '../../kernel/encodings.ts';
import { EngineException } from './exceptions.ts';
import { findFormat } from './statement-text.ts';

/** A parsed request of ClickHouse's HTTP interface. */
export interface Call {
  queryId: string | undefined;
  sql: string;
  /** The rows of an INSERT; empty otherwise. */
  data: Buffer;
  parameters: [name: string, value: string][];
  settings: [name: string, value: string][];
  database: string | undefined;
  format: string;
  wantsGzip: boolean;
  /** True for GET. */
  isReadOnly: boolean;
}

const MAX_BODY_BYTES = 256 * 2 ** 20;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** URL parameters of ClickHouse that are neither settings nor query parameters. */
const OTHER_PARAMETERS = new Set(
  'query query_id default_format database user password quota_key role session_id session_check session_timeout stacktrace wait_end_of_query buffer_size compress decompress client_protocol_version close_session enable_http_compression'.split(
    ' ',
  ),
);

export async function readCall(request: IncomingMessage, url: URL): Promise<Call> {
  const body = await readBody(request);
  const text = url.searchParams.get('query');
  const { sql, data } = text === null ? splitInsert(body) : { sql: text, data: body };
  if (sql.trim() === '') throw new EngineException(62, 'SYNTAX_ERROR', 'Empty query.');
  const searchParameters = [...url.searchParams];
  const header = (name: string) => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    queryId: url.searchParams.get('query_id') || undefined,
    sql,
    data,
    parameters: checkNames(
      searchParameters.filter(([name]) => name.startsWith('param_')).map(([name, value]) => [name.slice(6), value]),
    ),
    settings: checkNames(
      searchParameters.filter(([name]) => !name.startsWith('param_') && !OTHER_PARAMETERS.has(name)),
    ),
    database: url.searchParams.get('database') ?? header('x-clickhouse-database'),
    format:
      findFormat(sql) ?? url.searchParams.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated',
    wantsGzip: url.searchParams.get('enable_http_compression') === '1' && acceptsGzip(header('accept-encoding')),
    isReadOnly: request.method === 'GET',
  };
}

/** Names are inserted into the statement unquoted, so only plain identifiers are accepted. */
function checkNames(pairs: [string, string][]): [string, string][] {
  for (const [name] of pairs)
    if (!NAME.test(name)) throw new EngineException(115, 'UNKNOWN_SETTING', `Setting ${name} is unknown.`);
  return pairs;
}

const INLINE_DATA = /^\s*INSERT\s[^']*?\sFORMAT\s+(?!Values\b)\w+[ \t]*\r?\n?/i;

/** Splits a body that contains an INSERT and its rows: the rows start after the format name. */
function splitInsert(body: Buffer): { sql: string; data: Buffer } {
  const [head] = INLINE_DATA.exec(body.toString('latin1', 0, 65_536)) ?? [];
  if (head === undefined) return { sql: body.toString('utf8'), data: Buffer.alloc(0) };
  const bytes = Buffer.byteLength(head, 'latin1');
  return { sql: body.toString('utf8', 0, bytes), data: body.subarray(bytes) };
}

const decompress = promisify(gunzip);

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new EngineException(229, 'QUERY_IS_TOO_LARGE', 'The request is too large.');
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks, bytes);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' || body.length === 0) return body;
  if (encoding !== 'gzip') throw new EngineException(48, 'NOT_IMPLEMENTED', `Unknown compression method: ${encoding}.`);
  try {
    return await decompress(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    throw new EngineException(117, 'INCORRECT_DATA', `The body cannot be decompressed: ${(error as Error).message}.`);
  }
}
