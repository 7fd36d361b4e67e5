import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  CLUSTER,
  type ClickHouseCluster,
  startClickHouseCluster,
} from '../../../../test/support/clickhouse-cluster.ts';
import { AppError } from '../../../kernel/errors.ts';
import { listMigrations } from '../../../kernel/migration.ts';
import { systemClock } from '../../../kernel/time/clock.ts';
import type { Engine } from '../engine.ts';
import { openBackend, openEngine } from '../open.ts';
import { listOwnTables } from '../tables/own-tables.ts';
import { openEngineSource } from '../transfer/source.ts';
import { openEngineTarget } from '../transfer/target.ts';
import { CLUSTER_SETTINGS } from './cluster.ts';
import { createClusterStatements } from './cluster-statements.ts';

const TIMEOUT = { timeout: 300_000 };
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-cluster-'));
const log = { debug() {}, info() {}, warn() {} };
let cluster: ClickHouseCluster;

beforeAll(async () => {
  cluster = await startClickHouseCluster(directory);
}, TIMEOUT.timeout);
afterAll(async () => {
  await cluster?.close();
  rmSync(directory, { recursive: true, force: true });
});

const getAddress = () => ({
  dataDirectory: directory,
  clickhouseUrl: cluster.url,
  clickhouseCluster: CLUSTER,
  clock: systemClock,
  log,
});

