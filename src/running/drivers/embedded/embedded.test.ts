import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { callUpstream, useEmbeddedServices } from '../../../../test/support/embedded-services.ts';
import { until } from '../../../../test/support/until.ts';
import type { DrivenService } from '../../../management/services/driver.ts';
import { SECRET_HEADER } from '../../../platform/listener/configuration.ts';
import { findObstacle } from '../../../platform/listener/installation.ts';
import { findFreePort } from '../../../platform/listener/listener.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const changed: string[] = [];
const taken = createServer().listen(0, '127.0.0.1');
afterAll(() => taken.close());
const services = useEmbeddedServices({ onChange: (id) => changed.push(id) });
const { converge, observe, query, createService, directory, driver } = services;

/** As of a second control plane with the same data. The first port that it chooses is in use. */
const ports = [() => Promise.resolve((taken.address() as AddressInfo).port)];
const second = useEmbeddedServices({ directory, findPort: () => (ports.shift() ?? findFreePort)() });

const getPid = async (service: DrivenService): Promise<number> => Number((await observe(service)).evidence?.pid);

describe('an embedded service', () => {
  const service = createService();

  it('runs ClickHouse, with a limit on its memory that follows its size', async () => {
    expect(findObstacle()).toBeUndefined();
    expect(await observe(service)).toEqual({ state: 'deleted' });
    await converge(service, 'running', 16);
    const observed = await observe(service);
    expect(observed).toMatchObject({ state: 'running', memoryGb: 16, replicas: 1, upstream: { host: '127.0.0.1' } });
    expect(observed.evidence).toMatchObject({
      memoryLimitMiB: 512,
      isolation: expect.stringMatching(/^(landlock|none)$/),
    });
    expect((await query(service, 'SELECT version()')).text).toBe(observed.version);
    const limit = "SELECT getServerSetting('max_server_memory_usage')";
    expect((await query(service, limit)).text).toBe(String(512 * 2 ** 20));
    // With ClickHouse's own limits, a service that gets inserts has ever more threads and open files.
    const threads = ['max_parts_cleaning_thread_pool_size', 'max_thread_pool_free_size'];
    const settings = threads.map((name) => `getServerSetting('${name}')`).join();
    expect((await query(service, `SELECT [${settings}]`)).text).toBe('[2,16]');
    expect(await driver.listBlockers(service.id, new AbortController().signal)).toEqual([]);
  });

  it('keeps its rows when it is resized, idles, stops and starts', async () => {
    expect(await query(service, 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a')).toEqual({
      status: 200,
      text: '',
    });
    await query(
      service,
      'CREATE TABLE `odd ``\\\\name` AS t ENGINE = Buffer(default, t, 1, 100, 100, 1000, 1000, 1000000, 1000000)',
    );
    await query(service, 'INSERT INTO t VALUES (1)');
    await query(service, 'INSERT INTO `odd ``\\\\name` VALUES (2)');
    await converge(service, 'running', 24);
    expect(await observe(service)).toMatchObject({ memoryGb: 24, evidence: { memoryLimitMiB: 768 } });
    expect((await query(service, 'SELECT groupArray(a) FROM (SELECT a FROM t ORDER BY a)')).text).toBe('[1,2]');
    const pid = await getPid(service);
    await converge(service, 'running', 24);
    expect(await getPid(service)).toBe(pid);
    await converge(service, 'idle');
    expect(await observe(service)).toMatchObject({ state: 'idle' });
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    await converge(service, 'stopped');
    expect(await observe(service)).toMatchObject({ state: 'stopped' });
    await converge(service, 'running', 24);
    expect((await query(service, 'SELECT count() FROM t')).text).toBe('2');
  });

  it('answers only requests with the secret header, and keeps the secrets of a start from its own queries', async () => {
    const { upstream } = await observe(service);
    if (!upstream) expect.fail('not running');
    const url = `http://127.0.0.1:${upstream.port}`;
    const { [SECRET_HEADER]: secret = '', ...credentials } = upstream.headers;
    for (const path of ['/', '/ping', '/play', '/dashboard', '/replicas_status', '/?user=default&query=SELECT+1'])
      expect((await callUpstream(url + path, 'SELECT 1', credentials)).status).toBe(404);
    const wrongHeader = { ...credentials, [SECRET_HEADER]: 'x'.repeat(secret.length) };
    expect((await callUpstream(url, 'SELECT 1', wrongHeader)).status).toBe(404);
    expect((await query(service, 'SELECT 1', { 'X-ClickHouse-Key': 'wrong' })).status).toBe(403);
    const read = `SELECT getClientHTTPHeader('${SECRET_HEADER}') SETTINGS allow_get_client_http_header = 1`;
    expect((await query(service, read)).text).toBe('');
    expect(readdirSync(join(directory, service.id))).toEqual(['clickhouse.log', 'data']);
  });

  it.each(['SYSTEM SHUTDOWN', 'SYSTEM STOP LISTEN HTTP', 'SYSTEM RELOAD USERS'])('rejects %s', async (sql) => {
    expect((await query(service, sql)).text).toContain('ACCESS_DENIED');
  });

  it('cannot be ended by killing all queries', async () => {
    const pid = await getPid(service);
    await query(service, 'KILL QUERY WHERE 1 SYNC');
    expect(await getPid(service)).toBe(pid);
  });

  it('logs errors of queries, and nothing about a start', async () => {
    await query(service, "SELECT throwIf(1, 'logged error')");
    const readLog = () => readFileSync(join(directory, service.id, 'clickhouse.log'), 'utf8');
    await until(
      async () => readLog(),
      (text) => text.includes('logged error'),
      'the error was not logged',
    );
    expect(readLog()).not.toContain('USER_SESSION_LIMIT_EXCEEDED');
  });

  it('has a query log with the queries of its users, also after a restart', async () => {
    await query(service, "SELECT 'logged before'");
    await converge(service, 'stopped');
    expect(await driver.listSlowQueries(service.id, AbortSignal.timeout(30_000))).toBeUndefined();
    await converge(service, 'running', 24);
    await query(service, "SELECT 'logged after'");
    await query(service, 'SYSTEM FLUSH LOGS');
    const statement = (filter: string) =>
      `SELECT DISTINCT query FROM system.query_log WHERE query ${filter} AND type = 'QueryFinish' ORDER BY query DESC`;
    expect((await query(service, statement("LIKE 'SELECT _logged%'"))).text.split('\n')).toEqual([
      "SELECT \\'logged before\\'",
      "SELECT \\'logged after\\'",
    ]);
    // The statements of the control plane are not logged.
    expect((await query(service, statement("LIKE '%system.errors%' OR query = 'SELECT 1'"))).text).toBe('');
    const slow = (await driver.listSlowQueries(service.id, AbortSignal.timeout(30_000))) ?? [];
    expect(slow.find(({ query }) => query.includes('logged after'))).toEqual({
      startedAt: expect.any(Number),
      durationMs: expect.any(Number),
      readRows: 1,
      readBytes: expect.any(Number),
      memoryBytes: expect.any(Number),
      query: "SELECT 'logged after'",
    });
    expect(slow.map(({ durationMs }) => durationMs)).toEqual(
      slow.map(({ durationMs }) => durationMs).sort((a, b) => b - a),
    );
    expect((await query(service, 'CREATE USER u')).text).toContain('no writeable access storage');
  });

  it('reports its load and the queries that failed for lack of memory', async () => {
    const before = await observe(service);
    expect(before.load).toMatchObject({ outOfMemory: 0, storedBytes: expect.any(Number) });
    const tooLarge = await query(service, 'SELECT length(range(200000000))');
    expect(tooLarge.text).toContain('MEMORY_LIMIT_EXCEEDED');
    expect((await observe(service)).load?.outOfMemory).toBeGreaterThan(0);
    if (process.platform === 'linux') {
      expect((await observe(service)).load?.memoryBytes).toBeGreaterThan(2 ** 20);
      expect((await observe(service)).load?.cpuCores).toBeGreaterThanOrEqual(0);
    }
  });

  it('lists the work that keeps it from becoming idle', async () => {
    const abort = new AbortController();
    // It ends by itself if it is not killed at once.
    const slow = query(service, 'SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1').catch(() => {});
    const blockers = await until(
      () => driver.listBlockers(service.id, abort.signal),
      (list) => list.length > 0,
      'the query is not listed',
    );
    expect(blockers).toEqual([{ type: 'running_query', detail: '1 running at the service' }]);
    await query(service, "KILL QUERY WHERE query LIKE '%sleepEachRow%' SYNC");
    await slow;
  });
});

