import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { calculateCostMicros } from '../../src/management/billing/prices/cost-micros.ts';
import { createClient } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { sendSignal } from '../support/processes.ts';
import { startSecondServer } from '../support/second-server.ts';
import { onEachStoreInLongRuns, START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts up to four processes in a test, and waits for leases and for usage to be rated.
vi.setConfig({ testTimeout: 600_000 });

const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
const organization = `/v1/organizations/${acme.id}`;
const events = Array.from({ length: 10 }, (_, index) => ({
  id: `node ${index}`,
  source: 'nodes',
  time: `${day}T10:00:00Z`,
  entityType: 'service',
  entityId: acme.primary,
  meter: 'compute',
  quantity: 60,
}));

const send = ({ call }: Pick<TestServer, 'call'>) =>
  call({ method: 'POST', path: `${organization}/usageEvents`, key: acme.admin, body: events });

const readCost = async ({ call }: Pick<TestServer, 'call'>): Promise<number | undefined> => {
  const { json } = await call({ path: `${organization}/usageCost?from_date=${day}&to_date=${day}`, key: acme.admin });
  return json.result.costs.find(({ entityId }: { entityId: string }) => entityId === acme.primary)?.metrics.computeCHC;
};

const EXPECTED = calculateCostMicros('compute', '600', '0.2985') / 1e6;
const OWNED = /Another node owns the embedded engine of this database: .+ process \d+.+ --clickhouse-url/;

onEachStoreInLongRuns(
  'three nodes with one ClickHouse server',
  (store) => {
    let first: TestServer;
    let others: Awaited<ReturnType<typeof startSecondServer>>[] = [];
    const listNodes = () => [first, ...others];
    beforeAll(async () => {
      first = await startServer(store, { sharedEngine: true });
      others = await Promise.all([startSecondServer(first), startSecondServer(first)]);
    }, START_LIMIT_MS);
    afterAll(async () => {
      for (const node of others) await node.stop();
      await first.remove();
    });

    it('K9: reject a key that one of them disabled from the next request on, also under load', async () => {
      const path = `${organization}/services`;
      let isStopping = false;
      // Requests that share reads of the key.
      const load = listNodes().flatMap((node) =>
        Array.from({ length: 4 }, async () => {
          while (!isStopping) {
            const { status } = await node.call({ path, key: acme.developer });
            // Failed attempts are limited.
            if (status !== 200) await delay(200);
          }
        }),
      );
      try {
        const keys = await first.call({ path: `${organization}/keys`, key: acme.admin });
        const { id } = keys.json.result.find(({ name }: { name: string }) => name === 'developer');
        const change = { method: 'PATCH', path: `${organization}/keys/${id}`, key: acme.admin } as const;
        for (const state of ['disabled', 'enabled', 'disabled', 'enabled', 'disabled']) {
          expect((await first.call({ ...change, body: { state } })).status).toBe(200);
          const answers = await Promise.all(listNodes().map((node) => node.call({ path, key: acme.developer })));
          expect(answers.map(({ status }) => status)).toEqual(Array(3).fill(state === 'enabled' ? 200 : 401));
        }
      } finally {
        isStopping = true;
        await Promise.all(load);
      }
    });

    it('count each event once and show the same costs on every node', async () => {
      expect((await send(first)).json.result).toMatchObject({ accepted: 10, duplicates: 0 });
      for (const node of others) expect((await send(node)).json.result).toMatchObject({ accepted: 0, duplicates: 10 });
      for (const node of listNodes())
        await until(
          () => readCost(node),
          (cost) => cost === EXPECTED,
          'the costs are not the same on every node',
        );
      for (const node of listNodes()) expect((await node.call({ path: '/readyz' })).json).toEqual({ status: 'ready' });
    });
  },
  { short: 'postgres' },
);

describe.skipIf(inject('postgresUrl') === '')('three nodes with embedded engines on one PostgreSQL', () => {
  async function withDatabase(work: (start: (name: string) => Program) => Promise<void>): Promise<void> {
    const database = await createDatabase(inject('postgresUrl'));
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-nodes-'));
    const programs: Program[] = [];
    try {
      await work((name) => {
        const data = join(directory, name);
        const program = spawnProgram(['serve', '--port', '0', '--data', data, '--database-url', database.url]);
        programs.push(program);
        return program;
      });
    } finally {
      for (const { kill, ended } of programs) {
        kill('SIGKILL');
        await ended;
      }
      await database.drop();
      rmSync(directory, { recursive: true, force: true });
    }
  }

  it('that start at the same time: one runs, the others exit with an error', async () => {
    await withDatabase(async (start) => {
      const nodes = ['0', '1', '2'].map(start);
      const outcomes = await Promise.all(nodes.map(({ firstLine }) => firstLine));
      const running = nodes.filter((_, index) => outcomes[index] !== undefined);
      expect(running).toHaveLength(1);
      const rejected = nodes.filter((node) => !running.includes(node));
      for (const { ended, stderr } of rejected) {
        expect(await ended).toBe(1);
        expect(stderr()).toMatch(OWNED);
      }
    });
  });

  it('another node takes over when the owner has stopped, and the same directory at once after kill -9', async () => {
    await withDatabase(async (start) => {
      const first = start('0');
      expect(await first.firstLine).toBeDefined();
      first.kill('SIGKILL');
      await first.ended;
      const again = start('0');
      expect(await again.firstLine, again.stderr()).toBeDefined();
      const second = start('1');
      expect(await second.ended).toBe(1);
      again.kill('SIGTERM');
      expect(await again.ended).toBe(0);
      const third = start('1');
      expect(await third.firstLine, third.stderr()).toBeDefined();
    });
  });
});

describe.skipIf(inject('postgresUrl') === '')('an owner that was suspended', () => {
  it('accepts no usage while another node owns the engine, and accepts it again afterwards', async () => {
    const server = await startServer('postgres');
    const other = mkdtempSync(join(tmpdir(), 'pilothouse-nodes-'));
    const args = ['serve', '--port', '0', '--data', other, '--database-url', server.databaseUrl ?? ''];
    try {
      process.kill(server.pid, 'SIGSTOP');
      // The owner expires after 15 seconds.
      const node = await until(
        async () => {
          const program = spawnProgram(args);
          const line = await program.firstLine;
          if (line === undefined && program.stderr().includes('has locked the database')) {
            // The owner was suspended within a transaction: it is suspended again after this one.
            process.kill(server.pid, 'SIGCONT');
            await server.call({ path: '/readyz' });
            process.kill(server.pid, 'SIGSTOP');
          } else if (line === undefined) expect(program.stderr()).toMatch(OWNED);
          return { program, line };
        },
        ({ line }) => line !== undefined,
        'the other node does not start',
      );
      process.kill(server.pid, 'SIGCONT');
      const rejected = await send(server);
      expect(rejected.status).toBe(503);
      expect(rejected.json.error).toMatch(OWNED);
      const { json } = await until(
        () => server.call({ path: '/readyz' }),
        ({ json: body }) => body.warnings !== undefined,
        '/readyz does not report the other owner',
      );
      expect(json.warnings).toMatchObject([{ code: 'engine_owned_by_other' }]);
      const { url } = JSON.parse(node.line ?? '');
      expect((await createClient(() => ({ url, dashboardUrl: url }))({ path: '/readyz' })).status).toBe(200);
      node.program.kill('SIGTERM');
      expect(await node.program.ended).toBe(0);
      const accepted = await until(
        () => send(server),
        ({ status }) => status === 200,
        'the server does not own the engine again',
      );
      expect(accepted.json.result).toMatchObject({ accepted: 10 });
    } finally {
      sendSignal(server.pid, 'SIGCONT');
      await server.remove();
      rmSync(other, { recursive: true, force: true });
    }
  });
});

describe('a second server on the data directory of another', () => {
  it('exits with a sentence; the first continues', async () => {
    const server = await startServer('libsql');
    try {
      const second = spawnProgram(['serve', '--port', '0', '--data', join(server.directory, 'data')]);
      expect(await second.ended).toBe(1);
      expect(second.stderr()).toMatch(OWNED);
      expect((await send(server)).json.result).toMatchObject({ accepted: 10 });
    } finally {
      await server.remove();
    }
  });
});
