import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newUuid } from '../../src/kernel/ids.ts';
import { systemClock } from '../../src/kernel/time/clock.ts';
import { createS3Storage } from '../../src/running/backups/storage/s3.ts';
import { createS3Objects } from '../../src/running/backups/storage/s3-objects.ts';
import { BUCKET, KEY } from '../support/s3-server.ts';
import { testS3Storage } from '../support/s3-storage.ts';

const SIGNAL = new AbortController().signal;
const PREFIX = 'credentials/';
const WRONG_SECRET = 'not-the-secret-of-this-key';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('S3-compatible storage for backups', () => {
  const s3 = testS3Storage();

  /** As ClickHouse has written it. */
  function writeBackup(): string {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-storage-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, '.backup'), '<config></config>');
    return folder;
  }

  it('says that the credentials are wrong, without them, and uses corrected ones without a restart', async () => {
    const { endpoint, credentialsFile } = s3;
    const address = {
      bucket: BUCKET,
      prefix: PREFIX,
      endpoint,
      credentialsFile,
      region: 'us-east-1',
      timeoutMs: 30_000,
    };
    const storage = createS3Storage(address, systemClock);
    const backup = { id: newUuid(), serviceId: newUuid() };
    const from = writeBackup();
    const attempts: (() => Promise<unknown>)[] = [
      () => storage.findObstacle(SIGNAL),
      () => storage.add(backup, from, SIGNAL),
      () => storage.remove(backup, SIGNAL),
    ];
    onTestFinished(() => s3.writeCredentials(KEY));
    for (const [key, code] of [
      [{ ...KEY, secret: WRONG_SECRET }, 'SignatureDoesNotMatch'],
      [{ id: 'NOSUCHKEY', secret: WRONG_SECRET }, 'InvalidAccessKeyId'],
    ] as const) {
      s3.writeCredentials(key);
      for (const attempt of attempts)
        expect(await attempt().catch((error: Error) => error.message)).toBe(
          `s3://${BUCKET}/${PREFIX} responded with status 403 ${code}`,
        );
      expect(await s3.listKeys(PREFIX)).toEqual([]);
      s3.writeCredentials(KEY);
      expect(await storage.findObstacle(SIGNAL)).toBeUndefined();
    }
    // The files were kept for the next attempt.
    await storage.add(backup, from, SIGNAL);
    expect(await s3.listKeys(PREFIX)).toHaveLength(2);
  });

  it('keeps nothing that was read in memory until the time limit of the request', async () => {
    const { endpoint, credentialsFile } = s3;
    const address = { bucket: BUCKET, prefix: '', endpoint, credentialsFile, region: 'us-east-1', timeoutMs: 600_000 };
    const objects = createS3Objects(address, systemClock);
    const bytes = 4 * 2 ** 20;
    await s3.write('large', Buffer.alloc(bytes, 7));
    const read = async () => expect((await objects.read('large', { start: 0, end: bytes }, SIGNAL))?.bytes).toBe(bytes);
    const measure = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    await read();
    const before = measure();
    for (let count = 0; count < 20; count++) await read();
    await expect.poll(measure, { timeout: 20_000 }).toBeLessThan(before + 5 * bytes);
  });
});
