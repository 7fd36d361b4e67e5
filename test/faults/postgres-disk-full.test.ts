import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest';
import { createTestStore } from '../support/cli.ts';
import type { ApiResponse, Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { openPostgres } from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { expectFailure } from '../support/shapes.ts';
import { runSql } from '../support/store-sql.ts';
import { until, untilReady } from '../support/until.ts';

// Starts PostgreSQL and a server.
vi.setConfig({ testTimeout: 180_000 });

const organization = `/v1/organizations/${acme.id}`;
const keys = `${organization}/keys`;
const service = `${organization}/services/${acme.primary}`;
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-disk-'));
const fill = join(directory, 'fill');
/** A disk of its own in memory. Needs root. */
const hasDisk =
  inject('postgresUrl') !== '' &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', directory]).status === 0;
afterAll(() => {
  if (hasDisk) execFileSync('umount', ['--lazy', directory]);
  rmSync(directory, { recursive: true, force: true });
});

const ipAccessList = Array.from({ length: 50 }, (_, index) => ({
  source: `10.0.${index}.0/24`,
  description: 'x'.repeat(100),
}));

describe.skipIf(!hasDisk)('a full disk of PostgreSQL', () => {
  let close = async () => {};
  afterEach(() => close());

  async function start(part: 'data' | 'log') {
    const path = mkdtempSync(join(directory, part));
    const postgres = (await openPostgres({ [part]: path })) ?? expect.fail('PostgreSQL is no longer available');
    const server = await startServer('postgres', { postgresUrl: postgres.url, args: ['--max-keys', '1000000'] });
    close = async () => {
      rmSync(fill, { force: true });
      await postgres.start();
      await server.remove();
      await postgres.remove();
    };
    const acknowledged: string[] = [];
    const create = async (name: string): Promise<ApiResponse> => {
      const response = await server.call({ method: 'POST', path: keys, key: acme.admin, body: { name, ipAccessList } });
      if (response.status === 200) acknowledged.push(response.json.result.key.id);
      return response;
    };
    expect((await create('before')).status).toBe(200);
    const { bavail, bsize } = statfsSync(directory);
    writeFileSync(fill, Buffer.alloc(bavail * bsize));
    const createMany = () => Promise.all(Array.from({ length: 8 }, () => create('during')));
    // The first changes fit into files that PostgreSQL has.
    const first = await until(
      createMany,
      (responses) => responses.some(({ status }) => status !== 200),
      'the disk is not full',
    );
    const failed = [...first, ...(await createMany())].filter(({ status }) => status !== 200);
    return { postgres, server, create, acknowledged, failed };
  }

  it('B3: rejects changes with 503, still serves reads, is reported by /readyz, and recovers automatically', async () => {
    const { server, create, acknowledged, failed } = await start('data');
    for (const response of failed) {
      expectFailure(keys, response, 503);
      expect(response.json.error).toBe('SERVICE_UNAVAILABLE: The state store is not available: the disk is full');
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect((await server.call({ path: service, key: acme.admin })).status).toBe(200);
    expect((await server.call({ path: '/api/v2/dashboards', token: acme.token })).status).toBe(200);
    expect(await listCreated(server)).toEqual(acknowledged.sort());
    const { json } = await until(
      () => server.call({ path: '/readyz' }),
      (ready) => ready.json.warnings !== undefined,
      '/readyz does not report the disk',
    );
    expect(json).toMatchObject({ status: 'ready', warnings: [{ code: 'store_disk_full' }] });
    rmSync(fill);
    expect((await create('after')).status).toBe(200);
    expect(await listCreated(server)).toEqual(acknowledged.sort());
  });

  // PostgreSQL ends all its processes if it cannot write its log; postgres-lost.test.ts has the short form.
  it.runIf(isLongRun)(
    'B3: of its log: fails requests with 503, keeps what was acknowledged, and works again',
    async () => {
      const { postgres, server, create, acknowledged, failed } = await start('log');
      for (const response of failed) {
        expectFailure(keys, response, 503);
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      expect((await server.call({ path: '/healthz' })).status).toBe(200);
      await untilReady(server, 503);
      rmSync(fill);
      await postgres.start();
      await untilReady(server, 200);
      expect((await create('after')).status).toBe(200);
      // A change may have been written before its response was lost.
      expect(await listCreated(server)).toEqual(expect.arrayContaining(acknowledged));
    },
  );
});

/** Every key has its activity. Returns the ids of the keys that were created here. */
async function listCreated(server: TestServer): Promise<unknown[]> {
  const { json } = await server.call({ path: keys, key: acme.admin });
  const created = json.result.filter(({ name }: Json) => ['before', 'during', 'after'].includes(name));
  const ids = created.map(({ id }: Json) => id);
  const activities = (await runSql(server, 'SELECT document FROM activities'))
    .map(({ document }) => JSON.parse(String(document)))
    .filter(({ type, resource }) => type === 'key_create' && ids.includes(resource.id));
  expect(activities).toHaveLength(ids.length);
  const { run } = createTestStore(server.directory, server.databaseUrl, { inProcess: true });
  const { code, stderr } = await run('audit', 'verify');
  expect(code, stderr).toBe(0);
  return ids.sort();
}
