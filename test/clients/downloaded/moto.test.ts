import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { newUuid } from '../../../src/kernel/ids.ts';
import { systemClock } from '../../../src/kernel/time/clock.ts';
import { createS3Storage } from '../../../src/running/backups/s3.ts';
import { BUCKET, type StartS3 } from '../../support/s3-server.ts';
import { testS3Storage } from '../../support/s3-storage.ts';
import { until } from '../../support/until.ts';
import { describeClient, installFromPyPi } from '../install.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SIGNAL = new AbortController().signal;

const findPort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

describeClient(
  'moto, an S3 server',
  () => installFromPyPi('moto[s3,server]==5.2.5'),
  (programs) => {
    const start: StartS3 = async () => {
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
    const s3 = testS3Storage(start);

    it('large files are sent in parts; an upload that was interrupted leaves none', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pilothouse-parts-'));
      const content = Buffer.alloc(21_000_000, 'large ');
      const { endpoint, credentialsFile } = s3;
      const address = { bucket: BUCKET, prefix: '', endpoint, credentialsFile, region: 'us-east-1', timeoutMs: 60_000 };
      const backup = { id: newUuid(), serviceId: newUuid() };
      try {
        writeFileSync(join(folder, 'large.bin'), content);
        const stopping = new AbortController();
        s3.fail = (request) => (request.includes('partNumber=2') ? 'hang' : undefined);
        const storage = createS3Storage(address, systemClock);
        const stopped = expect(storage.add(backup, folder, stopping.signal)).rejects.toThrow();
        await until(
          async () => s3.requests.some((request) => request.includes('partNumber=2')),
          (isReached) => isReached,
          'the second part is not sent',
        );
        expect(await s3.countUploads()).toBe(1);
        stopping.abort();
        await stopped;
        s3.fail = () => undefined;
        s3.requests.length = 0;
        await createS3Storage(address, systemClock).add(backup, folder, SIGNAL);
        expect(await s3.countUploads()).toBe(0);
        expect(s3.requests.filter((request) => request.includes('partNumber='))).toHaveLength(3);
        const to = `${folder}-copy`;
        await storage.copy(backup, to, SIGNAL, () => {});
        expect(readFileSync(join(to, 'large.bin')).equals(content)).toBe(true);
        rmSync(to, { recursive: true });
        await storage.remove(backup, SIGNAL);
        expect(await s3.listKeys(`${backup.serviceId}/`)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);
