import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { readLimited } from '../../kernel/read-limited.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import type { RequestHeaders, Target } from './target.ts';

const STATEMENT = 'KILL QUERY WHERE query_id = {id:String} SYNC';
const TIMEOUT_MS = 5 * SECOND_MS;
/** A query whose client disconnected at once may not be registered yet. */
const ATTEMPTS = 2;
const PAUSE_MS = 250;
/** Of the queries that were killed, with their texts. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/**
 * Kills a query whose client has disconnected. ClickHouse notices a closed connection only when it writes to it, so a query that
 * computes would run to its end. Returns when the query has ended, or after a few seconds.
 */
export async function killQuery(target: Target, id: string, headers: RequestHeaders = target.headers): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await delay(PAUSE_MS);
    // The response lists the queries that were found.
    if ((await send(target, id, headers)) > 0) return;
  }
}

/** Returns the length of the response; 0 for an empty one. */
function send({ host, port, agent }: Target, id: string, headers: RequestHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const signal = limitTime(TIMEOUT_MS);
    const request = httpRequest({
      host,
      port,
      agent,
      method: 'POST',
      path: `/?param_id=${encodeURIComponent(escapeParameter(id))}`,
      headers: [...headers.own, 'Content-Length', String(STATEMENT.length)],
      signal,
    });
    request.on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      readLimited(response, { maxBytes: MAX_RESPONSE_BYTES, signal, sender: 'ClickHouse' }).then(({ length }) => {
        if (response.statusCode === 200) resolve(length);
        else reject(new Error(`KILL QUERY was answered with status ${response.statusCode}`));
      }, reject);
    });
    request.end(STATEMENT);
  });
}

/** The values of query parameters are in the escaped format of TabSeparated. */
export const escapeParameter = (text: string): string =>
  text.toWellFormed().replace(/[\\\t\n]/g, (character) => `\\${{ '\t': 't', '\n': 'n' }[character] ?? character}`);
