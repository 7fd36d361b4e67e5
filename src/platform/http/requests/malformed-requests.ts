import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { endHandshake, isHandshakeError } from '../../tls/handshake.ts';
import { renderFailure, toHttpStatus } from '../interfaces.ts';
import { SECURITY_HEADERS } from '../responses/security-headers.ts';
import { type BasePath, stripBasePath } from './base-path.ts';

interface MalformedRequest extends Error {
  code?: string;
  rawPacket?: unknown;
}

/** Responds to requests that are not valid HTTP with an error instead of a connection reset. */
export function createMalformedRequestHandler(
  log: (error: AppError, requestId: string) => void,
  basePath: BasePath = '',
) {
  /** Finds the URL in bytes that could not be parsed: `GET /v1/x HTTP/1.1`. */
  const findUrl = (packet: unknown) =>
    Buffer.isBuffer(packet) ? /^[!-~]+ (\S+)/.exec(packet.subarray(0, 2048).toString('latin1'))?.[1] : undefined;

  function respond(socket: Socket, error: AppError, url: string): void {
    const requestId = newUuid();
    log(error, requestId);
    if (!socket.writable) return void socket.destroy();
    const { type, body } = renderFailure(url === '' ? '' : stripBasePath(basePath, url), error, requestId);
    const status = toHttpStatus(error);
    const head = [
      `HTTP/1.1 ${status} ${error.code}`,
      `content-type: ${type}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      ...Object.entries({ ...SECURITY_HEADERS, ...error.headers }).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }

  function clientError(error: MalformedRequest, socket: Socket): void {
    if (isHandshakeError(error)) return void endHandshake(error, socket);
    if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy();
    if (hasResponse(socket)) return void socket.destroySoon();
    respond(socket, toAppError(error), findUrl(error.rawPacket) ?? findCurrentUrl(socket));
  }

  return {
    clientError,
    attach(server: Server): void {
      server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
        response.shouldKeepAlive = false;
        respond(
          request.socket,
          new AppError('bad_request', 'The expectation in the Expect header is not supported'),
          request.url ?? '',
        );
      });
      server.on('connect', (request: IncomingMessage, socket: Socket) => {
        respond(
          socket,
          new AppError('method_not_allowed', 'CONNECT is not supported', { headers: { allow: 'GET, HEAD' } }),
          request.url ?? '',
        );
      });
    },
  };
}

/** Whether the invalid bytes belong to the body of a request that has its response already: it must not get a second one. */
function hasResponse(socket: Socket): boolean {
  const { parser, _httpMessage: response } = socket as Socket & {
    parser?: { incoming?: IncomingMessage | null } | null;
    _httpMessage?: ServerResponse | null;
  };
  const request = parser?.incoming;
  if (!request || request.complete) return false;
  // Node removes a response from the socket when it is written completely.
  return !response || (response.req === request && response.writableEnded);
}

/** The URL of the current request on a connection: its head was valid, its body was not. Node stores its response on the socket. */
function findCurrentUrl(socket: Socket): string {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
  const request = response?.req as (IncomingMessage & { originalUrl?: string }) | undefined;
  return request?.originalUrl ?? request?.url ?? '';
}

function toAppError(error: MalformedRequest): AppError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The request line and headers are too large', { cause: error });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request took too long to arrive', { cause: error });
    case 'HPE_INVALID_METHOD':
      return new AppError('bad_request', 'The HTTP method is unknown', { cause: error });
    case 'HPE_INVALID_URL':
      return new AppError('bad_request', 'The URL is not valid', { cause: error });
    default:
      return new AppError('bad_request', 'The request is not valid HTTP', { cause: error });
  }
}
