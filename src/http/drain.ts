import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from './validation.ts';

/**
 * Closes gracefully: running requests finish and close their connection, connections without a request are dropped, and
 * after `graceMs` the rest is closed. Node stops checking for slow requests once a server closes, so without this a
 * stalled upload would keep the process alive forever.
 */
export function drainOnClose(app: App, graceMs: number): void {
  const latestResponses = new Map<Socket, ServerResponse | undefined>();
  let isClosing = false;

  app.server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy();
    latestResponses.set(socket, undefined);
    socket.once('close', () => latestResponses.delete(socket));
  });

  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    latestResponses.set(socket, response);
    if (isClosing) closeAfter(socket, response);
  });

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const [socket, response] of latestResponses) {
      if (response && !response.writableFinished) closeAfter(socket, response);
      else if (socket.bytesRead === 0) socket.destroy();
    }
    setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  });
}

function closeAfter(socket: Socket, response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
  response.once('finish', () => socket.end());
}