async function withEngine<T>(work: (engine: Engine) => Promise<T>, options: object = {}): Promise<T> {
  const engine = openEngine({ ...getAddress(), ...options });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

const select = (engine: Engine, sql: string) => engine.query({ sql, parameters: {} });
const onShards = (sql: string) => Promise.all([0, 1].map(async (shard) => (await cluster.query(shard, sql)).trim()));

const HOUR_MS = 3_600_000;
const toTime = (ms: number): string => new Date(ms).toISOString();
const now = Date.now();
const TRACES = 40;

it('creates the tables on all shards once', TIMEOUT, async () => {
  await withEngine((engine) => engine.start());
  const { tables, derived, views } = listOwnTables();
  const count = (tables.length + derived.length + 1) * 2 + views.length;
  const sql = "SELECT count() FROM system.tables WHERE database = 'pilothouse'";
  expect(await onShards(sql)).toEqual([String(count), String(count)]);
  expect(await onShards('SELECT count() FROM pilothouse.schema_migrations')).toEqual(
    Array(2).fill(String(listMigrations('engine').length)),
  );
  const sent = cluster.clusterStatements.length;
  await withEngine(async (engine) => {
    await engine.start();
    expect(await select(engine, 'SELECT count() FROM pilothouse.engine_identity')).toEqual([[1]]);
  });
  expect(cluster.clusterStatements.slice(sent), 'nothing is sent to the cluster without a reason').toEqual([]);
});

it('stores every row on one shard, and a trace with its logs on the same', TIMEOUT, async () => {
  await withEngine(async (engine) => {
    const rows = Array.from({ length: TRACES * 5 }, (_, index) => ({
      OrganizationId: 'acme',
      Timestamp: toTime(now - index * 1000),
      TraceId: `trace-${index % TRACES}`,
      ServiceName: 'checkout',
    }));
    await engine.insert('otel_traces', rows);
    await engine.insertLines('otel_logs', Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')));
    const lines = rows.map(({ Timestamp }) => `acme\t${Timestamp.slice(0, -1).replace('T', ' ')}\n`);
    await engine.insertTsv('otel_logs', ['OrganizationId', 'Timestamp'], [Buffer.from(lines.join(''))]);

    const [all, ...pairs] = await Promise.all([
      select(engine, 'SELECT count() FROM pilothouse.otel_logs'),
      select(
        engine,
        `SELECT max(shards), count() FROM (SELECT TraceId, uniqExact(shard) AS shards FROM
          (SELECT TraceId, _shard_num AS shard FROM pilothouse.otel_traces UNION ALL SELECT TraceId, _shard_num FROM pilothouse.otel_logs WHERE TraceId != '')
          GROUP BY TraceId)`,
      ),
    ]);
    expect(all).toEqual([[rows.length * 2]]);
    expect(pairs, 'each trace is on one shard').toEqual([[[1, TRACES]]]);
    const counts = await onShards("SELECT count() FROM pilothouse.otel_logs_local WHERE TraceId = ''");
    expect(Math.min(...counts.map(Number)), 'logs without a trace are on all shards').toBeGreaterThan(0);
    const traces = await onShards('SELECT uniqExact(TraceId) FROM pilothouse.otel_traces_local');
    expect(traces.reduce((sum, count) => sum + Number(count), 0)).toBe(TRACES);
  });
});

it('equal inserts are both stored, and equal usage events count once', TIMEOUT, async () => {
  await withEngine(async (engine) => {
    const time = toTime(now - (now % 60_000));
    const count = { OrganizationId: 'acme', Time: time, Signal: 'logs', TokenId: 't', Records: 3, Bytes: 30 };
    const events = Array.from({ length: 50 }, (_, index) => ({
      OrganizationId: 'acme',
      EntityType: 'service',
      EntityId: 's',
      Meter: 'm',
      Time: time,
      Source: 'test',
      Id: `event-${index}`,
      Quantity: '1',
    }));
    for (let round = 0; round < 2; round++) {
      await engine.insert('ingest_counts', [count]);
      await engine.insert('usage_events', events);
    }
    expect(await select(engine, 'SELECT sum(Records) FROM pilothouse.ingest_counts')).toEqual([[6]]);
    const total = 'SELECT toUInt32(sum(Quantity)), uniqExact(_shard_num) FROM pilothouse.usage_events FINAL';
    expect(await select(engine, total)).toEqual([[50, 2]]);
    expect(await select(engine, 'SELECT uniqExact(Hash) FROM pilothouse.usage_event_ids')).toEqual([[50]]);
  });
});

it('a subquery reads the rows of all shards, and reports read the partitions of all', TIMEOUT, async () => {
  await withEngine(async (engine) => {
    const subquery = 'SELECT TraceId FROM pilothouse.otel_traces';
    const sql = `SELECT uniqExact(TraceId) FROM pilothouse.otel_logs WHERE TraceId IN (${subquery})`;
    expect(await select(engine, sql)).toEqual([[TRACES]]);
    expect((await engine.columns('pilothouse', 'otel_logs')).map(({ name }) => name)).toContain('LogAttributes');
    const partitions = await engine.listPartitions(['otel_traces']);
    expect(partitions.reduce((sum, [, , rows]) => sum + Number(rows), 0)).toBe(TRACES * 5);
    expect(new Set(partitions.map(([table]) => table))).toEqual(new Set(['otel_traces']));
  });
});

it('rows of an organization are removed on all shards', TIMEOUT, async () => {
  await withEngine(async (engine) => {
    const rows = ['acme', 'globex'].flatMap((OrganizationId) =>
      [2, 1].flatMap((hours) =>
        Array.from({ length: 20 }, (_, index) => ({
          OrganizationId,
          TimeUnix: toTime(now - hours * HOUR_MS),
          MetricName: `metric-${index}`,
        })),
      ),
    );
    await engine.insert('otel_metrics_gauge', rows);
    const remove = () =>
      engine.removeBefore('otel_metrics_gauge', {
        organizationId: 'acme',
        time: 'TimeUnix',
        before: now - 1.5 * HOUR_MS,
      });
    expect(await remove()).toBe(true);
    expect(await remove(), 'nothing is left to remove').toBe(false);
    const sql = 'SELECT OrganizationId, count() FROM pilothouse.otel_metrics_gauge GROUP BY 1 ORDER BY 1';
    expect(await select(engine, sql)).toEqual([
      ['acme', 20],
      ['globex', 40],
    ]);
  });
});

const findRetention = (table: string) =>
  onShards(
    `SELECT extract(create_table_query, 'toIntervalDay\\((\\d+)\\)') FROM system.tables WHERE name = '${table}'`,
  );
const FLUSH = /fsync_after_insert = 1, fsync_part_directory = 1/;

it('the retention changes on all shards, and the settings that flush rows to disk stay', TIMEOUT, async () => {
  await withEngine((engine) => engine.start(), { retentionDays: 7 });
  expect(await findRetention('otel_logs_local')).toEqual(['7', '7']);
  for (const text of await onShards('SHOW CREATE TABLE pilothouse.otel_logs_local')) expect(text).toMatch(FLUSH);
});

it('a shard that was added gets the tables as the others have them', TIMEOUT, async () => {
  const before = await cluster.query(0, "SELECT count() FROM system.tables WHERE database = 'pilothouse'");
  await cluster.query(1, 'DROP DATABASE pilothouse SYNC');
  await withEngine((engine) => engine.start());
  expect(await cluster.query(1, "SELECT count() FROM system.tables WHERE database = 'pilothouse'")).toBe(before);
  expect(await findRetention('otel_logs_local')).toEqual(['7', '7']);
  expect(await cluster.query(1, 'SHOW CREATE TABLE pilothouse.otel_logs_local')).toMatch(FLUSH);
});

it('a backup is restored to a cluster', TIMEOUT, async () => {
  const source = await openEngineSource(getAddress());
  const table = source?.tables.find(({ name }) => name === 'otel_logs');
  if (!source || !table) expect.fail('no tables');
  expect(table.timeColumn).toBe('Timestamp');
  const chunks = [];
  for await (const chunk of source.readRows(table)) chunks.push(chunk);
  await source.close();
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  expect(rows).toBeGreaterThan(0);
  const target = openEngineTarget(getAddress());
  try {
    await target.createTables(source.migrations);
    expect(await onShards('SELECT count() FROM pilothouse.otel_logs_local')).toEqual(['0', '0']);
    for (const { lines } of chunks) await target.insertRows('otel_logs', table.columns, lines);
    expect(await select(target.engine, 'SELECT count() FROM pilothouse.otel_logs')).toEqual([[rows]]);
  } finally {
    await target.close();
  }
});

async function getError(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof AppError)) expect.fail(`rejected with ${error}`);
  return error;
}

