import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { newUuid } from '../../../src/kernel/ids.ts';
import { systemClock } from '../../../src/kernel/time/clock.ts';
import { createS3Storage } from '../../../src/running/backups/storage/s3.ts';
import { BUCKET } from '../../support/s3-server.ts';
import { testS3Storage } from '../../support/s3-storage.ts';
import { until } from '../../support/until.ts';
import { describeClient } from '../install.ts';
import { installMoto, startMoto } from '../moto.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SIGNAL = new AbortController().signal;

describeClient('moto, an S3 server', installMoto, (programs) => {
  const s3 = testS3Storage(startMoto(programs));

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
      await storage.copy(backup, to, { signal: SIGNAL });
      expect(readFileSync(join(to, 'large.bin')).equals(content)).toBe(true);
      rmSync(to, { recursive: true });
      await storage.remove(backup, SIGNAL);
      expect(await s3.listKeys(`${backup.serviceId}/`)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
