import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createRandom, type Random } from '../../src/operations/demo/telemetry/random.ts';
import type { ApiResponse, Call } from '../support/client.ts';
import { acme, globex } from '../support/fleet.ts';
import { isLongRun, ROUNDS, SEED } from '../support/long-run.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { onEachStore, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import {
  connect,
  createEvent,
  expectExactLedger,
  listLockedThrough,
  passTime,
  rateUsage,
  sendUsage,
  toDay,
  type UsageBatch,
} from './node-usage.ts';

// Hundreds of rounds that start processes.
vi.setConfig({ testTimeout: 3_600_000 });

const KILLS = Math.min(ROUNDS, 20);
const TENANTS = [
  { ...acme, entities: [acme.primary, acme.secondary] },
  { ...globex, entities: [globex.primary] },
];
const DAYS_PER_BATCH = 10;
/** The oldest day of the first round. All days of a batch are due to be locked. */
const FIRST_AGE = KILLS + DAYS_PER_BATCH + 16;
/** A node rates all days when it starts, so most kills are at a moment while it rates or locks. */
const MAX_RUN_MS = 999;

const SUSPENDED_SHARE = 0.4;
/** Longer than the leases of usage and services on PostgreSQL. A suspended writer of a libSQL file blocks the others. */
const MAX_SUSPENDED_MS = { postgres: 15_000, libsql: 4_000 };

type Node = Program & { call?(call: Call): Promise<ApiResponse> };

describe.skipIf(!isLongRun)(`nodes killed and suspended at random moments, seed ${SEED}`, () => {
  onEachStore('on one ClickHouse server', (store) => {
    it('lose no usage, count none twice, and lock each day once', async () => {
      const server = await startServer(store, { sharedEngine: true });
      const run = createRun(server, createRandom(SEED, store));
      try {
        for (let round = 0; round < KILLS; round++) {
          await passTime(server);
          await run.disturbNode(round);
          await run.expectLockedUnchanged();
        }
        await run.stopSending();
        await rateUsage(server);
        await expectExactLedger(server, run.batches);
        for (const { id } of TENANTS) {
          const locked = await listLockedThrough(server, id);
          expect(locked.length).toBeGreaterThan(0);
          expect(locked).toEqual([...new Set(locked)].sort());
        }
      } finally {
        await run.close();
        await server.remove();
      }
    });
  });
});

function createRun(server: TestServer, random: Random) {
  const nodes: [Node, Node] = [start('0'), start('1')];
  const batches: UsageBatch[] = [];
  /** The ledger of the locked days of each organization, as first seen. */
  const lockedLedgers = new Map<string, { through: string; rows: unknown[] }>();
  // Of their own, so that a seed repeats the kills.
  const sendRandom = createRandom(SEED, 'usage');
  let round = 0;
  let isStopping = false;
  let isClosed = false;

  function start(name: string): Node {
    const store =
      server.databaseUrl === undefined
        ? ['--data', join(server.directory, 'data')]
        : ['--data', join(server.directory, name), '--database-url', server.databaseUrl];
    const node: Node = spawnProgram(['serve', '--port', '0', '--rate-limit', 'off', ...store, ...server.args]);
    void node.firstLine.then((line) => {
      if (line !== undefined) node.call = connect(line);
    });
    return node;
  }

  /** Some usage is late: for days that may be locked. */
  function createBatch(tenant: (typeof TENANTS)[number], number: number): UsageBatch {
    const newest = FIRST_AGE - round - DAYS_PER_BATCH;
    const oldest = sendRandom.chance(0.1) ? FIRST_AGE : FIRST_AGE - round;
    const days = Array.from({ length: DAYS_PER_BATCH }, () => toDay(sendRandom.whole(newest, oldest)));
    const events = [...new Set(days)].flatMap((day) =>
      tenant.entities.map((entity) => createEvent(String(number), day, entity)),
    );
    return { organization: tenant, events };
  }

  /** Sends each batch to any node until it is accepted. Events of an interrupted batch may be stored. */
  async function send(tenant: (typeof TENANTS)[number]): Promise<void> {
    for (let number = 0; !isStopping; number++) {
      const batch = createBatch(tenant, number);
      batches.push(batch);
      for (let response: ApiResponse | undefined; response?.status !== 200 && !isClosed; ) {
        const { call } = sendRandom.pick(nodes);
        // fetch throws a TypeError if the connection is gone.
        response = call && (await sendUsage({ call }, batch).catch(ignoreTypeError));
        if (response?.status !== 200) await delay(50);
        else expect(response.json.result.accepted + response.json.result.duplicates).toBe(batch.events.length);
      }
    }
  }
  const sending = Promise.all(TENANTS.map(send));
  // Reported by `stopSending`.
  sending.catch(() => {});

  const readLedger = (id: string, through: string) =>
    runSql(
      server,
      `SELECT * FROM usage_ledger WHERE organization_id = '${id}' AND date <= '${through}'
       ORDER BY date, entity_id, meter, usage_date`,
    );

  return {
    batches,

    /** Kills a node, or suspends it for a while. */
    async disturbNode(next: number): Promise<void> {
      round = next;
      const index = random.whole(0, 1) as 0 | 1;
      const node = nodes[index];
      expect(await node.firstLine, node.stderr()).toBeDefined();
      await delay(random.whole(0, MAX_RUN_MS));
      if (random.chance(SUSPENDED_SHARE)) {
        node.kill('SIGSTOP');
        await delay(random.whole(0, MAX_SUSPENDED_MS[server.store]));
        node.kill('SIGCONT');
        return;
      }
      node.kill('SIGKILL');
      expect(await node.ended).toBe(null);
      nodes[index] = start(String(index));
    },

    async expectLockedUnchanged(): Promise<void> {
      for (const { id } of TENANTS) {
        const before = lockedLedgers.get(id);
        if (before) expect(await readLedger(id, before.through)).toEqual(before.rows);
        const through = (await listLockedThrough(server, id)).at(-1);
        if (through !== undefined) lockedLedgers.set(id, { through, rows: await readLedger(id, through) });
      }
    },

    async stopSending(): Promise<void> {
      isStopping = true;
      await sending;
    },

    async close(): Promise<void> {
      isStopping = true;
      isClosed = true;
      await sending.catch(() => {});
      for (const node of nodes) {
        node.kill('SIGKILL');
        await node.ended;
      }
    },
  };
}

function ignoreTypeError(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
}
