import { gzipSync } from 'node:zlib';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORDS, useEngineHttpServer } from '../../../test/support/engine-http-server.ts';
import { until } from '../../../test/support/until.ts';

const server = useEngineHttpServer();
const write = (sql: string) => server.call(sql, { as: 'writer' });
const lines = (text: string) => text.trimEnd().split('\n');

beforeAll(async () => {
  expect(await write('CREATE DATABASE IF NOT EXISTS pilothouse')).toMatchObject({ status: 200 });
  const created = await write('CREATE TABLE pilothouse.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a');
  expect(created.text).toBe('');
});

describe('the HTTP interface', () => {
  it('responds to a ping without credentials', async () => {
    expect(await (await fetch(`${server.url()}/ping`)).text()).toBe('Ok.\n');
    expect((await fetch(`${server.url()}/elsewhere`)).status).toBe(404);
  });

  it('accepts the query in the body or the URL, and the format in either', async () => {
    expect((await server.call('SELECT 1, 2')).text).toBe('1\t2\n');
    expect((await server.call('SELECT 1, 2 FORMAT CSV')).text).toBe('1,2\n');
    expect((await server.call(undefined, { method: 'GET', query: { query: 'SELECT 3' } })).text).toBe('3\n');
    const json = await server.call('SELECT 4 AS x', { query: { default_format: 'JSON' } });
    expect(JSON.parse(json.text).data).toEqual([{ x: 4 }]);
    expect(json.headers.get('content-type')).toContain('application/json');
  });

  it('describes the query in its headers', async () => {
    const { headers } = await server.call('SELECT number FROM numbers(10)', { query: { query_id: 'mine' } });
    expect(headers.get('x-clickhouse-query-id')).toBe('mine');
    expect(headers.get('x-clickhouse-format')).toBe('TabSeparated');
    expect(headers.get('x-clickhouse-timezone')).toMatch(/UTC$/);
    expect(JSON.parse(headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ read_rows: '10' });
    expect((await server.call('SELECT 1')).headers.get('x-clickhouse-query-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['SELECT nope', 404, 47],
    ['SELECT * FROM pilothouse.nope', 404, 60],
    ['SELECT nope()', 404, 46],
    ['SELECT FROM WHERE', 400, 62],
    ["SELECT toUInt8('x')", 400, 6],
    ['SELECT throwIf(1)', 500, 395],
    ['SELECT {missing:String}', 400, 456],
    ['', 400, 62],
  ])('responds to %j with %i and exception %i', async (sql, status, code) => {
    const response = await server.call(sql);
    expect(response.status).toBe(status);
    expect(response.headers.get('x-clickhouse-exception-code')).toBe(String(code));
    expect(response.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]+ \\([A-Z_]+\\)\\n$`));
  });

  it('accepts only its two users, in all forms of authentication', async () => {
    const wrong = { authorization: `Basic ${btoa('reader:wrong')}` };
    expect((await server.call('SELECT 1', { headers: wrong })).status).toBe(403);
    expect((await server.call('SELECT 1', { headers: { authorization: 'Bearer x' } })).status).toBe(403);
    expect((await server.call('SELECT 1', { headers: { authorization: `Basic ${btoa('default:')}` } })).status).toBe(
      403,
    );
    const otherPassword = { authorization: `Basic ${btoa(`writer:${PASSWORDS.reader}`)}` };
    const response = await server.call('SELECT 1', { headers: otherPassword });
    expect(response.headers.get('x-clickhouse-exception-code')).toBe('516');
    const own = await fetch(server.url(), {
      method: 'POST',
      body: 'SELECT 1',
      headers: { 'x-clickhouse-user': 'reader', 'x-clickhouse-key': PASSWORDS.reader },
    });
    expect(own.status).toBe(200);
    const inUrl = new URLSearchParams({ user: 'reader', password: PASSWORDS.reader, query: 'SELECT 1' });
    expect((await fetch(`${server.url()}/?${inUrl}`)).status).toBe(200);
  });

  it('compresses and decompresses gzip', async () => {
    const request = await server.call(gzipSync('SELECT 5'), { headers: { 'content-encoding': 'gzip' } });
    expect(request.text).toBe('5\n');
    const response = await fetch(`${server.url()}/?enable_http_compression=1&query=SELECT+repeat('x',100000)`, {
      headers: { authorization: `Basic ${btoa(`reader:${PASSWORDS.reader}`)}`, 'accept-encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await response.text()).length).toBe(100_001);
    const broken = gzipSync('SELECT 5').subarray(0, 12);
    expect((await server.call(broken, { headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
    expect((await server.call('x', { headers: { 'content-encoding': 'br' } })).status).toBe(501);
  });

  it('accepts the rows of an INSERT after the statement or separately', async () => {
    const insert = 'INSERT INTO pilothouse.t FORMAT JSONEachRow';
    expect((await write(`${insert}\n{"a":1,"b":"ü\\n"}\n{"a":2}\n`)).text).toBe('');
    const second = await server.call('{"a":3,"b":"c"}\n', { as: 'writer', query: { query: insert } });
    expect(JSON.parse(second.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '1' });
    await write('INSERT INTO pilothouse.t (a) FORMAT JSONCompactEachRow\n[4]\n');
    await write("INSERT INTO pilothouse.t VALUES (5, 'e')");
    await write('INSERT INTO pilothouse.t FORMAT TSV\n6\tf\n');
    expect(lines((await server.call('SELECT a, b FROM pilothouse.t ORDER BY a')).text)).toEqual([
      '1\tü\\n',
      '2\t',
      '3\tc',
      '4\t',
      '5\te',
      '6\tf',
    ]);
    const wrong = await server.call('{"a":"x"}\n', { as: 'writer', query: { query: insert } });
    expect(wrong.status).toBe(400);
  });

  it('runs nothing if a setting is unknown', async () => {
    const count = async () => (await server.call('SELECT count() FROM pilothouse.t')).text;
    const before = await count();
    const response = await server.call("INSERT INTO pilothouse.t VALUES (7, '')", {
      as: 'writer',
      query: { nope: '1' },
    });
    expect(response.status).toBe(404);
    expect(await count()).toBe(before);
    expect((await server.call('SELECT 1', { query: { 'a=1, readonly': '0' } })).status).toBe(404);
  });

  it('applies settings and parameters to one call only', async () => {
    const setting = "SELECT getSetting('max_threads')";
    const usual = (await server.call(setting)).text;
    expect((await server.call(setting, { query: { max_threads: '17' } })).text).toBe('17\n');
    for (let call = 0; call < 8; call++) expect((await server.call(setting)).text).toBe(usual);
    expect((await server.call('SELECT {a:UInt8}', { query: { param_a: '1' } })).text).toBe('1\n');
    expect((await server.call('SELECT {a:UInt8}')).status).toBe(400);
  });

  it('reads with all threads, even with little memory', async () => {
    await server.call('CREATE TABLE pilothouse.wide (a UInt64) ENGINE = MergeTree ORDER BY a', { as: 'writer' });
    await server.call('INSERT INTO pilothouse.wide SELECT number FROM numbers(2000000)', { as: 'writer' });
    const query = { max_threads: '4', max_memory_usage: '100000000' };
    const { text } = await server.call('EXPLAIN PIPELINE SELECT sum(a) FROM pilothouse.wide WHERE a % 3 = 0', {
      query,
    });
    expect(text).toContain('MergeTreeSelect(pool: ReadPool, algorithm: Thread) × 4');
  });

  it('changes nothing on a GET, not even for the writer', async () => {
    const query = { query: "INSERT INTO pilothouse.t VALUES (8, '')" };
    const response = await server.call(undefined, { as: 'writer', method: 'GET', query });
    expect(response.headers.get('x-clickhouse-exception-code')).toBe('164');
  });

  it('rejects the id of a running query', async () => {
    const abort = new AbortController();
    // One row per block: ClickHouse rejects a query that sleeps more than 3 seconds per block with exception 160.
    const query = { query_id: 'twice', max_block_size: '1' };
    const calls = [1, 2].map(() =>
      server.call('SELECT sleepEachRow(1) FROM numbers(600)', { query, signal: abort.signal }),
    );
    const rejected = await Promise.race(calls);
    expect([rejected.status, rejected.headers.get('x-clickhouse-exception-code')]).toEqual([500, '216']);
    abort.abort();
    await Promise.allSettled(calls);
  });

  it('stops running and waiting queries whose client disconnected', async () => {
    const abort = new AbortController();
    const endless = 'SELECT count() FROM numbers(1000000000000)';
    const disconnected = Array.from({ length: 6 }, (_, index) =>
      server.call(endless, { query: { query_id: `gone-${index}` }, signal: abort.signal }).catch(() => 'gone'),
    );
    const running = "SELECT countIf(query LIKE '%1000000000000%') - 1 FROM system.processes";
    const count = async () => Number((await server.call(running, { as: 'writer' })).text);
    await until(count, (found) => found === 4, 'there are not four running queries');
    abort.abort();
    expect(await Promise.all(disconnected)).toEqual(Array(6).fill('gone'));
    await until(count, (found) => found === 0, 'the queries are not stopped');
    expect((await server.call('SELECT 1')).text).toBe('1\n');
  });

  it('works with the official ClickHouse client', async () => {
    const client = createClient({
      url: server.url(),
      username: 'reader',
      password: PASSWORDS.reader,
      log: { level: ClickHouseLogLevel.OFF },
    });
    try {
      expect((await client.ping()).success).toBe(true);
      const response = await client.query({
        query:
          'SELECT {a:Array(String)} AS a, {d:DateTime64(3)} AS d, {n:Nullable(String)} AS n, {m:Map(String, UInt8)} AS m',
        query_params: { a: ["it's", '\\', 'x\ty'], d: new Date(0), n: null, m: { k: 1 } },
        format: 'JSONEachRow',
      });
      expect(await response.json()).toEqual([
        { a: ["it's", '\\', 'x\ty'], d: '1970-01-01 00:00:00.000', n: null, m: { k: 1 } },
      ]);
      await expect(client.query({ query: 'SELECT nope' })).rejects.toMatchObject({ code: '47' });
    } finally {
      await client.close();
    }
  });
});
