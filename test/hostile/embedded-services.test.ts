import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECRET_HEADER } from '../../src/platform/listener/configuration.ts';
import { getServiceDirectory } from '../../src/running/drivers/embedded/directory.ts';
import { readLogTail } from '../../src/running/drivers/embedded/log-file.ts';
import { useEmbeddedServices } from '../support/embedded-services.ts';
import { until } from '../support/until.ts';

const { converge, observe, query, createService, directory } = useEmbeddedServices();

const isConfined = async (service: ReturnType<typeof createService>) =>
  (await observe(service)).evidence?.isolation === 'landlock';

describe('queries of an embedded service that run while it starts', () => {
  const service = createService();
  const { configuration } = getServiceDirectory(directory, service.id);
  const source = `file('${configuration}/*.xml', 'LineAsString', 'line String')`;

  it('cannot read the secret of the start', async () => {
    await converge(service, 'running');
    for (const sql of [
      'CREATE TABLE found (line String) ENGINE = MergeTree ORDER BY tuple()',
      `CREATE MATERIALIZED VIEW refreshed REFRESH EVERY 1 SECOND APPEND TO found AS SELECT line FROM ${source}`,
      "CREATE MATERIALIZED VIEW waited REFRESH EVERY 1 SECOND APPEND TO found AS SELECT 'refreshed' AS line",
      `CREATE TABLE defaults (id UInt8, line String DEFAULT file('${configuration}/config.xml', '')) ENGINE = MergeTree ORDER BY id`,
      'CREATE MATERIALIZED VIEW inserted REFRESH EVERY 1 SECOND APPEND TO defaults AS SELECT toUInt8(1) AS id',
      `CREATE TABLE lines (line String) ENGINE = File(LineAsString, '${configuration}/config.xml')`,
      `CREATE DICTIONARY words (line String) PRIMARY KEY line SOURCE(FILE(PATH '${configuration}/config.xml' FORMAT 'LineAsString')) LAYOUT(COMPLEX_KEY_HASHED()) LIFETIME(1)`,
    ])
      expect([sql, await query(service, sql)]).toEqual([sql, { status: 200, text: '' }]);
    await converge(service, 'stopped');
    await converge(service, 'running');
    const { upstream } = await observe(service);
    const secret = upstream?.headers[SECRET_HEADER] ?? expect.fail('not running');
    await until(
      () => query(service, "SELECT count() FROM found WHERE line = 'refreshed'"),
      ({ text }) => Number(text) > 1,
      'no view was refreshed',
    );
    for (const table of ['found', 'defaults'])
      expect(await query(service, `SELECT countIf(line LIKE '%${secret}%') FROM ${table}`)).toEqual({
        status: 200,
        text: '0',
      });
    for (const table of ['lines', 'words'])
      expect((await query(service, `SELECT * FROM ${table}`)).text).not.toContain(secret);
  });
});

describe('a user of an embedded service', () => {
  const service = createService();
  const { root, data, log } = getServiceDirectory(directory, service.id);

  it('does not see the machine: connections, mounts, processes, other control groups', async () => {
    await converge(service, 'running');
    if (!(await isConfined(service))) return;
    for (const path of [
      '/proc/self/task/*/net/tcp',
      '/proc/self/task/*/mountinfo',
      '/proc/self/mountinfo',
      '/proc/self/environ',
      '/proc/self/maps',
      '/proc/net/tcp',
      '/proc/stat',
      '/proc/loadavg',
      '/sys/fs/cgroup/*/cgroup.procs',
      '/sys/fs/cgroup/cgroup.procs',
      '/sys/devices/system/cpu/modalias',
    ]) {
      const { status, text } = await query(service, `SELECT count() FROM file('${path}', 'LineAsString')`);
      expect([path, status === 200 ? text : 'rejected']).toEqual([path, expect.stringMatching(/^(0|rejected)$/)]);
    }
  });

  it.each([
    'SYSTEM STOP LISTEN HTTP',
    'SYSTEM START LISTEN TCP',
    'SYSTEM SHUTDOWN',
    'SYSTEM KILL',
    'SYSTEM RELOAD USERS',
    'SYSTEM ENABLE FAILPOINT dummy_failpoint',
    'SYSTEM JEMALLOC PURGE',
    'SYSTEM RESTART DISK default',
    'DROP TABLE system.numbers',
    'CREATE TABLE system.mine (a UInt8) ENGINE = MergeTree ORDER BY a',
    'CREATE VIEW v DEFINER = default SQL SECURITY DEFINER AS SELECT 1',
  ])('is not allowed: %s', async (sql) => {
    expect((await query(service, sql)).text).toContain('ACCESS_DENIED');
  });

  it('cannot act as the user that ClickHouse itself needs', async () => {
    for (const sql of ['EXECUTE AS default SELECT 1', 'EXECUTE AS default SYSTEM STOP LISTEN HTTP'])
      expect((await query(service, sql)).status).not.toBe(200);
    expect((await query(service, 'SELECT currentUser()')).text).toBe('owner');
  });

  it('can still manage its own tables and caches', async () => {
    await query(service, 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a');
    for (const sql of [
      'SYSTEM STOP MERGES t',
      'SYSTEM START MERGES t',
      'SYSTEM DROP MARK CACHE',
      'SYSTEM RELOAD DICTIONARIES',
      'SYSTEM FLUSH LOGS',
      'TRUNCATE TABLE system.query_log',
    ])
      expect([sql, (await query(service, sql)).status]).toEqual([sql, 200]);
  });

  it('cannot write to the log of the service, nor make it grow without a limit', async () => {
    if (!(await isConfined(service))) return;
    const write = await query(service, `INSERT INTO FUNCTION file('${log}', 'LineAsString', 'l String') VALUES ('x')`);
    expect(write.status).not.toBe(200);
    await query(service, "SELECT throwIf(1, 'a\u001b]0;title\u0007b')");
    await until(
      async () => readLogTail(log, 1000).lines,
      (lines) => lines.some((line) => line.includes('title')),
      'the error is not logged',
    );
    const long = 'x'.repeat(200_000);
    for (let i = 0; i < 10; i++) await query(service, `SELECT throwIf(1, '${long}')`);
    await until(
      async () => statSync(log).size,
      (size) => size > 500_000 && size < 2 ** 20,
      'the log is not cut',
    );
    mkdirSync(join(data, 'clickhouse.log.0'));
    writeFileSync(join(data, 'clickhouse.log'), 'of an earlier version');
    await converge(service, 'stopped');
    await converge(service, 'running');
    expect(() => readFileSync(join(data, 'clickhouse.log'))).toThrow('ENOENT');
    expect(readLogTail(join(root, 'clickhouse.log'), 10).lines.length).toBeGreaterThan(0);
    await converge(service, 'deleted');
  });
});
