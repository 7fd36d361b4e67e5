import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { acme } from '../support/fleet.ts';
import { isLongRun } from '../support/long-run.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { runSql } from '../support/store-sql.ts';
import { until } from '../support/until.ts';
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
  untilRated,
} from './node-usage.ts';

// Starts processes, and waits for leases.
vi.setConfig({ testTimeout: 600_000 });

const [OVERDUE, YESTERDAY] = [[toDay(20), toDay(19)], toDay(1)];

const createBatch = (name: string, days: readonly string[]): UsageBatch => ({
  organization: acme,
  events: days.flatMap((day) => [acme.primary, acme.secondary].map((entityId) => createEvent(name, day, entityId))),
});

describe.skipIf(inject('postgresUrl') === '')('one of two nodes, killed inside a transaction', () => {
  let server: TestServer;
  const started: Program[] = [];
  const sent: UsageBatch[] = [];
  // Creates the store, and keeps its ClickHouse server.
  beforeAll(async () => {
    server = await startServer('postgres', { sharedEngine: true, inProcess: true });
    await server.stop();
  }, START_LIMIT_MS);
  afterEach(async () => {
    for (const node of started.splice(0)) {
      node.kill('SIGKILL');
      await node.ended;
    }
  });
  afterAll(() => server.remove());

  const start = (name: string): Program => {
    const url = `${server.databaseUrl}?application_name=${name}`;
    const store = ['--data', join(server.directory, name), '--database-url', url];
    const node = spawnProgram(['serve', '--port', '0', '--rate-limit', 'off', ...store, ...server.args]);
    started.push(node);
    return node;
  };

  async function send(target: Pick<TestServer, 'call'>, batch: UsageBatch): Promise<void> {
    const { json } = await sendUsage(target, batch);
    expect(json.result).toMatchObject({ accepted: batch.events.length, duplicates: 0 });
    sent.push(batch);
  }

  /**
   * Starts two nodes and kills the one that is the first to write to the table: its transaction has written to others.
   * Usage of another day arrives at the other node at the same time.
   */
  async function killBeforeWrite(table: string): Promise<void> {
    const release = await holdTable(server, table);
    const nodes = [start('one'), start('two')] as const;
    const name = await until(
      () => findWaitingNode(server, table),
      (waiting) => waiting !== undefined,
      `no node writes to ${table}`,
    );
    const [killed, other] = name === 'one' ? nodes : ([nodes[1], nodes[0]] as const);
    killed.kill('SIGKILL');
    expect(await killed.ended).toBe(null);
    const call = connect((await other.firstLine) ?? expect.fail(other.stderr()));
    const arriving = send({ call }, createBatch(`while writing ${table}`, [YESTERDAY]));
    await release();
    await arriving;
  }

  it.each(isLongRun ? ['usage_ledger', 'usage_costs', 'usage_days'] : ['usage_costs'])(
    'that rates, before it writes to %s: the other rates the days, and no usage is lost or counted twice',
    async (table) => {
      const release = await holdTable(server, 'usage_ledger');
      await server.restart();
      await send(server, createBatch(`before ${table}`, OVERDUE));
      await server.stop();
      await release();
      await killBeforeWrite(table);
      await untilRated(server, OVERDUE);
      await rateUsage(server);
      await expectExactLedger(server, sent);
    },
  );

  it('that locks days: the other locks them, once', async () => {
    await rateUsage(server);
    await passTime(server);
    await killBeforeWrite('activities');
    const locked = await until(
      () => listLockedThrough(server, acme.id),
      (days) => days.length > 0,
      'no day is locked',
    );
    expect(locked).toEqual([OVERDUE[1]]);
    await rateUsage(server);
    await expectExactLedger(server, sent);
  });

  // PostgreSQL ends its transaction after 30 seconds.
  it.runIf(isLongRun)('that is suspended instead: the other changes the organization, and both continue', async () => {
    const release = await holdTable(server, 'usage_ledger');
    await server.restart();
    await send(server, createBatch('before it is suspended', [YESTERDAY]));
    const node = start('one');
    await until(
      () => findWaitingNode(server, 'usage_ledger'),
      (waiting) => waiting !== undefined,
      'the node does not rate',
    );
    node.kill('SIGSTOP');
    await release();
    const [path, body] = [`/v1/organizations/${acme.id}/services/${acme.primary}/scaling`, { numReplicas: 4 }];
    const statuses: number[] = [];
    await until(
      async () =>
        statuses[statuses.push((await server.call({ method: 'PATCH', path, key: acme.admin, body })).status) - 1],
      (status) => status === 200,
      'the suspended node keeps its locks',
    );
    expect(new Set(statuses)).toEqual(new Set([503, 200]));
    node.kill('SIGCONT');
    await untilRated(server, [YESTERDAY]);
    await send({ call: connect((await node.firstLine) ?? '') }, createBatch('after it was suspended', [YESTERDAY]));
    await server.stop();
    await rateUsage(server);
    await expectExactLedger(server, sent);
  });
});

/** Makes changes of a table wait, until the returned function is called: for less than five seconds. */
async function holdTable({ databaseUrl }: TestServer, table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${table} IN SHARE MODE`);
  return () => client.end();
}

async function findWaitingNode(server: TestServer, table: string): Promise<unknown> {
  const [row] = await runSql(
    server,
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE relation = '${table}'::regclass AND NOT granted AND application_name IN ('one', 'two')`,
  );
  return row?.name;
}
