import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { getServerStore, listErrors } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { createTarget, serveQuietly, type Target } from '../support/restored.ts';
import { query, useServices } from '../support/running-service.ts';
import { BUCKET, useS3 } from '../support/s3-server.ts';
import { onEachStore, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

onEachStore('pilothouse backup --with-services', (store) => {
  const s3 = useS3();
  const server = useServer(store, { inProcess: false, args: ['--endpoint-ports', '0'] });
  const services = useServices(server);
  const { send } = services;
  let target: Target;
  beforeAll(async () => {
    target = await createTarget(store);
  });
  afterAll(() => target.remove());

  async function backUp(id: string): Promise<Json> {
    const { json } = await send('POST', `/${id}/backups`);
    const backup = await until(
      async () => (await send('GET', `/${id}/backups/${json.result.id}`)).json.result as Json,
      ({ status }) => status !== 'in_progress',
      'the backup stays in progress',
    );
    expect(backup).toMatchObject({ status: 'done' });
    return backup;
  }

  async function createFilled(name: string, rows: number) {
    const service = await services.create({ name });
    await service.query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
    await service.query(`INSERT INTO t SELECT number FROM numbers(${rows})`);
    await backUp(service.id);
    return service;
  }

  it('restores the control plane with the data of its services, from the directory and from S3', async () => {
    const first = await createFilled('first', 1000);
    await first.query('INSERT INTO t SELECT number + 1000 FROM numbers(10)');
    const added = await backUp(first.id);
    expect(added.type).toBe('incremental');
    const storage = ['--backup-storage', `s3://${BUCKET}`, '--backup-s3-endpoint', s3.endpoint];
    const args = [...server.args, ...storage, '--backup-s3-credentials-file', s3.credentialsFile];
    await server.stop();
    await server.restart(args);
    const second = await createFilled('second', 77);

    const file = join(server.directory, 'everything.backup');
    const { run } = getServerStore(server);
    const backup = await run('backup', file, '--with-services');
    expect([backup.code, backup.stdout]).toEqual([0, expect.stringContaining('newest backups of 2 services')]);
    // Only the backups in the directory: those in S3 stay there.
    expect(readdirSync(`${file}.services`).sort()).toEqual([first.id, 'services.json'].sort());
    expect(readdirSync(join(`${file}.services`, first.id))).toHaveLength(2);
    expect(listErrors(await run('backup', file, '--with-services')).join()).toContain('exists');
    await server.stop();

    const restored = await target.run('restore', file, '--with-services');
    expect([restored.code, restored.stdout]).toEqual([
      0,
      expect.stringContaining('The data of 2 services is restored'),
    ]);
    const running = await serveQuietly([...target.args, ...args]);
    try {
      const copies = useServices(running);
      for (const [{ id, password }, rows] of [
        [first, '1010'],
        [second, '77'],
      ] as const) {
        const { endpoints } = await copies.untilState(id, 'running');
        const url = `http://${endpoints[0].host}:${endpoints[0].port}`;
        expect(await query(url, password, 'SELECT count() FROM t')).toEqual({ status: 200, text: rows });
      }
      expect(existsSync(join(target.directory, 'data/services', first.id, 'wanted-backup'))).toBe(false);
    } finally {
      await running.stop();
    }
    // Services that have data keep it.
    const again = await target.run('restore', file, '--with-services', '--force');
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/data here and keep it: (first, second|second, first)/),
    ]);
  });

  it('says what is wrong before it changes anything', async () => {
    const file = join(server.directory, 'everything.backup');
    const other = await createTarget(store);
    try {
      writeFileSync(join(other.directory, 'lonely.backup'), '');
      const missing = await other.run('restore', join(other.directory, 'lonely.backup'), '--with-services');
      expect(listErrors(missing).join()).toContain('services.json cannot be read');
      await other.apply({ organizations: [] });
      const started = await serveQuietly(other.args);
      await started.stop();
      const used = await other.run('restore', file, '--with-services', '--force');
      expect(listErrors(used).join()).toContain('has services of its own');
    } finally {
      await other.remove();
    }
  });
});
