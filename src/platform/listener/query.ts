import { request } from 'node:http';
import { readLimited } from '../../kernel/read-limited.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';

/** An HTTP interface of ClickHouse. */
export interface Address {
  host: string;
  port: number;
  /** Added to every request. */
  headers: Readonly<Record<string, string>>;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_ERROR_CHARACTERS = 300;
/** Of a connection without data: a statement may take hours. Ends the call if the other machine is gone. */
const KEEP_ALIVE_MS = 30 * SECOND_MS;
/** Distinguishes our statements from those of users. */
export const OWN_COMMENT = 'pilothouse';
/** The query log of a service has the queries of its users only. */
const PATH = `/?log_queries=0&log_comment=${OWN_COMMENT}`;

/**
 * Runs a statement of ours and returns the response. The connection is not kept: an idle connection would be one more
 * thread in ClickHouse. `hide` removes secrets of the statement from an error of ClickHouse.
 */
export function query(
  { host, port, headers }: Address,
  sql: string,
  signal: AbortSignal,
  hide = (error: string): string => error,
  queryId?: string,
): Promise<string> {
  const path = queryId === undefined ? PATH : `${PATH}&query_id=${encodeURIComponent(queryId)}`;
  return new Promise((resolve, reject) => {
    const call = request({ host, port, headers, method: 'POST', path, agent: false, signal }, (response) => {
      readLimited(response, { maxBytes: MAX_RESPONSE_BYTES, signal, sender: 'ClickHouse' }).then((content) => {
        const text = content.toString('utf8');
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${response.statusCode} ${hide(text).slice(0, MAX_ERROR_CHARACTERS)}`));
      }, reject);
    });
    call.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    call.on('error', reject);
    call.end(sql);
  });
}

/** The rows of a statement that ends in `FORMAT JSONCompactEachRow`. */
export async function queryRows<Row>(
  address: Address,
  sql: string,
  signal: AbortSignal,
  queryId?: string,
): Promise<Row[]> {
  const text = await query(address, `${sql} FORMAT JSONCompactEachRow`, signal, undefined, queryId);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Names of tables are text of users. */
export const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

export const quoteText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Nothing listens on the port: the process has ended, even if that has not been reported yet. */
export const isRefused = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
