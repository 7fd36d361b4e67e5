import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { createDashboard, write } from '../support/dashboards.ts';
import { acme } from '../support/fleet.ts';
import { createTarget, serveQuietly } from '../support/restored.ts';
import { onEachStoreInLongRuns, type StoreName, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

/** Restored to the other kind of store, where there is one. */
const getTargetStore = (store: StoreName): StoreName =>
  store === 'libsql' && inject('postgresUrl') !== '' ? 'postgres' : 'libsql';
const organization = `/v1/organizations/${acme.id}`;
const service = `${organization}/services/${acme.primary}`;
const EVENTS_PER_BATCH = 50;
const DAY_MS = 86_400_000;

const createBatch = (batch: number) =>
  Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    id: `${batch} ${index}`,
    source: 'load',
    time: new Date(Date.now() - (1 + (index % 4)) * DAY_MS).toISOString(),
    entityType: 'service',
    entityId: acme.primary,
    meter: 'compute',
    quantity: 1.5,
  }));

/** What the server has acknowledged so far. */
interface Acknowledged {
  minutes: number;
  keys: string[];
  title: number;
  batches: ReturnType<typeof createBatch>[];
}

/** Writes of four kinds, each as fast as the server responds, until stopped. */
async function startWriters(server: TestServer) {
  const done: Acknowledged = { minutes: 0, keys: [], title: 0, batches: [] };
  const { data: board } = await createDashboard(server, { name: '0' });
  let isStopped = false;
  const send = async (method: string, path: string, body: unknown): Promise<Json> => {
    const { status, text, json } = await server.call({ method, path, key: acme.admin, body });
    expect(status, text).toBe(200);
    return json.result;
  };
  const repeat = async (work: (step: number) => Promise<void>) => {
    for (let step = 1; !isStopped; step++) await work(step);
  };
  const writers = [
    repeat(async (step) => {
      await send('PATCH', `${service}/scaling`, { idleTimeoutMinutes: 5 + step });
      done.minutes = 5 + step;
    }),
    repeat(async (step) => {
      done.keys.push((await send('POST', `${organization}/keys`, { name: `key ${step}` })).key.id);
    }),
    repeat(async (step) => {
      const { status, text } = await write(server, 'PUT', `/${board.id}`, { name: String(step) });
      expect(status, text).toBe(200);
      done.title = step;
    }),
    repeat(async (step) => {
      const batch = createBatch(step);
      expect(await send('POST', `${organization}/usageEvents`, batch)).toMatchObject({ accepted: EVENTS_PER_BATCH });
      done.batches.push(batch);
    }),
  ];
  return {
    boardId: board.id as string,
    done,
    async stop() {
      isStopped = true;
      await Promise.all(writers);
    },
  };
}

onEachStoreInLongRuns('a backup under load', (store) => {
  it('U5: has every change and event acknowledged before it began, no partial change, and a ledger that matches its events', {
    timeout: 900_000,
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-load-'));
    const file = join(directory, 'loaded.backup');
    const server = await startServer(store, { args: ['--max-keys', '100000'] });
    try {
      const writers = await startWriters(server);
      await until(
        async () => writers.done.batches.length,
        (batches) => batches >= 5,
        'the writers make no progress',
      );
      const before: Acknowledged = structuredClone(writers.done);
      const { code, stderr } = await getServerStore(server).run('backup', file);
      const batchesDuring = writers.done.batches.length - before.batches.length;
      await writers.stop();
      expect([code, stderr]).toEqual([0, '']);
      expect(batchesDuring).toBeGreaterThan(0);
      await checkRestored(getTargetStore(store), file, writers.boardId, before, writers.done);
    } finally {
      await server.remove();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

async function checkRestored(
  store: StoreName,
  file: string,
  boardId: string,
  before: Acknowledged,
  after: Acknowledged,
): Promise<void> {
  // In the test process: a process for every command takes several times as long.
  const target = await createTarget(store, { inProcess: true });
  try {
    const restored = await target.run('restore', file);
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const copy = await serveQuietly([...target.args, '--max-keys', '100000'], { inProcess: true });
    try {
      const read = async (path: string, token?: string): Promise<Json> => {
        const { status, text, json } = await copy.call({ path, ...(token ? { token } : { key: acme.admin }) });
        expect(status, text).toBe(200);
        return json.result ?? json.data;
      };
      const { idleTimeoutMinutes } = await read(service);
      expect(idleTimeoutMinutes).toBeGreaterThanOrEqual(before.minutes);
      const keys: Json[] = await read(`${organization}/keys`);
      const ids = keys.map(({ id }) => id);
      for (const id of before.keys) expect(ids).toContain(id);
      const board = await read(`/api/v2/dashboards/${boardId}`, acme.token);
      expect(Number(board.name)).toBeGreaterThanOrEqual(before.title);

      // A change and its activity, or a dashboard and its version, are in the backup together or not at all.
      const [scaled] = await read(`${organization}/activities?type=service_update_autoscaling_idling&limit=1`);
      expect(scaled.after.idleTimeoutMinutes).toBe(idleTimeoutMinutes);
      const [created] = await read(`${organization}/activities?type=key_create&limit=1`);
      expect(ids).toContain(created.resourceId);
      const [version] = await read(`/api/v2/dashboards/${boardId}/versions`, acme.token);
      expect(version.name).toBe(board.name);

      // Events of the backup count once; events after it count as new.
      for (const [index, body] of after.batches.entries()) {
        const { json } = await copy.call({
          method: 'POST',
          path: `${organization}/usageEvents`,
          key: acme.admin,
          body,
        });
        const { accepted, duplicates } = json.result;
        expect(accepted + duplicates).toBe(EVENTS_PER_BATCH);
        if (index < before.batches.length) expect(duplicates).toBe(EVENTS_PER_BATCH);
      }
    } finally {
      await copy.stop();
    }
    expect((await target.run('usage', 'rate')).code).toBe(0);
    const check = await target.run('usage', 'recompute', '--check', '--json');
    expect(check.code, check.stdout).toBe(0);
    expect(JSON.parse(check.stdout)).toMatchObject({ waiting: 0, differences: [] });
    const summary = await target.run('backup', `${file}.${store}`, '--json');
    const { tables } = JSON.parse(summary.stdout);
    expect(tables.find(({ name }: Json) => name === 'usage_events').rows).toBe(after.batches.length * EVENTS_PER_BATCH);
  } finally {
    await target.remove();
  }
}
