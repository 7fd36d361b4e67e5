import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { SqlRole } from '../../management/services/driver.ts';
import type { QueryBody } from './body.ts';
import { type Exception, toAnswer } from './exceptions.ts';
import type { Gate, WakeCause } from './gate.ts';
import { killQuery } from './kill-query.ts';
import type { ProxyLimits } from './limits.ts';
import { sendAnswer } from './reject.ts';
import { relayResponse } from './relay-response.ts';
import { isRead } from './statement.ts';
import type { RequestHeaders, Target } from './target.ts';
import type { Passage, RunningQuery, TrafficCounter } from './traffic.ts';

/** A query with the correct password. */
interface Query extends RunningQuery {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path and parameters of the request to ClickHouse. */
  path: string;
  body: QueryBody;
  cause: WakeCause;
  /** Set for a statement by role, which runs as a user of the control plane. */
  sqlRole?: SqlRole | undefined;
}

/** A query that is sent once more may meet a connection that ClickHouse has just closed, and then a stopped process. */
const MAX_REPEATS = 2;

interface Options {
  gate: Gate;
  traffic: TrafficCounter;
  limits: ProxyLimits;
  logFailure(error: unknown, queryId: string): void;
}

/** Room for long values, such as the summary of a query with many parts. */
const MAX_RESPONSE_HEAD_BYTES = 256 * 1024;

const LOST: Exception = {
  name: 'NETWORK_ERROR',
  text: 'The connection to the service was lost before it answered; the query may have been executed',
};

const NO_SQL_USERS: Exception = { name: 'ACCESS_DENIED', text: 'The service has no users for SQL by role' };

/** Sends a query as soon as its service takes queries, and its response to the client. */
export function forwardQuery(query: Query, { gate, traffic, limits, logFailure }: Options): void {
  const { request, response } = query;
  let passage: Passage | undefined;
  /** The attempt that is in progress. */
  let sent: Attempt | undefined;
  let repeats = 0;
  let leave = enter();

  response.once('close', () => {
    leave();
    if (!sent || sent.isComplete()) return finish();
    // The client has disconnected. The query counts as running until ClickHouse has ended it.
    const { target, isStarted } = sent;
    sent.abandon();
    if (!isStarted()) return finish();
    killQuery(target, query.id, selectKillHeaders(query, target))
      .catch((error: unknown) => logFailure(error, query.id))
      .finally(finish);
  });

  function finish(): void {
    if (passage) traffic.end(passage);
  }

  function enter(failed?: Target): () => void {
    return gate.enter({ cause: query.cause, start, fail }, failed);
  }

  function fail(exception: Exception): void {
    sendAnswer(response, toAnswer(exception), limits);
  }

  function start(target: Target): void {
    if (query.sqlRole && !target.sqlHeaders) return void fail(NO_SQL_USERS);
    passage ??= traffic.begin(query, request.socket);
    passage.kill = () => killQuery(target, query.id, selectKillHeaders(query, target));
    sent = sendQuery(query, target, (error) => retry(target, error));
  }

  /** The connection was lost before the head of the response. */
  function retry(target: Target, error: Error & { code?: string }): void {
    const attempt = sent;
    sent = undefined;
    if (response.destroyed || !attempt) return;
    const canRepeat = repeats < MAX_REPEATS && (!attempt.isStarted() || isRepeatable(query));
    if (!canRepeat) {
      logFailure(error, query.id);
      return void fail(LOST);
    }
    repeats++;
    // ClickHouse may have closed a kept connection: another one is tried before the service counts as gone.
    if (attempt.isReused() && repeats < MAX_REPEATS) return void start(target);
    // A query that waits is not running: a restart must not wait for it.
    finish();
    passage = undefined;
    leave = enter(target);
  }
}

/** A user may end its own queries only; a reader may not even do that. */
const selectKillHeaders = ({ sqlRole }: Query, { headers, sqlHeaders }: Target): RequestHeaders =>
  (sqlRole && sqlHeaders?.stopper) ?? headers;

/** Whether the query may be sent again when its first connection was lost: it changes nothing, and its whole body is in memory. */
function isRepeatable({ request, body, kind }: Query): boolean {
  if (body.type === 'stream') return false;
  // ClickHouse runs these read-only.
  return request.method === 'GET' || request.method === 'HEAD' || isRead(kind);
}

interface Attempt {
  target: Target;
  /** The query may have reached ClickHouse. */
  isStarted(): boolean;
  /** It was sent on a connection that had carried another query. */
  isReused(): boolean;
  /** The whole response has arrived. */
  isComplete(): boolean;
  abandon(): void;
}

/** Sends the query to the target. `onLost`: the connection failed before there was a response. */
function sendQuery(query: Query, target: Target, onLost: (error: Error) => void): Attempt {
  const { request, response, body } = query;
  const { host, port, agent } = target;
  const headers = (query.sqlRole && target.sqlHeaders?.[query.sqlRole]) ?? target.headers;
  let isStarted = false;
  let answer: IncomingMessage | undefined;
  const outgoing: ClientRequest = httpRequest({
    host,
    port,
    agent,
    // The same for ClickHouse, except that it reads a POST to its end before it closes the connection after an error.
    method: request.method === 'PUT' ? 'POST' : request.method,
    path: query.path,
    headers: headers.build(request, query.cause.address),
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
  });

  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) return begin();
    socket.once('connect', begin);
  });
  outgoing.on('error', (error: Error) => {
    if (!answer) onLost(error);
  });
  outgoing.once('response', (incoming: IncomingMessage) => {
    answer = incoming;
    if (response.destroyed) incoming.destroy();
    else relayResponse(incoming, response, request.method === 'HEAD');
  });
  if (body.type === 'none') outgoing.end();
  if (body.type === 'whole') outgoing.end(body.bytes);

  /** A body is not read before there is a connection, so that another one can be tried. */
  function begin(): void {
    isStarted = true;
    if (body.type !== 'stream') return;
    if (body.isAwaited) response.writeContinue();
    request.pipe(outgoing);
  }

  return {
    target,
    isStarted: () => isStarted,
    isReused: () => outgoing.reusedSocket,
    isComplete: () => answer?.complete === true,
    abandon() {
      request.unpipe(outgoing);
      outgoing.destroy();
    },
  };
}
