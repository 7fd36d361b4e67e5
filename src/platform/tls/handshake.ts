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

/** Ends a connection whose handshake failed. A client that sent plain HTTP is told why, in plain HTTP. */
export function endHandshake({ code }: NodeJS.ErrnoException, socket: Socket): void {
  // Node has the connection below an encrypted one in this member.
  const { _parent: plain } = socket as Socket & { _parent?: Socket | null };
  if (code !== 'ERR_SSL_HTTP_REQUEST' || !plain?.writable) return void socket.destroy();
  plain.write(PLAIN_ANSWER);
  plain.destroySoon();
}
