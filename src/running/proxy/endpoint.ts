import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopbackHostHeader } from '../../kernel/access/addresses.ts';
import { newUuid } from '../../kernel/ids.ts';
import { MAX_URL_PARAMETERS } from '../../kernel/url-limits.ts';
import type { Access } from './access.ts';
import { type QueryBody, readBody } from './body.ts';
import { type Answer, type Exception, toAnswer, toNotFoundAnswer, toTextAnswer } from './exceptions.ts';
import { forwardQuery } from './forward.ts';
import type { Gate } from './gate.ts';
import type { ProxyLimits } from './limits.ts';
import { sendAnswer } from './reject.ts';
import { MAX_STATEMENT_CHARACTERS, parseRequestUrl, type RequestUrl } from './request-url.ts';
import type { SqlCaller } from './sql-caller.ts';
import { findKind, type StatementKind, type UseRules } from './statement.ts';
import type { TrafficCounter } from './traffic.ts';

const OK = toTextAnswer(200, 'Ok.\n');
/** Says that a health check was answered although no process runs. */
const STATE_HEADER = 'X-Pilothouse-Service-State';
const STOPPED = toAnswer({
  name: 'ALL_CONNECTION_TRIES_FAILED',
  text: 'The service is stopped; start it to run queries',
});
const HEALTH_ANSWERS = {
  running: OK,
  // The next query wakes it.
  idle: { ...OK, headers: { ...OK.headers, [STATE_HEADER]: 'idle' } },
  stopped: { ...STOPPED, headers: { ...STOPPED.headers, [STATE_HEADER]: 'stopped' } },
} satisfies Record<string, Answer>;

export type HealthState = keyof typeof HEALTH_ANSWERS;

const NO_CONTENT: Answer = { status: 204, headers: {}, body: '' };
const NOT_IMPLEMENTED = toTextAnswer(501, 'The method is not supported; use GET, HEAD, POST or PUT\n');

const HEALTH_PATHS = ['/ping', '/replicas_status'];
const QUERY_METHODS = ['GET', 'HEAD', 'POST', 'PUT'];
const MAX_AGENT_CHARACTERS = 200;

export interface Endpoint {
  state: HealthState;
  access: Access;
  gate: Gate;
  traffic: TrafficCounter;
  limits: ProxyLimits;
  useRules: UseRules;
  /** Only requests for a loopback name: the password may be public. */
  isLoopbackOnly: boolean;
  /** Few files are left that the process may open. */
  isRefused(socket: Socket): boolean;
  /** Reads the header of a statement by role. */
  findSqlCaller(request: IncomingMessage): SqlCaller | undefined;
  logFailure(error: unknown, queryId: string): void;
}

const TOO_MANY_CONNECTIONS: Exception = {
  name: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  text: 'The server has too many open connections',
  retryAfterSeconds: 5,
};

function refuse(response: ServerResponse): Exception {
  response.setHeader('Connection', 'close');
  return TOO_MANY_CONNECTIONS;
}

/** `isAwaited`: the client waits for `100 Continue` before it sends its body. */
export function handleRequest(
  endpoint: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
  isAwaited: boolean,
): void {
  const { access, limits, traffic } = endpoint;
  const answer = (content: Answer) => {
    traffic.skip(request.socket);
    sendAnswer(response, content, limits);
  };
  const reject = (exception: Exception) => answer(toAnswer(exception));
  // Without a listener, an error of a connection would end the process.
  request.on('error', () => {});

  const text = request.url ?? '';
  const caller = endpoint.findSqlCaller(request);
  const address = caller?.address ?? request.socket.remoteAddress ?? '';
  // The control plane has checked the credentials and the address of a statement by role.
  const refusal =
    (endpoint.isRefused(request.socket) ? refuse(response) : undefined) ??
    (caller ? undefined : (access.checkAddress(address) ?? checkOrigin(endpoint, request))) ??
    checkHead(request, text, limits);
  if (refusal) return void reject(refusal);

  const url = parseRequestUrl(text);
  if (!url)
    return void reject({ name: 'BAD_ARGUMENTS', text: `The URL has more than ${MAX_URL_PARAMETERS} parameters` });
  const fixed = findFixedAnswer(endpoint, request.method ?? '', text, url.path);
  if (fixed) return void answer(fixed);

  const read = () =>
    readBody(
      request,
      { isAwaited, timeoutMs: limits.bodyMs },
      (body, beginning) => forward(endpoint, { request, response, url, address, body, beginning, caller }),
      () => reject({ name: 'SOCKET_TIMEOUT', text: `The body did not arrive within ${limits.bodyMs / 1000} s` }),
    );
  if (caller) return void read();
  void access.authenticate(request, url, address).then((credentials) => {
    // The client may have disconnected meanwhile.
    if (request.socket.destroyed) return;
    if ('name' in credentials) return reject(credentials);
    read();
  });
}

