import type { AddressInfo, Server } from 'node:net';
import { AppError } from '../../kernel/errors.ts';

export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toListenError(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): AppError {
  const place = `port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE')
    return new AppError(
      'conflict',
      `The endpoint cannot be opened: ${place} is in use; stop the program that uses it`,
      {
        cause: error,
      },
    );
  if (error.code === 'EACCES')
    return new AppError('conflict', `The endpoint cannot be opened: ${place} is reserved; choose a port above 1023`, {
      cause: error,
    });
  return new AppError('unavailable', `The endpoint cannot be opened on ${place}`, { cause: error });
}
