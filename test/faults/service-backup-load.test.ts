import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { isLongRun, ROUNDS } from '../support/long-run.ts';
import { query, useServices } from '../support/running-service.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Makes and restores a backup in each round.
vi.setConfig({ testTimeout: isLongRun ? 14_400_000 : 300_000 });

const BATCH = 100;
const WRITE_PAUSE_MS = 50;

onEachStoreInLongRuns('backups of a service under writes', (store) => {
  const server = useServer(store, { inProcess: false, args: ['--endpoint-ports', '0'] });
  const services = useServices(server);
  const { send } = services;

  async function backUp(id: string): Promise<Json> {
    const { json } = await send('POST', `/${id}/backups`);
    return until(
      async () => (await send('GET', `/${id}/backups/${json.result.id}`)).json.result as Json,
      ({ status }) => status !== 'in_progress',
      'the backup stays in progress',
    );
  }

  async function remove(id: string): Promise<void> {
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    expect((await send('DELETE', `/${id}`)).status).toBe(200);
  }

  it(`each of ${ROUNDS} backups has all rows that were acknowledged before it, and no part of a later insert`, async () => {
    const service = await services.create();
    await service.query('CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
    /** Rows 0 to this one, exclusive. */
    const written = { sent: 0, acknowledged: 0 };
    let isWriting = true;
    const writer = (async () => {
      while (isWriting) {
        const first = written.sent;
        written.sent += BATCH;
        const sql = `INSERT INTO t SELECT number + ${first}, randomString(100) FROM numbers(${BATCH})`;
        expect(await service.query(sql)).toMatchObject({ status: 200 });
        written.acknowledged = written.sent;
        // Without a pause, hundreds of rounds would fill the disk.
        await delay(WRITE_PAUSE_MS);
      }
    })();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const { acknowledged } = written;
        const backup = await backUp(service.id);
        const { sent } = written;
        expect(backup, JSON.stringify(backup)).toMatchObject({ status: 'done' });
        const wanted = { name: 'restored', backupId: backup.id, driver: undefined };
        const restored = await services.create(wanted);
        const { text } = await query(
          restored.url,
          restored.password,
          'SELECT count(), uniqExact(n), max(n) + 1 FROM t',
        );
        const [rows = 0, distinct, end] = text.split('\t').map(Number);
        expect([distinct, end]).toEqual([rows, rows]);
        expect(rows % BATCH).toBe(0);
        expect(rows).toBeGreaterThanOrEqual(acknowledged);
        expect(rows).toBeLessThanOrEqual(sent);
        await remove(restored.id);
      }
    } finally {
      isWriting = false;
      await writer;
    }
  });
});
