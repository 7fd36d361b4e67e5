import type { Socket } from 'node:net';

/** Whether a connection failed before it was encrypted. */
export const isHandshakeError = ({ code = '' }: NodeJS.ErrnoException): boolean => /^ERR_(SSL|TLS)_/.test(code);

const TEXT = 'This port accepts HTTPS only\n';
const PLAIN_ANSWER = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${TEXT.length}`,
  'Connection: close',
  '',
  TEXT,
].join('\r\n');

/** The connection below an encrypted one. Node has it in a member without documentation. */
export const findPlainSocket = (socket: Socket): Socket | undefined =>
  (socket as Socket & { _parent?: Socket | null })._parent ?? undefined;

/** Ends a connection whose handshake failed. A client that sent plain HTTP is told why, in plain HTTP. */
export function endHandshake({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const plain = findPlainSocket(socket);
  if (code !== 'ERR_SSL_HTTP_REQUEST' || !plain?.writable) return void socket.destroy();
  plain.write(PLAIN_ANSWER);
  plain.destroySoon();
}
