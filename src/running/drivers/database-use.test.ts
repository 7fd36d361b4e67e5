import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CLUSTER, type ClickHouseCluster, startClickHouseCluster } from '../../../test/support/clickhouse-cluster.ts';
import { until } from '../../../test/support/until.ts';
import { HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { IdleBlocker, Upstream } from '../../management/services/driver.ts';
import { type Asked, listUse } from './database-use.ts';

// Starts two ClickHouse processes.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { signal } = new AbortController();
const CLIENT = { 'X-ClickHouse-User': 'client', 'X-ClickHouse-Key': 'of-the-client' };

describe('a database of two shards that clients reach directly', () => {
  let directory: string;
  let database: ClickHouseCluster;
  let upstream: Upstream;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-use-'));
    database = await startClickHouseCluster(directory, {
      grants: ['GRANT SELECT ON *.*', 'GRANT SHOW ON *.*'],
      users: [
        { name: 'client', password: 'of-the-client', grants: ['GRANT ALL ON *.*'] },
        { name: 'limited', password: 'of-the-limited', grants: ['GRANT SELECT ON system.one'] },
        {
          name: 'unlogged',
          password: 'of-the-unlogged',
          grants: ['GRANT SELECT ON system.*', 'REVOKE SELECT ON system.query_log'],
        },
        { name: 'fixed', password: 'of-the-fixed', grants: ['GRANT SELECT ON *.*'], settings: { readonly: 1 } },
      ],
      server: { query_log: { database: 'system', table: 'query_log', flush_interval_milliseconds: 200 } },
    });
    const { hostname, port, username, password } = new URL(database.url);
    upstream = {
      host: hostname,
      port: Number(port),
      headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
    };
  });
  afterAll(async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const ask = (changes: Partial<Asked> = {}) =>
    listUse(
      {
        upstream,
        replicas: 2,
        cluster: CLUSTER,
        timeoutMs: 5 * MINUTE_MS,
        ignored: { ignoredAgents: ['probe/'], ignoredStatements: ['SELECT 1'] },
        ownUsers: [],
        ...changes,
      },
      signal,
    );

  /** Sends a statement as a client does, straight to a shard. */
  function send(shard: number, sql: string, headers: Record<string, string> = {}) {
    const call = request({
      host: '127.0.0.1',
      port: database.ports[shard],
      method: 'POST',
      headers: { ...CLIENT, 'user-agent': 'a-client/1.0', ...headers },
    });
    const ended = new Promise<string>((resolve, reject) => {
      call.once('error', reject).once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('end', () => resolve(text)).once('error', reject);
      });
    });
    call.end(sql);
    return { ended, close: () => call.destroy() };
  }
  const run = (shard: number, sql: string, headers?: Record<string, string>) => send(shard, sql, headers).ended;
  const hasType = (type: IdleBlocker['type']) => (found: IdleBlocker[]) => found.some((one) => one.type === type);
  /** As a probe, which does not count. */
  const maintain = (shard: number, sql: string) => run(shard, sql, { 'user-agent': 'probe/2.1' });
  async function forget(): Promise<void> {
    for (const shard of [0, 1]) {
      await maintain(shard, 'SYSTEM FLUSH LOGS');
      await maintain(shard, 'TRUNCATE TABLE system.query_log');
    }
    // The statements may still be in the list of processes.
    await until(ask, (found) => found.length === 0, 'the database is in use');
  }

  it('is not in use while only Pilothouse asks, and health probes do not count', async () => {
    await run(0, 'SELECT 1');
    await run(1, 'SELECT 2');
    await until(() => ask({ timeoutMs: HOUR_MS }), hasType('recent_query'), 'the log has no query');
    await forget();
    for (let times = 0; times < 3; times++) expect(await ask()).toEqual([]);
    expect(await ask({ cluster: undefined })).toEqual([]);
    await run(1, '\n select  1 ;');
    await maintain(1, 'SELECT 3');
    for (const shard of [0, 1]) await maintain(shard, 'SYSTEM FLUSH LOGS');
    await until(ask, (found) => found.length === 0, 'a probe counts');
    const ignored = { ignoredAgents: [], ignoredStatements: [] };
    const found = await until(
      () => ask({ ignored }),
      (one) => !hasType('running_query')(one),
      'the probe does not end',
    );
    expect(found).toEqual([
      { type: 'recent_query', detail: expect.stringMatching(/^The last query at the database ended \d+ seconds ago/) },
    ]);
    expect(await ask({ ignored, ownUsers: ['client'] })).toEqual([]);
  });

  it.each([0, 1])('is in use after a query of a client on shard %i', async (shard) => {
    await forget();
    await run(shard, 'SELECT 4');
    const found = await until(ask, hasType('recent_query'), 'the query is not seen');
    expect(found.at(-1)?.detail).toContain('the timeout is 5 minutes');
  });

  it.each([0, 1])('is in use while a query runs on shard %i', async (shard) => {
    await forget();
    const query = send(shard, 'SELECT sum(sleepEachRow(1)) FROM numbers(60) SETTINGS max_block_size = 1');
    query.ended.catch(() => {});
    await until(ask, hasType('running_query'), 'the query is not seen');
    query.close();
    await until(ask, (found) => !hasType('running_query')(found), 'the query does not end');
  });

  it.each([0, 1])('is in use while a mutation is not done on shard %i', async (shard) => {
    await run(shard, 'CREATE DATABASE IF NOT EXISTS app');
    await run(shard, 'CREATE TABLE app.events (id UInt64, value UInt64) ENGINE = MergeTree ORDER BY id');
    await run(shard, 'INSERT INTO app.events SELECT number, 0 FROM numbers(30)');
    await run(
      shard,
      'ALTER TABLE app.events UPDATE value = sleepEachRow(1) WHERE 1 SETTINGS allow_nondeterministic_mutations = 1',
    );
    const found = await until(ask, hasType('mutation'), 'the mutation is not seen');
    expect(found.find(({ type }) => type === 'mutation')?.detail).toMatch(/^app\.events: \d+ parts left, /);
    await run(shard, "KILL MUTATION WHERE table = 'events' SYNC");
    await until(ask, (now) => !hasType('mutation')(now), 'the mutation does not end');
  });

  it.each<[string, () => Partial<Asked>, RegExp]>([
    [
      'the password is wrong',
      () => ({ upstream: { ...upstream, headers: { ...upstream.headers, 'X-ClickHouse-Key': 'x' } } }),
      /AUTHENTICATION_FAILED/,
    ],
    [
      'a right is missing',
      () => ({
        upstream: { ...upstream, headers: { 'X-ClickHouse-User': 'limited', 'X-ClickHouse-Key': 'of-the-limited' } },
      }),
      /Not enough privileges/,
    ],
    [
      'the user may not change settings',
      () => ({
        upstream: { ...upstream, headers: { 'X-ClickHouse-User': 'fixed', 'X-ClickHouse-Key': 'of-the-fixed' } },
      }),
      /readonly/,
    ],
    ['nothing listens', () => ({ upstream: { ...upstream, port: 1 } }), /ECONNREFUSED/],
    ['no cluster has all replicas', () => ({ replicas: 3 }), /no cluster with the 3 replicas/],
  ])('is not asked when %s', async (_, changes, message) => {
    await expect(ask(changes())).rejects.toThrow(message);
  });

  it('is not asked when a replica has no query log, or does not answer', async () => {
    await maintain(0, 'SYSTEM FLUSH LOGS');
    await expect(
      ask({
        replicas: 1,
        upstream: { ...upstream, headers: { 'X-ClickHouse-User': 'unlogged', 'X-ClickHouse-Key': 'of-the-unlogged' } },
      }),
    ).rejects.toThrow(/query_log/);
    await database.stopShard(1);
    await expect(ask()).rejects.toThrow('All connection tries failed');
  });
});
