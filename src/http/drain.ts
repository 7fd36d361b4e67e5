import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { App } from './validation.ts';

/**
 * Closing finishes what is in flight and waits for nothing else: an answer says that its connection ends, a connection
 * that never said a word is dropped, and whoever has not finished within `graceMs` is cut off. Node looks for slow
 * requests no longer once a server closes, so without this one stalled upload would keep the process alive for good.
 */
export function drainOnClose(app: App, graceMs: number): void {
  const latestResponses = new Map<Socket, ServerResponse | undefined>();
  let isClosing = false;

  app.server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy();
    latestResponses.set(socket, undefined);
    socket.once('close', () => latestResponses.delete(socket));
  });

  app.server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    latestResponses.set(socket, answer);
    if (isClosing) closeAfter(socket, answer);
  });

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const [socket, answer] of latestResponses) {
      if (answer && !answer.writableFinished) closeAfter(socket, answer);
      else if (socket.bytesRead === 0) socket.destroy();
    }
    setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  });
}

function closeAfter(socket: Socket, answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('connection', 'close');
  answer.once('finish', () => socket.end());
}
