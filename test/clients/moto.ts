import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StartS3 } from '../support/s3-server.ts';
import { until } from '../support/until.ts';
import { installFromPyPi } from './install.ts';

/** The folder of the programs of moto, an S3 server. */
export const installMoto = (): string => installFromPyPi('moto[s3,server]==5.2.5');

const findPort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

export const startMoto =
  (programs: string): StartS3 =>
  async () => {
    const port = await findPort();
    const child = spawn(join(programs, 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}`;
    await until(
      () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      (isUp) => isUp,
      'moto does not start',
    );
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return {
      url,
      async close() {
        child.kill();
        await ended;
      },
    };
  };
