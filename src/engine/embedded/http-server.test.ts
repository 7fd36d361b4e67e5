import { gzipSync } from 'node:zlib';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORDS, useEngineHttpServer } from '../../../test/support/engine-http-server.ts';
import { until } from '../../../test/support/until.ts';

const face = useEngineHttpServer();
const write = (sql: string) => face.call(sql, { as: 'writer' });
const lines = (text: string) => text.trimEnd().split('\n');

beforeAll(async () => {
  expect(await write('CREATE DATABASE IF NOT EXISTS pilothouse')).toMatchObject({ status: 200 });
  const created = await write('CREATE TABLE pilothouse.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a');
  expect(created.text).toBe('');
});

describe('the HTTP interface', () => {
  it('answers a ping without credentials', async () => {
    expect(await (await fetch(`${face.url()}/ping`)).text()).toBe('Ok.\n');
    expect((await fetch(`${face.url()}/elsewhere`)).status).toBe(404);
  });

  it('takes the query from the body or the URL, and the format from either', async () => {
    expect((await face.call('SELECT 1, 2')).text).toBe('1\t2\n');
    expect((await face.call('SELECT 1, 2 FORMAT CSV')).text).toBe('1,2\n');
    expect((await face.call(undefined, { method: 'GET', query: { query: 'SELECT 3' } })).text).toBe('3\n');
    const json = await face.call('SELECT 4 AS x', { query: { default_format: 'JSON' } });
    expect(JSON.parse(json.text).data).toEqual([{ x: 4 }]);
    expect(json.headers.get('content-type')).toContain('application/json');
  });

  it('says in its headers what it did', async () => {
    const { headers } = await face.call('SELECT number FROM numbers(10)', { query: { query_id: 'mine' } });
    expect(headers.get('x-clickhouse-query-id')).toBe('mine');
    expect(headers.get('x-clickhouse-format')).toBe('TabSeparated');
    expect(headers.get('x-clickhouse-timezone')).toMatch(/UTC$/);
    expect(JSON.parse(headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ read_rows: '10' });
    expect((await face.call('SELECT 1')).headers.get('x-clickhouse-query-id')).toMatch(/^[0-9a-f-]{36}$/);
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
  ])('answers %j with %i and exception %i', async (sql, status, code) => {
    const answer = await face.call(sql);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(String(code));
    expect(answer.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]+ \\([A-Z_]+\\)\\n$`));
  });

  it('knows its two users and nobody else, however they present themselves', async () => {
    const wrong = { authorization: `Basic ${btoa('reader:wrong')}` };
    expect((await face.call('SELECT 1', { headers: wrong })).status).toBe(403);
    expect((await face.call('SELECT 1', { headers: { authorization: 'Bearer x' } })).status).toBe(403);
    expect((await face.call('SELECT 1', { headers: { authorization: `Basic ${btoa('default:')}` } })).status).toBe(403);
    const crossed = { authorization: `Basic ${btoa(`writer:${PASSWORDS.reader}`)}` };
    const answer = await face.call('SELECT 1', { headers: crossed });
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516');
    const own = await fetch(face.url(), {
      method: 'POST',
      body: 'SELECT 1',
      headers: { 'x-clickhouse-user': 'reader', 'x-clickhouse-key': PASSWORDS.reader },
    });
    expect(own.status).toBe(200);
    const inUrl = new URLSearchParams({ user: 'reader', password: PASSWORDS.reader, query: 'SELECT 1' });
    expect((await fetch(`${face.url()}/?${inUrl}`)).status).toBe(200);
  });

  it('packs and unpacks gzip', async () => {
    const request = await face.call(gzipSync('SELECT 5'), { headers: { 'content-encoding': 'gzip' } });
    expect(request.text).toBe('5\n');
    const answer = await fetch(`${face.url()}/?enable_http_compression=1&query=SELECT+repeat('x',100000)`, {
      headers: { authorization: `Basic ${btoa(`reader:${PASSWORDS.reader}`)}`, 'accept-encoding': 'gzip' },
    });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect((await answer.text()).length).toBe(100_001);
    const broken = gzipSync('SELECT 5').subarray(0, 12);
    expect((await face.call(broken, { headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
    expect((await face.call('x', { headers: { 'content-encoding': 'br' } })).status).toBe(501);
  });

  it('takes rows for an INSERT behind the statement or on their own', async () => {
    const insert = 'INSERT INTO pilothouse.t FORMAT JSONEachRow';
    expect((await write(`${insert}\n{"a":1,"b":"ü\\n"}\n{"a":2}\n`)).text).toBe('');
    const second = await face.call('{"a":3,"b":"c"}\n', { as: 'writer', query: { query: insert } });
    expect(JSON.parse(second.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '1' });
    await write('INSERT INTO pilothouse.t (a) FORMAT JSONCompactEachRow\n[4]\n');
    await write("INSERT INTO pilothouse.t VALUES (5, 'e')");
    await write('INSERT INTO pilothouse.t FORMAT TSV\n6\tf\n');
    expect(lines((await face.call('SELECT a, b FROM pilothouse.t ORDER BY a')).text)).toEqual([
      '1\tü\\n',
      '2\t',
      '3\tc',
      '4\t',
      '5\te',
      '6\tf',
    ]);
    const wrong = await face.call('{"a":"x"}\n', { as: 'writer', query: { query: insert } });
    expect(wrong.status).toBe(400);
  });

  it('does nothing when a setting is unknown', async () => {
    const count = async () => (await face.call('SELECT count() FROM pilothouse.t')).text;
    const before = await count();
    const answer = await face.call("INSERT INTO pilothouse.t VALUES (7, '')", { as: 'writer', query: { nope: '1' } });
    expect(answer.status).toBe(404);
    expect(await count()).toBe(before);
    expect((await face.call('SELECT 1', { query: { 'a=1, readonly': '0' } })).status).toBe(404);
  });

  it('keeps settings and values to the call they came with', async () => {
    const setting = "SELECT getSetting('max_threads')";
    const usual = (await face.call(setting)).text;
    expect((await face.call(setting, { query: { max_threads: '17' } })).text).toBe('17\n');
    for (let call = 0; call < 8; call++) expect((await face.call(setting)).text).toBe(usual);
    expect((await face.call('SELECT {a:UInt8}', { query: { param_a: '1' } })).text).toBe('1\n');
    expect((await face.call('SELECT {a:UInt8}')).status).toBe(400);
  });

  it('reads with all threads, also where it may have little memory', async () => {
    await face.call('CREATE TABLE pilothouse.wide (a UInt64) ENGINE = MergeTree ORDER BY a', { as: 'writer' });
    await face.call('INSERT INTO pilothouse.wide SELECT number FROM numbers(2000000)', { as: 'writer' });
    const query = { max_threads: '4', max_memory_usage: '100000000' };
    const { text } = await face.call('EXPLAIN PIPELINE SELECT sum(a) FROM pilothouse.wide WHERE a % 3 = 0', { query });
    expect(text).toContain('MergeTreeSelect(pool: ReadPool, algorithm: Thread) × 4');
  });

  it('changes nothing for a GET, whoever asks', async () => {
    const query = { query: "INSERT INTO pilothouse.t VALUES (8, '')" };
    const answer = await face.call(undefined, { as: 'writer', method: 'GET', query });
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('164');
  });

  it('refuses an id that is already running', async () => {
    const abort = new AbortController();
    const query = { query_id: 'twice' };
    const calls = [1, 2].map(() =>
      face.call('SELECT sleepEachRow(1) FROM numbers(20)', { query, signal: abort.signal }),
    );
    const refused = await Promise.race(calls);
    expect([refused.status, refused.headers.get('x-clickhouse-exception-code')]).toEqual([500, '216']);
    abort.abort();
    await Promise.allSettled(calls);
  });

  it('stops a query whose client went away, and one that still waits', async () => {
    const abort = new AbortController();
    const endless = 'SELECT count() FROM numbers(1000000000000)';
    const gone = Array.from({ length: 6 }, (_, index) =>
      face.call(endless, { query: { query_id: `gone-${index}` }, signal: abort.signal }).catch(() => 'gone'),
    );
    const running = "SELECT countIf(query LIKE '%1000000000000%') - 1 FROM system.processes";
    const count = async () => Number((await face.call(running, { as: 'writer' })).text);
    await until(count, (found) => found === 4, 'four run at the same time');
    abort.abort();
    expect(await Promise.all(gone)).toEqual(Array(6).fill('gone'));
    await until(count, (found) => found === 0, 'they are stopped');
    expect((await face.call('SELECT 1')).text).toBe('1\n');
  });

  it('serves the ClickHouse client', async () => {
    const client = createClient({
      url: face.url(),
      username: 'reader',
      password: PASSWORDS.reader,
      log: { level: ClickHouseLogLevel.OFF },
    });
    try {
      expect((await client.ping()).success).toBe(true);
      const answer = await client.query({
        query:
          'SELECT {a:Array(String)} AS a, {d:DateTime64(3)} AS d, {n:Nullable(String)} AS n, {m:Map(String, UInt8)} AS m',
        query_params: { a: ["it's", '\\', 'x\ty'], d: new Date(0), n: null, m: { k: 1 } },
        format: 'JSONEachRow',
      });
      expect(await answer.json()).toEqual([
        { a: ["it's", '\\', 'x\ty'], d: '1970-01-01 00:00:00.000', n: null, m: { k: 1 } },
      ]);
      await expect(client.query({ query: 'SELECT nope' })).rejects.toMatchObject({ code: '47' });
    } finally {
      await client.close();
    }
  });
});
