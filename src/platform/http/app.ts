import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import Fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isLoopbackHostHeader } from '../../kernel/access/addresses.ts';
import { AppError, atPlace, type Place } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { CompletedRequest } from '../../kernel/metrics/request-series.ts';
import type { OpenFiles } from '../../kernel/open-files.ts';
import { MAX_URL_BYTES } from '../../kernel/url-limits.ts';
import { type Certificate, HANDSHAKE_MS } from '../tls/certificate.ts';
import { findPlainSocket } from '../tls/handshake.ts';
import { drainOnClose } from './drain.ts';
import { management, renderFailure, toHttpStatus } from './interfaces.ts';
import { findHeadError, MAX_HEAD_BYTES } from './limits/head-limits.ts';
import type { AccessLog } from './monitoring/access-log.ts';
import type { Metrics } from './monitoring/metrics.ts';
import { type BasePath, stripBasePath } from './requests/base-path.ts';
import { acceptJsonBodies } from './requests/body.ts';
import { createMalformedRequestHandler } from './requests/malformed-requests.ts';
import { createAllowedMethods } from './requests/methods.ts';
import { type App, type SchemaTypes, validateWithSchemas } from './requests/validation.ts';
import { toAppError } from './responses/errors.ts';
import { HSTS_HEADER, SECURITY_HEADERS } from './responses/security-headers.ts';
import { buildSerializer } from './responses/serialization.ts';

export interface AppOptions {
  log: Logger;
  access: AccessLog;
  metrics: Pick<Metrics, 'request'>;
  /** Called after every request; may retain the object. */
  observe?: ((access: CompletedRequest) => void) | undefined;
  /** Converts an error of a store into one that may be sent. */
  explain(error: unknown): unknown;
  basePath?: BasePath;
  /** The page that a browser gets if no route matches. */
  page?: Page | undefined;
  requestTimeoutMs?: number;
  /** Without it, the limit of open files is not watched. */
  openFiles?: OpenFiles | undefined;
  /** With it, the app is served over TLS. */
  certificate?: Certificate | undefined;
}

