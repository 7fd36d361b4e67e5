import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it, vi } from 'vitest';
import type { Json } from '../support/client.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { useServices } from '../support/running-service.ts';
import { BUCKET, useS3 } from '../support/s3-server.ts';
import { onEachStoreInLongRuns, type StoreName, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts processes in each round.
vi.setConfig({ testTimeout: isLongRun ? 7_200_000 : 300_000 });

/** Rows of 1 KB per round. A restore copies those of all rounds before it. */
const BATCH = isLongRun ? 2000 : 20_000;

/** Numbers from 0 to 1 that a seed repeats. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const listFolder = (path: string): string[] => (existsSync(path) ? readdirSync(path).sort() : []);

/** Why a backup fails if a process is killed. */
const INTERRUPTED =
  /^(The control plane was stopped during the backup|The connection to the service was lost|The service is not running)$/;

/** The ids of the backups of a service that are in the storage. */
type ListStored = (directory: string, serviceId: string) => Promise<string[]>;

const testKills = (store: StoreName, args: string[], listStored: ListStored) => {
  const server = useServer(store, { inProcess: false, args });
  const services = useServices(server);
  const { send } = services;
  const list = async (id: string): Promise<Json[]> => (await send('GET', `/${id}/backups`)).json.result;

  async function killAfter(ms: number): Promise<void> {
    await delay(ms);
    process.kill(server.pid, 'SIGKILL');
    await server.stop();
    await server.restart();
  }

  /** The control plane starts it again. */
  async function killServiceAfter(ms: number, id: string): Promise<void> {
    const { pid } = (await services.read(id)).status.evidence;
    await delay(ms);
    process.kill(pid, 'SIGKILL');
    await until(
      () => services.read(id),
      ({ status }) => status.state === 'running' && status.evidence.pid !== pid,
      'the service is not started again',
    );
  }

  const remove = async (id: string) => {
    await services.command(id, 'stop');
    await services.untilState(id, 'stopped');
    expect((await send('DELETE', `/${id}`)).status).toBe(200);
  };

  it(`a backup that is called done can be restored, and nothing is left behind (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    const { id, query } = await services.create();
    await query('CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
    const insert = (round: number) => `INSERT INTO t SELECT ${round}, randomString(1000) FROM numbers(${BATCH})`;
    await query(insert(0));
    /** The rounds whose rows were acknowledged before each backup was requested. */
    const expected = new Map<string, number>();
    for (let round = 1; round <= ROUNDS; round++) {
      const requested = (await send('POST', `/${id}/backups`)).json.result;
      expected.set(requested.id, round);
      const isServiceKilled = random() < 0.5;
      await (isServiceKilled ? killServiceAfter(random() * 1500, id) : killAfter(random() * 1500));
      const backups = await until(
        () => list(id),
        (all) => all.every(({ status }) => status !== 'in_progress'),
        'a backup stays in progress',
      );
      await services.untilState(id, 'running');
      expect((await query(insert(round))).status).toBe(200);
      // Only what is done has files, and all of it.
      const done = backups.filter(({ status }) => status === 'done').map((backup) => backup.id);
      expect(await listStored(server.directory, id)).toEqual(done.sort());
      expect(listFolder(join(server.directory, 'data/services', id, 'data/backups'))).toEqual([]);
      for (const { status, error } of backups) if (status === 'error') expect(error).toMatch(INTERRUPTED);
    }
    const last = (await send('POST', `/${id}/backups`)).json.result;
    expected.set(last.id, ROUNDS + 1);
    const all = await until(
      () => list(id),
      (backups) => backups.every(({ status }) => status !== 'in_progress'),
      'the last backup is not done',
    );
    expect(all[0]).toMatchObject({ id: last.id, status: 'done' });
    for (const backup of all.filter(({ status }) => status === 'done')) {
      const wanted = { name: 'restored', provider: 'aws', region: 'eu-central-1', backupId: backup.id };
      const { service, password } = (await send('POST', '', wanted)).json.result;
      // The restore starts again from the beginning.
      if (backup.id === last.id || isLongRun) await killAfter(random() * 1500);
      const { endpoints } = await services.untilState(service.id, 'running');
      const { host, port } = endpoints[0];
      const count = {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`default:${password}`).toString('base64')}` },
        body: `SELECT count() / ${BATCH}, uniqExact(n) FROM t FORMAT TSV`,
      };
      // After a kill, the stored state is shown for a moment before the endpoint is open again, on the same port.
      const response = await until(
        () => fetch(`http://${host}:${port}/`, count).catch(() => undefined),
        (answer) => answer !== undefined,
        'the endpoint of the restored service is not open',
      );
      const rounds = expected.get(backup.id);
      expect((await response?.text())?.trim()).toBe(`${rounds}\t${rounds}`);
      expect(readdirSync(join(server.directory, 'data/services', service.id, 'data'))).not.toContain('backups');
      await remove(service.id);
    }
  });
};

onEachStoreInLongRuns('backups of services when the control plane or the service is killed', (store) => {
  testKills(store, ['--endpoint-ports', '0'], async (directory, id) => listFolder(join(directory, 'data/backups', id)));
});

onEachStoreInLongRuns('backups in S3-compatible storage when the control plane or the service is killed', (store) => {
  const s3 = useS3();
  const args = ['--endpoint-ports', '0', '--backup-storage', `s3://${BUCKET}`];
  beforeAll(() => {
    args.push('--backup-s3-endpoint', s3.endpoint, '--backup-s3-credentials-file', s3.credentialsFile);
  });
  testKills(store, args, async (_, id) => {
    const keys = await s3.listKeys(`${id}/`);
    return [...new Set(keys.map((key) => key.split('/')[1] ?? ''))].sort();
  });
});