/**
 * Pages of other sites can send requests with credentials that the browser or the page has, and with DNS rebinding they
 * can read the answers.
 */
function checkOrigin({ isLoopbackOnly }: Endpoint, { headers }: IncomingMessage): Exception | undefined {
  if (isLoopbackOnly && !isLoopbackHostHeader(headers.host ?? ''))
    return { name: 'ACCESS_DENIED', text: 'The Host header must be localhost, 127.0.0.1 or [::1], with any port' };
  if (headers['sec-fetch-site'] === 'cross-site')
    return { name: 'ACCESS_DENIED', text: 'Requests from pages of other sites are not accepted' };
  return undefined;
}

/** Rules that apply to every request, before everything else. */
function checkHead({ headers }: IncomingMessage, url: string, { maxUrlBytes }: ProxyLimits): Exception | undefined {
  if (url.length > maxUrlBytes)
    return {
      name: 'TOO_LARGE_STRING_SIZE',
      text: `The URL has ${url.length} bytes. Maximum: ${maxUrlBytes}. Send long statements in the body`,
    };
  const encoding = headers['transfer-encoding'];
  // Another encoding would reach ClickHouse undecoded.
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return { name: 'BAD_ARGUMENTS', text: 'The only supported value of Transfer-Encoding is chunked' };
  return undefined;
}

/** The answers that need neither credentials nor a running service. */
function findFixedAnswer({ state }: Endpoint, method: string, url: string, path: string): Answer | undefined {
  if (!QUERY_METHODS.includes(method)) return method === 'OPTIONS' ? NO_CONTENT : NOT_IMPLEMENTED;
  const isGet = method === 'GET' || method === 'HEAD';
  if (isGet && (url === '/' || HEALTH_PATHS.includes(path))) return HEALTH_ANSWERS[state];
  return path === '/' ? undefined : toNotFoundAnswer(path);
}

interface Arrival {
  request: IncomingMessage;
  response: ServerResponse;
  url: RequestUrl;
  address: string;
  body: QueryBody;
  beginning: Buffer | undefined;
  caller: SqlCaller | undefined;
}

function forward(endpoint: Endpoint, arrival: Arrival): void {
  const { request, response, url, address, body, beginning, caller } = arrival;
  const statement = url.statement ?? findStatement(request, url, body, beginning);
  const kind: StatementKind = findKind(statement);
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, MAX_AGENT_CHARACTERS);
  const isWhole = body.type === 'none' || (url.statement === undefined && body.type === 'whole');
  const isIgnored = endpoint.useRules.isIgnored(userAgent, isWhole ? statement : undefined);
  const since = endpoint.traffic.count(isIgnored);
  // A query without an id gets one, so that it can be killed when its client disconnects.
  const id = url.queryId || newUuid();
  const parameters = url.queryId ? url.forwarded : `query_id=${id}${url.forwarded === '' ? '' : `&${url.forwarded}`}`;
  forwardQuery(
    {
      request,
      response,
      path: `/?${parameters}`,
      body,
      id,
      since,
      kind,
      userAgent,
      sqlRole: caller?.role,
      credentialId: caller?.credentialId,
      cause: { address, userAgent, username: 'default', kind, at: since },
    },
    endpoint,
  );
}

/** The beginning of a body that is not compressed. */
function findStatement(
  { headers }: IncomingMessage,
  { isDecompressed }: RequestUrl,
  body: QueryBody,
  beginning: Buffer | undefined,
): string | undefined {
  if (body.type === 'none') return '';
  if (beginning === undefined || isDecompressed || headers['content-encoding'] !== undefined) return undefined;
  return beginning.toString('utf8', 0, MAX_STATEMENT_CHARACTERS);
}