/** Handles requests that no route matches; `accepts` decides which. */
export interface Page {
  accepts(request: FastifyRequest): boolean;
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** Fastify gives an error of reading a body a status; another closed connection could be one to the database. */
const isBodyError = (error: unknown): boolean => (error as Partial<FastifyError>).statusCode !== undefined;

const KEEP_ALIVE_MS = 72_000;
/** How long a server that stops waits for running requests. */
const MAX_DRAIN_MS = 13_000;

const HTTP_OPTIONS = { requireHostHeader: false, maxHeaderSize: MAX_HEAD_BYTES };

const createTlsServer =
  (certificate: Certificate, requestTimeout: number) =>
  (handler: RequestListener): Server => {
    const options = {
      ...HTTP_OPTIONS,
      requestTimeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      handshakeTimeout: HANDSHAKE_MS,
    };
    const server = createHttpsServer({ ...options, ...certificate.options }, handler);
    certificate.follow(server);
    return server;
  };

/** The HTTP layer without routes: request ids, bodies, errors, logs, metrics. */
export function createApp({
  log,
  access,
  metrics,
  observe,
  explain,
  basePath = '',
  page,
  requestTimeoutMs = 30_000,
  openFiles,
  certificate,
}: AppOptions): App {
  const malformed = createMalformedRequestHandler((error, requestId) => {
    log.info(
      { requestId, operation: MALFORMED, status: toHttpStatus(error), reason: error.message },
      'request rejected',
    );
    const completed = { requestId, operation: MALFORMED, method: UNKNOWN_METHOD, route: '', ms: 0, ...ANONYMOUS };
    metrics.request({ ...completed, status: toHttpStatus(error) });
    observe?.({ ...completed, status: toHttpStatus(error) });
  }, basePath);

  const app: App = Fastify({
    genReqId: newUuid,
    schemaController: { compilersFactory: { buildSerializer } },
    bodyLimit: management.bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // While the server stops, requests on open connections are still served; then the connection closes.
    return503OnClosing: false,
    forceCloseConnections: false,
    routerOptions: { maxParamLength: MAX_URL_BYTES },
    http: HTTP_OPTIONS,
    ...(certificate && { serverFactory: createTlsServer(certificate, requestTimeoutMs) }),
    clientErrorHandler: malformed.clientError,
    ...(basePath === ''
      ? {}
      : { rewriteUrl: (request: IncomingMessage) => stripBasePath(basePath, request.url ?? '') }),
    frameworkErrors(error, request, reply) {
      finish(request, reply as FastifyReply, toAppError(error, request.routeOptions.bodyLimit));
      record(request, reply.statusCode, 0);
    },
  }).withTypeProvider<SchemaTypes>();

  app.decorateRequest('operation', undefined);
  app.decorateRequest('route', undefined);
  app.decorateRequest('logAbortedResponse', function (this: FastifyRequest, error: unknown) {
    const details = { requestId: this.id, operation: getOperation(this), key: this.identity?.suffix };
    log.warn({ ...details, reason: (error as Error).message, err: error }, 'response aborted');
  });
  malformed.attach(app.server);
  openFiles?.follow(app.server);
  drainOnClose(app, Math.min(requestTimeoutMs, MAX_DRAIN_MS));
  validateWithSchemas(app);
  acceptJsonBodies(app);
  const allowedMethods = createAllowedMethods(app);

  // Callbacks instead of promises: these hooks run on every request, and each promise costs a turn of the microtask queue.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(SECURITY_HEADERS);
    if (certificate && !isLoopbackHostHeader(request.headers.host ?? '')) reply.headers(HSTS_HEADER);
    if (isRefused(request.raw.socket)) return done(refuse(reply as FastifyReply));
    const headError = findHeadError(request.raw);
    if (headError) return done(headError);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new AppError('bad_request', 'The Host header is missing'));
    }
    // Not in the handler: it runs only after the body has been read and parsed.
    done(request.is404 && !page?.accepts(request) ? unknownRoute(request) : undefined);
  });

  const isRefused = (socket: Socket): boolean =>
    openFiles !== undefined && (openFiles.isRefused(socket) || openFiles.isRefused(findPlainSocket(socket)));

  function refuse(reply: FastifyReply): AppError {
    reply.header('connection', 'close');
    return new AppError('unavailable', 'The server has too many open connections', { retryAfterSeconds: 5 });
  }

  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply.statusCode, reply.elapsedTime);
    done();
  });

  app.setNotFoundHandler(async (request, reply) => {
    if (page?.accepts(request)) return page.send(request, reply as FastifyReply);
    throw unknownRoute(request);
  });

  function unknownRoute(request: FastifyRequest): AppError {
    const allowed = allowedMethods(request.url);
    if (allowed.length === 0)
      return new AppError('not_found', `${request.method} ${getPath(request.originalUrl)} does not exist`);
    return new AppError('method_not_allowed', `${request.method} is not allowed; use ${allowed.join(' or ')}`, {
      headers: { allow: allowed.join(', ') },
    });
  }

  app.setErrorHandler((error, request, reply) =>
    finish(
      request,
      reply as FastifyReply,
      atPlace(
        toAppError(isBodyError(error) ? error : explain(error), request.routeOptions.bodyLimit),
        parameterPlace(request),
      ),
    ),
  );

  function finish(request: FastifyRequest, reply: FastifyReply, error: AppError): void {
    const status = toHttpStatus(error);
    const details = {
      requestId: request.id,
      operation: getOperation(request),
      key: request.identity?.suffix,
      status,
      reason: error.message,
    };
    // A 501 concerns the operation that the client requested.
    if (status >= 500 && error.code !== 'not_implemented')
      log.error({ ...details, err: error.cause ?? error }, 'request failed');
    else if (status === 401 || status === 403 || status === 429)
      log.warn({ ...details, address: request.clientAddress }, 'request rejected');
    const isUnknownPath = request.is404 && error.code === 'not_found';
    const { type, body } =
      request.routeOptions.config?.renderFailure?.(request, error) ??
      renderFailure(request.url, error, request.id, isUnknownPath);
    reply.code(status).headers(SECURITY_HEADERS).headers(error.headers).header('x-request-id', request.id).type(type);
    if (error.retryAfterSeconds !== undefined)
      reply.header('retry-after', Math.max(1, Math.ceil(error.retryAfterSeconds)));
    reply.send(body);
  }

  function record(request: FastifyRequest, status: number, elapsedMs: number): void {
    const operation = getOperation(request);
    const ms = Math.round(elapsedMs * 1000) / 1000;
    const { suffix: key, organizationId } = request.identity ?? ANONYMOUS;
    const completed = {
      requestId: request.id,
      operation,
      method: request.method,
      route: getRoute(request),
      key,
      organizationId,
      status,
      ms,
    };
    metrics.request(completed);
    access(completed);
    observe?.(completed);
  }

  return app;
}

/** The part of the request that the violations of an operation are in: the query if the method has no body. */
const parameterPlace = ({ method }: FastifyRequest): Place =>
  method === 'GET' || method === 'HEAD' || method === 'DELETE' ? 'query' : 'request body';

const getOperation = (request: FastifyRequest): string =>
  request.operation ?? request.routeOptions.config?.operation ?? 'unknown';

const ANONYMOUS = { suffix: undefined, key: undefined, organizationId: undefined };
/** The operation of requests that are not valid HTTP. */
const MALFORMED = 'malformed';
/** OpenTelemetry's value for an unknown method. */
const UNKNOWN_METHOD = '_OTHER';

const getRoute = (request: FastifyRequest): string =>
  request.route ?? (request.is404 ? '' : (request.routeOptions.url ?? ''));

const getPath = (url: string): string => (url.split('?', 1)[0] ?? '').slice(0, 200);
