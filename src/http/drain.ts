import type { Socket } from 'node:net';
import type { App } from './validation.ts';

/**
 * Closing finishes what is in flight and waits for nothing else: an answer says that its connection ends, a connection
 * that never said a word is dropped, and whoever has not finished within `graceMs` is cut off. Node looks for slow
 * requests no longer once a server closes, so without this one stalled upload would keep the process alive for good.
 */
export function drainOnClose(app: App, graceMs: number): void {
  const sockets = new Set<Socket>();
  let isClosing = false;

  app.server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });

  app.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  });
}
