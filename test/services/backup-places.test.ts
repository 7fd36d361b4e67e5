import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { useServices } from '../support/running-service.ts';
import { KEY, useS3 } from '../support/s3-server.ts';
import { useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const MEMORY = '/dev/shm';
const isOtherFileSystem = existsSync(MEMORY) && statSync(MEMORY).dev !== statSync(tmpdir()).dev;

describe('backups with several processes, in a directory on another file system', () => {
  let directory = '';
  const args = ['--endpoint-ports', '0', '--workers', '2'];
  beforeAll(() => {
    directory = mkdtempSync(join(isOtherFileSystem ? MEMORY : tmpdir(), 'pilothouse-backups-'));
    args.push('--backup-directory', directory);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const server = useServer('libsql', { inProcess: false, args });
  const services = useServices(server);
  const { send } = services;

  const untilDone = (id: string, backupId: string, isRunning: (backup: Json) => boolean): Promise<Json> =>
    until(
      async () => (await send('GET', `/${id}/backups/${backupId}`)).json.result as Json,
      (backup) => !isRunning(backup),
      'the work on the backup does not end',
    );

  it('are copied there, verified and restored', async () => {
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    for (const type of ['full', 'incremental']) {
      await query('INSERT INTO t SELECT number FROM numbers(500)');
      const { json } = await send('POST', `/${id}/backups`);
      const backup = await untilDone(id, json.result.id, ({ status }) => status === 'in_progress');
      expect(backup).toMatchObject({ status: 'done', type });
    }
    const [newest, ...others] = (await send('GET', `/${id}/backups`)).json.result as Json[];
    expect(readdirSync(join(directory, id)).sort()).toEqual([newest, ...others].map((backup) => backup?.id).sort());
    expect(readdirSync(join(server.directory, 'data/services', id, 'data/backups'))).toEqual([]);
    expect(existsSync(join(server.directory, 'data/backups'))).toBe(false);
    await send('POST', `/${id}/backups/${newest?.id}/verification`);
    const { verification } = await untilDone(id, newest?.id, (backup) => backup.verification?.status === 'in_progress');
    expect(verification).toMatchObject({ status: 'done', rows: 1000 });
    const restored = await services.create({ name: 'restored', backupId: newest?.id, driver: undefined });
    expect((await restored.query('SELECT count() FROM t')).text).toBe('1000');
  });
});

describe('a server whose storage for backups cannot be used', () => {
  const s3 = useS3();
  const args = ['--backup-storage', 's3://no-such-bucket/x'];
  beforeAll(() => {
    args.push('--backup-s3-endpoint', s3.endpoint, '--backup-s3-credentials-file', s3.credentialsFile);
  });
  const server = useServer('libsql', { inProcess: false, args });

  it('starts, and its log says why', async () => {
    const log = await until(
      async () => server.log(),
      (text) => text.includes('the storage for backups of services cannot be used'),
      'the log says nothing',
    );
    expect(log).toContain('s3://no-such-bucket/x/ responded with status 404 NoSuchBucket');
    expect(log).not.toContain(KEY.secret);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});
