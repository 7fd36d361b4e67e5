import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { type ClockedOptions, useClockedServer } from '../support/clocked-server.ts';
import { useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const disk = mkdtempSync(join(tmpdir(), 'pilothouse-disk-'));
/** A disk of its own in memory. Needs root. */
const hasDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', disk]).status === 0;
afterAll(() => {
  if (hasDisk) execFileSync('umount', ['--lazy', disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** What is left for the log of ClickHouse, and less than the rows that are to be backed up. */
const LEFT_BYTES = 4 * 2 ** 20;
const FIRST_ROWS = 1000;
const MORE_ROWS = 2000;

/** Rows of 10 KB that cannot be compressed. */
const insertRows = (rows: number) => `INSERT INTO t SELECT number, randomString(10000) FROM numbers(${rows})`;

const listFolders = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

describe.skipIf(!hasDisk)('on small disks that need root to be mounted', () => {
  describe.each(['backups', 'services'] as const)('a full disk of the %s', (part) => {
    onEachStoreInLongRuns('fails the backup', (store) => {
      const folder = join(disk, `${part}-${store}`);
      const settings: ClockedOptions['settings'] = { endpointPorts: '0', rateLimit: 'off' };
      if (part === 'backups') settings.backupDirectory = folder;
      // Registered first, so it runs after the server has stopped.
      afterAll(() => rmSync(folder, { recursive: true, force: true }));
      const server = useClockedServer(store, { settings, isShared: true });
      const services = useServices({ call: (call) => server.call(call) });
      const { send } = services;
      beforeAll(() => {
        mkdirSync(folder);
        // Created with the first service.
        if (part === 'services') symlinkSync(folder, join(server.directory, 'data', 'services'));
      });

      async function backUp(id: string): Promise<Json> {
        const { json } = await send('POST', `/${id}/backups`);
        await server.settleBackups();
        return (await send('GET', `/${id}/backups/${json.result.id}`)).json.result;
      }

      /** The folders of the backups of a service: those that are stored, and those that ClickHouse has written. */
      const readFolders = (id: string) => ({
        stored: listFolders(join(part === 'backups' ? folder : join(server.directory, 'data/backups'), id)),
        written: listFolders(join(server.directory, 'data/services', id, 'data/backups')),
      });

      it('with the reason, leaves nothing, keeps the service and earlier backups, and the next one fits again', async () => {
        const { id, query } = await services.create();
        await query('CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
        await query('CREATE TABLE log (n UInt64) ENGINE = Log');
        // The next backup has only what is added to the file.
        const addToLog = () => query('INSERT INTO log SELECT number FROM numbers(1000)');
        await addToLog();
        await query(insertRows(FIRST_ROWS));
        const first = await backUp(id);
        expect(first).toMatchObject({ status: 'done', type: 'full' });
        await addToLog();
        expect((await query(insertRows(MORE_ROWS))).status).toBe(200);

        const fill = join(disk, 'fill');
        onTestFinished(() => rmSync(fill, { force: true }));
        const { bavail, bsize } = statfsSync(disk);
        writeFileSync(fill, Buffer.alloc(bavail * bsize - LEFT_BYTES));
        const failed = await backUp(id);
        expect(failed).toMatchObject({ status: 'error', error: expect.stringMatching(/no space/) });
        expect(failed.sizeInBytes ?? 0).toBe(0);
        expect(readFolders(id)).toEqual({ stored: [first.id], written: [] });
        expect((await query('SELECT count(), countIf(length(s) = 10000) FROM t')).text).toBe('3000\t3000');

        rmSync(fill);
        const next = await backUp(id);
        expect(next).toMatchObject({ status: 'done', type: 'incremental' });
        expect(readFolders(id)).toEqual({ stored: [first.id, next.id].sort(), written: [] });
        const sums = 'SELECT count(), sum(cityHash64(n, s)), (SELECT count() FROM log) FROM t';
        const restored = await services.create({ name: 'restored', backupId: next.id });
        expect((await restored.query(sums)).text).toBe((await query(sums)).text);
      });
    });
  });
});
