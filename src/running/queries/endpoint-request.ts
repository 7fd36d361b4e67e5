import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { createPinnedAgent } from '../../platform/tls/pinned-agent.ts';
import { renderSqlHeader, SQL_HEADER, type SqlAccess, type SqlCaller } from '../proxy/sql-caller.ts';

/** A statement as it is sent. */
interface SentStatement {
  sql: string;
  queryId: string;
  userAgent: string;
  /** Parameters of the URL: the database, the format, settings and the values of parameters. */
  parameters: readonly [string, string][];
}

/** Shorter than the time after which the endpoint closes an idle connection. */
const IDLE_CONNECTION_MS = 2 * SECOND_MS;
const MAX_RESPONSE_HEAD_BYTES = 256 * 1024;

const AGENT_OPTIONS = { keepAlive: true, noDelay: true, scheduling: 'lifo', timeout: IDLE_CONNECTION_MS } as const;
const agent = new Agent(AGENT_OPTIONS);
/** For the certificate that was used last: the one before it has been replaced. */
let pinned: { cert: string; agent: TlsAgent } | undefined;

function getPinnedAgent(cert: string): TlsAgent {
  if (pinned?.cert !== cert) pinned = { cert, agent: createPinnedAgent(cert, AGENT_OPTIONS) };
  return pinned.agent;
}

/**
 * Sends a statement to the endpoint of its service, as every client does: it wakes the service, counts as use, and is stopped
 * when the connection is closed. Resolves with the head of the response.
 */
export function sendStatement(
  { host, port, secret, cert }: SqlAccess,
  caller: SqlCaller,
  { sql, queryId, userAgent, parameters }: SentStatement,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const body = Buffer.from(sql);
  const query = new URLSearchParams([['query_id', queryId], ...parameters]);
  return new Promise((resolve, reject) => {
    const outgoing = (cert ? tlsRequest : httpRequest)({
      host,
      port,
      agent: cert ? getPinnedAgent(cert) : agent,
      method: 'POST',
      path: `/?${query}`,
      headers: {
        [SQL_HEADER]: renderSqlHeader(secret, caller),
        'user-agent': userAgent,
        'content-type': 'text/plain',
        'content-length': body.length,
      },
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
      signal,
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
