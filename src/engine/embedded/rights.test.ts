import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useEngineHttpServer } from '../../../test/support/engine-http-server.ts';

const server = useEngineHttpServer();
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-rights-'));
let visits = 0;
const outside = createServer((_, response) => {
  visits++;
  response.end('1\n');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  await server.call('CREATE DATABASE IF NOT EXISTS pilothouse', { as: 'writer' });
  await server.call('CREATE TABLE pilothouse.t (a UInt64) ENGINE = MergeTree ORDER BY a', { as: 'writer' });
});
afterAll(() => {
  outside.close();
  rmSync(directory, { recursive: true, force: true });
});

const outsideUrl = () => `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;

describe('the reader', () => {
  it('reads our tables and their columns', async () => {
    expect((await server.call('SELECT count() FROM pilothouse.t')).text).toBe('0\n');
    const columns = "SELECT name FROM system.columns WHERE database = 'pilothouse' AND table = 't'";
    expect((await server.call(columns)).text).toBe('a\n');
  });

  it.each([
    'INSERT INTO pilothouse.t VALUES (1)',
    'CREATE TABLE pilothouse.u (a UInt8) ENGINE = Memory',
    'DROP TABLE pilothouse.t',
    'ALTER TABLE pilothouse.t DELETE WHERE 1',
    'SET readonly = 0',
    'SET ROLE ALL',
    'GRANT ALL ON *.* TO default',
    'SYSTEM SHUTDOWN',
    'KILL QUERY WHERE 1',
    'SELECT 1; DROP TABLE pilothouse.t',
    'SELECT 1 SETTINGS max_memory_usage = 0',
    'SELECT query FROM system.processes',
    'SELECT * FROM system.users',
    'SELECT * FROM INFORMATION_SCHEMA.TABLES',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT file('/etc/passwd')",
    "SELECT * FROM s3('http://127.0.0.1:1/bucket/x', 'CSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1:1', system.one)",
    "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM sqlite('/etc/passwd', 't')",
    "SELECT * FROM icebergLocal('/etc')",
    "SELECT * FROM executable('/bin/true', 'CSV', 'a String')",
    "SELECT * FROM merge('system', 'processes')",
  ])('cannot run %j', async (sql) => {
    const response = await server.call(sql);
    expect(response.status).not.toBe(200);
    expect(['164', '392', '497']).toContain(response.headers.get('x-clickhouse-exception-code'));
  });

  it('cannot write files or open connections', async () => {
    const path = join(directory, 'out');
    await server.call(`SELECT 1 INTO OUTFILE '${path}'`);
    expect(existsSync(path)).toBe(false);
    await server.call(`SELECT * FROM url('${outsideUrl()}', 'CSV', 'a UInt8')`);
    expect(visits).toBe(0);
  });

  it('cannot raise the limits of its calls', async () => {
    const settings = "SELECT getSetting('readonly'), getSetting('max_memory_usage')";
    const response = await server.call(settings, { query: { readonly: '0', max_memory_usage: '99999999999' } });
    expect(response.text).toBe(`1\t${300 * 2 ** 20}\n`);
  });
});

describe('the writer', () => {
  it.each([
    'CREATE DATABASE other',
    'CREATE TABLE default.t (a UInt8) ENGINE = Memory',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    `SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a UInt8')`,
    "INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a UInt8') VALUES (1)",
    'GRANT ALL ON *.* TO default',
    'SYSTEM SHUTDOWN',
  ])('cannot leave its database: %j', async (sql) => {
    expect((await server.call(sql, { as: 'writer' })).headers.get('x-clickhouse-exception-code')).toMatch(
      /^(497|164|344)$/,
    );
  });
});
