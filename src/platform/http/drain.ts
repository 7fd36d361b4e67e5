import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { findPlainSocket } from '../tls/handshake.ts';
import type { App } from './requests/validation.ts';

/** A request that a client sent before it could know that the server stops arrives within this time. */
const IDLE_MS = 1000;
/** How often connections are checked while the server stops. */
const CHECK_EVERY_MS = 50;

interface Connection {
  response: ServerResponse | undefined;
  /** Of the last request or response, on the monotonic clock. */
  activeAt: number;
  /** When it was active, so that the beginning of a request counts as activity. */
  bytesRead: number;
  /** Of the handshake. */
  firstBytes: number;
}

/**
 * Closes gracefully: running requests finish and close their connection. An idle connection is closed only after a
 * moment without a request, since one may be on its way: closing it at once would reset the request. After `graceMs` the
 * rest is closed. Node stops checking for slow requests once a server closes, so without this a stalled upload would keep
 * the process alive forever.
 */
export function drainOnClose(app: App, graceMs: number): void {
  const connections = new Map<Socket, Connection>();
  let isClosing = false;

  function add(socket: Socket): void {
    const { bytesRead } = socket;
    connections.set(socket, { response: undefined, activeAt: performance.now(), bytesRead, firstBytes: bytesRead });
    socket.once('close', () => connections.delete(socket));
  }

  app.server.on('connection', add);

  // Requests over TLS have the encrypted socket.
  app.server.on('secureConnection', (socket: Socket) => {
    const plain = findPlainSocket(socket);
    if (plain) connections.delete(plain);
    add(socket);
  });

  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection) connection.response = response;
    if (isClosing) announceClose(response);
  });

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const { response } of connections.values()) if (response) announceClose(response);
    const { closeIdleConnections } = app.server;
    // Node calls this when the server closes; here, idle connections are closed later.
    app.server.closeIdleConnections = () => {};
    // Connections that clients have opened so far are accepted before the server stops listening.
    await new Promise(setImmediate);
    const closingAt = performance.now();
    const checks = setInterval(() => closeIdle(closingAt), CHECK_EVERY_MS);
    const timeout = setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
    app.server.once('close', () => {
      clearInterval(checks);
      clearTimeout(timeout);
      app.server.closeIdleConnections = closeIdleConnections;
    });
  });

  function closeIdle(closingAt: number): void {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const { response, bytesRead, firstBytes } = connection;
      if (socket.bytesRead !== bytesRead) {
        connection.bytesRead = socket.bytesRead;
        connection.activeAt = now;
      }
      const isBusy = response ? !response.writableFinished : bytesRead > firstBytes;
      if (!isBusy && now - Math.max(closingAt, connection.activeAt) >= IDLE_MS) socket.destroySoon();
    }
  }
}

/**
 * Node closes the connection after a response with this header. A connection whose response has started without it is
 * closed after its next response, or when it is idle: the client may already have sent the next request.
 */
function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
