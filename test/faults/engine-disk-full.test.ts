import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { createIngestToken } from '../support/ingest.ts';
import { send as sendOtlp } from '../support/otlp-client.ts';
import { logRecord, toRequest } from '../support/otlp-requests.ts';
import { onEachStoreInLongRuns, startServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { until } from '../support/until.ts';

const organization = `/v1/organizations/${acme.id}`;
const path = `${organization}/usageEvents`;
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-disk-'));
/** A disk of its own in memory. Needs root. */
const hasDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', directory]).status === 0;
afterAll(() => {
  if (hasDisk) execFileSync('umount', ['--lazy', directory]);
  rmSync(directory, { recursive: true, force: true });
});

const createEvents = (batch: string) =>
  Array.from({ length: 20 }, (_, index) => ({
    id: `${batch}-${index}`,
    source: 'disk',
    time: new Date(Date.now() - 3_600_000).toISOString(),
    entityType: 'service',
    entityId: acme.primary,
    meter: 'compute',
    quantity: 1,
  }));

const LEFT_BYTES = 64 * 1024;

/** Leaves too little for one part of a table. */
function fillDisk(): string {
  const file = join(directory, 'fill');
  const { bavail, bsize } = statfsSync(directory);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize - LEFT_BYTES));
  } catch (error) {
    // The engine wrote in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    truncateSync(file, Math.max(0, statSync(file).size - LEFT_BYTES));
  }
  return file;
}

describe.skipIf(!hasDisk)('small disks', () => {
  onEachStoreInLongRuns("a full disk of the engine's data", (store) => {
    it('B3: rejects usage and telemetry with 503, serves reads and changes, is reported by /readyz, and recovers automatically', {
      timeout: 300_000,
    }, async () => {
      const server = await startServer(store);
      // Only the engine is on the small disk. It creates its files with the first request for data.
      mkdirSync(join(server.directory, 'data'), { recursive: true });
      mkdirSync(join(directory, store));
      symlinkSync(join(directory, store), join(server.directory, 'data', 'engine'));
      const send = (batch: string) => server.call({ method: 'POST', path, key: acme.admin, body: createEvents(batch) });
      const readWarnings = async () => {
        const { status, json } = await server.call({ path: '/readyz' });
        return { status, codes: (json.warnings ?? []).map(({ code }: { code: string }) => code) };
      };
      try {
        expect((await send('first')).json.result.accepted).toBe(20);
        expect(await readWarnings()).toEqual({ status: 200, codes: [] });
        const file = fillDisk();
        const failed = await send('full');
        expectFailure(path, failed, 503);
        expect(failed.json.error).toBe("SERVICE_UNAVAILABLE: The engine's disk is full");
        expect(Number(failed.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        // The engine also buffers the results of queries on its disk.
        for (let count = 0; count < 30; count++) {
          const again = await send(`full ${count % 10}`);
          expect([again.status, Number(again.headers.get('retry-after')) >= 1], again.text).toEqual([503, true]);
        }
        await until(
          readWarnings,
          ({ codes }) => codes.includes('engine_disk_full'),
          '/readyz does not report the disk',
        );
        const scaling = { method: 'PATCH', path: `${organization}/services/${acme.primary}/scaling`, key: acme.admin };
        expect((await server.call({ ...scaling, body: { numReplicas: 5 } })).status).toBe(200);
        rmSync(file);
        expect((await send('full')).json.result).toMatchObject({ accepted: 20, duplicates: 0 });
        expect((await send('full')).json.result).toMatchObject({ accepted: 0, duplicates: 20 });
        await until(readWarnings, ({ codes }) => codes.length === 0, '/readyz still reports the disk');

        // Telemetry is rejected earlier: this disk is smaller than what is kept free for the engine.
        const authorization = await createIngestToken(server.url, acme);
        const rejected = await sendOtlp(
          { url: `${server.url}/otlp`, authorization },
          'logs',
          toRequest('logs', [logRecord(Date.now(), { body: { stringValue: 'late' } })]),
        );
        expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '5']);
        expect(rejected.json.message).toContain('The disk of the engine is nearly full');
        await until(
          readWarnings,
          ({ codes }) => codes.includes('telemetry_rejected'),
          '/readyz does not report that telemetry is rejected',
        );
        expect((await send('more')).json.result.accepted).toBe(20);
      } finally {
        await server.remove();
      }
    });
  });
});