describe('the isolation of an embedded service', () => {
  const service = createService();

  it('keeps it in its own directory and off the network', async () => {
    await converge(service, 'running');
    const { evidence } = await observe(service);
    // Without Landlock there is nothing to test: the record says so.
    if (evidence?.isolation !== 'landlock') return expect(evidence?.isolation).toBe('none');
    const outside = join(directory, 'outside.csv');
    writeFileSync(outside, '1\n');
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end('1\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await query(service, `CREATE TABLE f (a UInt8) ENGINE = File(CSV, '${directory}/new.csv')`);
    for (const sql of [
      "SELECT file('/etc/passwd')",
      `SELECT file('${outside}')`,
      "SELECT file('/proc/self/environ')",
      `SELECT * FROM file('${outside}', 'CSV', 'a UInt8')`,
      `INSERT INTO FUNCTION file('${directory}/new.csv', 'CSV', 'a UInt8') VALUES (1)`,
      'INSERT INTO f VALUES (1)',
      `SELECT * FROM url('http://127.0.0.1:${port}/x', 'CSV', 'a UInt8') SETTINGS http_max_tries = 1`,
      `SELECT * FROM s3('http://127.0.0.1:${port}/bucket/x', NOSIGN, 'CSV', 'a UInt8') SETTINGS s3_retry_attempts = 0`,
      `SELECT * FROM remote('127.0.0.1:${port}', system.one)`,
    ])
      expect([sql, (await query(service, sql)).text]).toEqual([sql, expect.stringContaining('Permission denied')]);
    expect(requests).toEqual([]);
    expect(readdirSync(directory)).not.toContain('new.csv');
    server.close();
  });

  it('leaves ordinary work possible', async () => {
    await converge(service, 'running');
    const spill =
      'SETTINGS max_bytes_before_external_group_by = 1000000, max_bytes_before_external_sort = 1000000, max_threads = 1';
    for (const [sql, expected] of [
      ['CREATE DATABASE d', ''],
      ['CREATE TABLE d.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a', ''],
      ['INSERT INTO d.t SELECT number, toString(number) FROM numbers(200000)', ''],
      ["ALTER TABLE d.t UPDATE b = 'x' WHERE a = 7 SETTINGS mutations_sync = 1", ''],
      ['OPTIMIZE TABLE d.t FINAL', ''],
      ['SELECT b FROM d.t WHERE a = 7', 'x'],
      [`SELECT count() FROM (SELECT b, count() FROM d.t GROUP BY b ORDER BY b) ${spill}`, '200000'],
      [
        "SELECT count() FROM d.t AS x JOIN d.t AS y USING (a) SETTINGS join_algorithm = 'grace_hash', max_bytes_in_join = 1000000",
        '200000',
      ],
      ["SELECT toTimeZone(toDateTime('2026-07-01 00:00:00'), 'Europe/Berlin')", '2026-07-01 02:00:00'],
      ['RENAME TABLE d.t TO d.u', ''],
      ["BACKUP TABLE d.u TO File('one') FORMAT Null", ''],
    ])
      expect([sql, await query(service, sql ?? '')]).toEqual([sql, { status: 200, text: expected }]);
    await converge(service, 'stopped');
  });
});

describe('the directories of embedded services', () => {
  it.each(['', '..', '../x', 'a/b', '/etc', 'x'.repeat(36), '00000000-0000-0000-0000-00000000000/', '\0'])(
    'rejects the id %j',
    async (id) => {
      await expect(observe(createService(id))).rejects.toThrow('must be a UUID');
      await expect(converge(createService(id), 'deleted')).rejects.toThrow('must be a UUID');
    },
  );

  it('removes the directory of a deleted service and nothing else', async () => {
    const [kept, deleted] = [createService(), createService()];
    await converge(kept, 'stopped');
    await converge(deleted, 'stopped');
    writeFileSync(join(directory, kept.id, 'data', 'rows'), 'rows');
    symlinkSync(join(directory, kept.id), join(directory, deleted.id, 'data', 'link'));
    await converge(deleted, 'deleted');
    expect(await observe(deleted)).toEqual({ state: 'deleted' });
    expect(readdirSync(directory)).not.toContain(deleted.id);
    expect(readdirSync(join(directory, kept.id, 'data'))).toEqual(['rows']);
    await converge(deleted, 'deleted');
  });

  it('does not use a link as a directory', async () => {
    const service = createService();
    mkdirSync(join(directory, 'elsewhere'));
    symlinkSync(join(directory, 'elsewhere'), join(directory, service.id));
    await expect(converge(service, 'running')).rejects.toThrow('must be a directory, not a link');
    await converge(service, 'deleted');
    expect(readdirSync(directory)).toContain('elsewhere');
  });
});

describe('an embedded service that fails', () => {
  it('says why it stopped, tells the reconciler, and starts again', async () => {
    const service = createService();
    await converge(service, 'running');
    process.kill(await getPid(service), 'SIGKILL');
    await until(
      async () => changed,
      (list) => list.includes(service.id),
      'no change reported',
    );
    const observed = await observe(service);
    expect(observed).toMatchObject({ state: 'degraded', reason: expect.stringContaining('signal SIGKILL') });
    expect(observed.upstream).toBeUndefined();
    await converge(service, 'running');
    expect((await observe(service)).state).toBe('running');
    await converge(service, 'deleted');
  });

  it('is ended when it hangs, with the reason; a query in flight fails, and a busy service is left alone', async () => {
    const service = createService();
    await converge(service, 'running');
    const pid = await getPid(service);
    const busy = query(service, 'SELECT max(sipHash64(number)) FROM numbers(300000000) SETTINGS max_threads = 2');
    await busy;
    expect(await getPid(service)).toBe(pid);
    const sleeping = query(service, 'SELECT sleepEachRow(1) FROM numbers(600) SETTINGS max_block_size = 1');
    const failed = expect(sleeping).rejects.toThrow();
    process.kill(pid, 'SIGSTOP');
    const observed = await until(
      () => observe(service),
      ({ state, upstream }) => state === 'degraded' && upstream === undefined,
      'the process still hangs',
    );
    expect(observed.reason).toBe(
      'ClickHouse did not respond to 3 probes and used no processor time; its process was ended',
    );
    await failed;
    await converge(service, 'running');
    process.kill(await getPid(service), 'SIGSTOP');
    // Without waiting for a flush, which it could not do.
    await converge(service, 'stopped');
    expect(await observe(service)).toMatchObject({ state: 'stopped' });
    await converge(service, 'deleted');
  });

  it('is not replaced by an empty one when its data directory is missing', async () => {
    const service = { ...createService(), hasRun: true };
    const data = join(directory, service.id, 'data');
    expect(await observe(service)).toMatchObject({
      state: 'stopped',
      obstacle: `The data directory ${data} is missing. Restore it, or start the service without its data: pilothouse service start ${service.id} --empty`,
    });
    await converge(service, 'stopped');
    expect(existsSync(data)).toBe(false);
    await converge({ ...service, hasRun: false }, 'running');
    expect((await observe(service)).state).toBe('running');
    renameSync(data, `${data}-moved`);
    expect(await observe(service)).toMatchObject({ state: 'degraded', obstacle: expect.stringContaining(data) });
    renameSync(`${data}-moved`, data);
    expect((await observe(service)).state).toBe('running');
    await converge(service, 'deleted');
  });

  it('starts on another port if its port is in use', async () => {
    const service = createService();
    await second.converge(service, 'running');
    expect(ports).toEqual([]);
    expect((await second.query(service, 'SELECT 1')).text).toBe('1');
    await second.converge(service, 'deleted');
  });

  it('says why it does not start', async () => {
    const service = createService();
    await converge(service, 'running');
    await expect(second.converge(service, 'running')).rejects.toThrow(/^The service did not start: .*Cannot lock file/);
    expect(await second.observe(service)).toMatchObject({ state: 'degraded', reason: expect.stringContaining('lock') });
    expect((await query(service, 'SELECT 1')).text).toBe('1');
    await converge(service, 'deleted');
  });

  it('ends a start that is canceled', async () => {
    const service = createService();
    const abort = new AbortController();
    const desired = { generation: 1, state: 'running', replicas: 1, memoryGb: 16 } as const;
    const start = driver.converge(service, desired, abort.signal);
    const refused = expect(start).rejects.toThrow('canceled');
    await until(
      () => observe(service),
      ({ state }) => state === 'provisioning',
      'not starting',
    );
    abort.abort();
    await refused;
    expect(await observe(service)).toMatchObject({ state: 'stopped' });
  });
});
