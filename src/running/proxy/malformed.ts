import type { Socket } from 'node:net';
import { endHandshake, isHandshakeError } from '../../platform/tls/handshake.ts';
import { type Answer, ENDPOINT_SECURITY_HEADERS, toTextAnswer } from './exceptions.ts';

/** Answers bytes that are not valid HTTP, and closes the connection. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (isHandshakeError(error)) return void endHandshake(error, socket);
  // A response may be on its way: a second one would be read as part of it.
  if (!socket.writable || socket.bytesWritten > 0 || error.code === 'ECONNRESET') return void socket.destroy();
  const { status, headers, body } = toAnswer(error.code);
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...ENDPOINT_SECURITY_HEADERS, ...length, Connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${head}\r\n${body}`);
}

const REASONS: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

function toAnswer(code: string | undefined): Answer {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return toTextAnswer(431, 'The URL and the headers are too large; send long statements in the body\n');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return toTextAnswer(408, 'The headers took too long to arrive\n');
    default:
      return toTextAnswer(400, 'The request is not valid HTTP\n');
  }
}
