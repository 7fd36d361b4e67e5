import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/time/clock.ts';
import { unobserved } from '../observer.ts';
import type { Connection } from './backend.ts';
import { createEmbeddedBackend } from './embedded-backend.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-embedded-'));
const root = join(directory, 'engine');
const MEMORY_BYTES = 2 ** 30;
const backend = createEmbeddedBackend({
  directory: root,
  memoryBytes: MEMORY_BYTES,
  clock: systemClock,
  log: { debug() {}, info() {}, warn() {} },
  observer: unobserved,
});
const LIMITS = { maxSeconds: 60, maxResultRows: 1000, maxResultBytes: 2 ** 20, maxMemoryBytes: 0 };

let visits = 0;
const outside = createServer((_, response) => {
  visits++;
  response.end('1\n');
});
const outsideUrl = () => `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;

let connection: Connection;
beforeAll(async () => {
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  connection = await backend.connect();
  await write('CREATE DATABASE IF NOT EXISTS pilothouse');
  await write('CREATE TABLE pilothouse.t (a UInt64) ENGINE = MergeTree ORDER BY a');
});
afterAll(async () => {
  outside.close();
  await backend.close();
  rmSync(directory, { recursive: true, force: true });
});

const write = (query: string) => connection.writer.command({ query });

async function read(query: string, settings: object = {}): Promise<string> {
  const result = await connection.reader.query({
    query,
    format: 'TabSeparated',
    clickhouse_settings: { ...connection.readSettings(LIMITS), ...settings },
  });
  return (await result.text()).trim();
}

/** The code of the exception; fails if there is none. */
const getCode = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => expect.fail(`unexpected success: ${JSON.stringify(value)}`),
    (error) => error.code,
  );

describe('the reader', () => {
  it('reads our tables and their columns, with all threads', async () => {
    expect(await read('SELECT count() FROM pilothouse.t')).toBe('0');
    const columns = "SELECT name FROM system.columns WHERE database = 'pilothouse' AND table = 't'";
    expect(await read(columns)).toBe('a');
    await write('CREATE TABLE pilothouse.wide (a UInt64) ENGINE = MergeTree ORDER BY a');
    await write('INSERT INTO pilothouse.wide SELECT number FROM numbers(2000000)');
    const pipeline = 'EXPLAIN PIPELINE SELECT sum(a) FROM pilothouse.wide WHERE a % 3 = 0';
    const threads = 'MergeTreeSelect(pool: ReadPool, algorithm: Thread) × 4';
    expect(await read(pipeline, { max_threads: 4, max_memory_usage: '100000000' })).toContain(threads);
  });

  it.each([
    'INSERT INTO pilothouse.t VALUES (1)',
    'CREATE TABLE pilothouse.u (a UInt8) ENGINE = Memory',
    'CREATE TEMPORARY TABLE u (a UInt8)',
    'DROP TABLE pilothouse.t',
    'ALTER TABLE pilothouse.t DELETE WHERE 1',
    'SET readonly = 0',
    'GRANT ALL ON *.* TO default',
    'SYSTEM SHUTDOWN',
    'SYSTEM STOP LISTEN HTTP',
    'KILL QUERY WHERE 1',
    'SELECT 1 SETTINGS max_memory_usage = 99999999999',
    'SELECT query FROM system.processes',
    'SELECT * FROM system.users',
    'SELECT * FROM system.server_settings',
    'SELECT * FROM INFORMATION_SCHEMA.TABLES',
    'SELECT * FROM default.t',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM s3('http://127.0.0.1:1/bucket/x', 'CSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1:1', system.one)",
    "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM icebergLocal('/etc')",
    "SELECT * FROM executable('/bin/true', 'CSV', 'a String')",
    "SELECT * FROM merge('system', 'processes')",
    'SELECT 1; DROP TABLE pilothouse.t',
  ])('cannot run %j', async (sql) => {
    // 62: several statements. 60, 636: a table that it may not see does not exist for it.
    const clickhouse_settings = connection.readSettings(LIMITS);
    const code = await getCode(connection.reader.command({ query: sql, clickhouse_settings }));
    expect(['60', '62', '164', '452', '497', '636']).toContain(code);
  });

  it
    .skipIf(process.platform !== 'linux')
    .each(["SELECT file('/etc/passwd')", "SELECT * FROM sqlite('/etc/passwd', 't')"])(
    'is not stopped by privileges, but by Landlock: %j',
    async (sql) => {
      expect(['76', '481']).toContain(await getCode(read(sql)));
    },
  );

  it('cannot write files or open connections', async () => {
    const path = join(directory, 'out');
    await getCode(read(`SELECT 1 INTO OUTFILE '${path}'`));
    expect(existsSync(path)).toBe(false);
    await getCode(read(`SELECT * FROM url('${outsideUrl()}', 'CSV', 'a UInt8')`));
    expect(visits).toBe(0);
  });

  it('has a memory limit that no query can exceed', async () => {
    for (const maxMemoryBytes of [0, 1e12])
      expect(connection.readSettings({ ...LIMITS, maxMemoryBytes }).max_memory_usage).toBe(
        String(connection.defaultMemoryBytes),
      );
    const { max_memory_usage: usual } = connection.readSettings({ ...LIMITS, maxMemoryBytes: 5e7 });
    expect(usual).toBe('50000000');
    // Also of a client that sends no settings, such as a backup.
    const result = await connection.reader.query({
      query: "SELECT getSetting('max_memory_usage')",
      format: 'TabSeparated',
    });
    expect((await result.text()).trim()).toBe(String(connection.defaultMemoryBytes));
    // Every 100 ms, as by default, is not enough: see the configuration.
    expect(await read("SELECT getServerSetting('memory_worker_period_ms')")).toBe('20');
  });
});

describe('the writer', () => {
  it.each([
    'CREATE DATABASE other',
    'CREATE TABLE default.t (a UInt8) ENGINE = Memory',
    "CREATE TABLE pilothouse.f (a String) ENGINE = File(CSV, '/etc/passwd')",
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    `SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a UInt8')`,
    "INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a UInt8') VALUES (1)",
    'GRANT ALL ON *.* TO default',
    'SYSTEM SHUTDOWN',
  ])('cannot leave its database: %j', async (query) => {
    expect(await getCode(write(query))).toMatch(/^(497|164|344)$/);
  });
});

describe('the port of the engine', () => {
  it('answers nothing without the secret of this start, not even to its own user without a password', async () => {
    const { address, password } = JSON.parse(readFileSync(join(root, 'endpoint.json'), 'utf8'));
    const url = `http://127.0.0.1:${address.port}`;
    const credentials = { 'X-ClickHouse-User': 'reader', 'X-ClickHouse-Key': password };
    for (const path of ['/', '/ping', '/play', '/dashboard', '/replicas_status', '/?user=default&query=SELECT+1'])
      expect((await fetch(url + path, { headers: credentials })).status).toBe(404);
    const send = (headers: Record<string, string>) => fetch(`${url}/?query=SELECT+1`, { headers });
    expect((await send({ ...address.headers, ...credentials })).status).toBe(200);
    expect((await send({ ...address.headers, ...credentials, 'X-ClickHouse-Key': 'wrong' })).status).toBe(403);
  });

  it('leaves no other secret in a file', () => {
    expect(readdirSync(root).sort()).toEqual(['data', 'endpoint.json']);
    expect(statSync(join(root, 'endpoint.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, 'data')).mode & 0o777).toBe(0o700);
  });
});