it('a column that a migration adds is readable and writable', TIMEOUT, async () => {
  const backend = openBackend(getAddress());
  try {
    const { writer } = await backend.connect();
    const toStatements = createClusterStatements(CLUSTER);
    const change = async (statement: string) => {
      for (const query of toStatements(statement)) await writer.command({ query });
    };
    const read = async (query: string) => (await writer.query({ query, format: 'TabSeparated' })).text();
    await change(
      'CREATE TABLE IF NOT EXISTS pilothouse.notes (Id String, INDEX id Id TYPE minmax) ENGINE = MergeTree ORDER BY Id',
    );
    const insert = (values: object[]) =>
      writer.insert({
        table: 'pilothouse.notes',
        values,
        format: 'JSONEachRow',
        clickhouse_settings: CLUSTER_SETTINGS,
      });
    await insert([{ Id: 'a' }, { Id: 'b' }]);
    await change("ALTER TABLE pilothouse.notes ADD COLUMN IF NOT EXISTS Title String DEFAULT concat('title ', Id)");
    await insert([{ Id: 'c', Title: 'third' }]);
    expect(await read('SELECT Title FROM pilothouse.notes ORDER BY Id')).toBe('title a\ntitle b\nthird\n');
    await change('DROP TABLE IF EXISTS pilothouse.notes SYNC');
    expect(await read("SELECT count() FROM system.tables WHERE name LIKE 'notes%'")).toBe('0\n');
  } finally {
    await backend.close();
  }
});

it('tables of a single server are not used for a cluster; a restore replaces them', TIMEOUT, async () => {
  for (const shard of [0, 1]) await cluster.query(shard, 'DROP DATABASE pilothouse SYNC');
  await withEngine((engine) => engine.insert('otel_logs', [{ OrganizationId: 'acme', Timestamp: toTime(now) }]), {
    clickhouseCluster: undefined,
  });
  const error = await withEngine((engine) => getError(engine.start()));
  expect([error.code, error.message]).toEqual(['conflict', expect.stringContaining('without --clickhouse-cluster')]);
  const source = await openEngineSource(getAddress());
  const logs = source?.tables.find(({ name }) => name === 'otel_logs');
  expect(logs && (await source?.countRows(logs)), 'a restore finds the rows that it would replace').toBe(1);
  await source?.close();
  const target = openEngineTarget(getAddress());
  try {
    await target.createTables(listMigrations('engine'));
    expect(await select(target.engine, 'SELECT count() FROM pilothouse.otel_logs')).toEqual([[0]]);
  } finally {
    await target.close();
  }
  expect(await onShards("SELECT engine FROM system.tables WHERE name = 'otel_logs'")).toEqual(
    Array(2).fill('Distributed'),
  );
});

it('a cluster that does not exist is an error that names those that do', TIMEOUT, async () => {
  const error = await withEngine((engine) => getError(engine.start()), { clickhouseCluster: 'mian' });
  expect([error.code, error.message]).toEqual([
    'unavailable',
    `--clickhouse-cluster: the ClickHouse server has no cluster mian; it has ${CLUSTER}`,
  ]);
});

it('an insert fails if a shard does not have its rows', TIMEOUT, async () => {
  await withEngine(async (engine) => {
    await engine.start();
    await cluster.stopShard(1);
    const rows = Array.from({ length: 100 }, (_, index) => ({
      OrganizationId: 'acme',
      Timestamp: toTime(now),
      TraceId: `late-${index}`,
    }));
    expect((await getError(engine.insert('otel_traces', rows))).code).toBe('unavailable');
    expect((await getError(select(engine, 'SELECT count() FROM pilothouse.otel_traces'))).code).toBe('unavailable');
  });
});
