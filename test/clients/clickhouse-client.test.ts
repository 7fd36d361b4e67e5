import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { useIdleService } from './idle-service.ts';

describe('@clickhouse/client with the endpoint of an embedded service', () => {
  const service = useIdleService();
  let client: ClickHouseClient;
  const open: ClickHouseClient[] = [];
  const connect = (options: object = {}): ClickHouseClient => {
    const { url, password } = service;
    const log = { level: ClickHouseLogLevel.OFF };
    const created = createClient({ url, username: 'default', password, log, ...options });
    open.push(created);
    return created;
  };
  const select = async (query: string, options: object = {}, from = client): Promise<unknown> =>
    (await from.query({ query, format: 'JSONEachRow', ...options })).json();
  beforeAll(() => {
    client = connect();
  });
  afterAll(() => Promise.all(open.map((opened) => opened.close())));

  it('a ping leaves the service idle, and the first query wakes it', async () => {
    expect(await service.readState()).toBe('idle');
    expect(await client.ping()).toEqual({ success: true });
    expect(await service.readState()).toBe('idle');
    expect(await select('SELECT version() AS version')).toEqual([{ version: expect.stringMatching(/^\d+\.\d+/) }]);
    expect(await service.readState()).toBe('running');
    expect(await client.ping({ select: true })).toEqual({ success: true });
  });

  it('creates a table and inserts rows as JSON, CSV and a stream', async () => {
    await client.command({ query: 'CREATE TABLE rows (id UInt32, name String) ENGINE = MergeTree ORDER BY id' });
    await client.insert({ table: 'rows', format: 'JSONEachRow', values: [{ id: 1, name: 'one' }] });
    await client.insert({
      table: 'rows',
      format: 'CSV',
      values: Readable.from(['2,two\n', '3,three\n'], { objectMode: false }),
    });
    const values = Readable.from(Array.from({ length: 1000 }, (_, i) => ({ id: 10 + i, name: `name ${i}` })));
    await client.insert({ table: 'rows', format: 'JSONEachRow', values });
    const counted = await select('SELECT toUInt32(count()) AS n, max(id) AS last FROM rows');
    expect(counted).toEqual([{ n: 1003, last: 1009 }]);
  });

  it('inserts RowBinary, compressed rows and asynchronously', async () => {
    await client.command({ query: 'CREATE TABLE numbers (id UInt32) ENGINE = MergeTree ORDER BY id' });
    const bytes = Buffer.alloc(40);
    for (let i = 0; i < 10; i++) bytes.writeUInt32LE(i, 4 * i);
    const { stream } = await client.exec({
      query: 'INSERT INTO numbers FORMAT RowBinary',
      values: Readable.from([bytes]),
    });
    stream.resume();
    const compressed = connect({ compression: { request: true, response: true } });
    await compressed.insert({ table: 'numbers', format: 'JSONEachRow', values: [{ id: 100 }, { id: 101 }] });
    const clickhouse_settings = { async_insert: 1, wait_for_async_insert: 1 } as const;
    await client.insert({ table: 'numbers', format: 'JSONEachRow', values: [{ id: 1000 }], clickhouse_settings });
    const sum = await select('SELECT toUInt32(sum(id)) AS sum FROM numbers', {}, compressed);
    expect(sum).toEqual([{ sum: 45 + 201 + 1000 }]);
  });

  it('binds parameters', async () => {
    const query = 'SELECT {text:String} AS text, {list:Array(UInt8)} AS list, {none:Nullable(String)} AS none';
    const values = { text: "it's \t\\ a 'text'", list: [1, 2], none: null };
    expect(await select(query, { query_params: values })).toEqual([values]);
  });

  it('streams a result', async () => {
    const rows = await client.query({ query: 'SELECT number FROM numbers(200000)', format: 'JSONCompactEachRow' });
    let count = 0;
    for await (const part of rows.stream()) count += part.length;
    expect(count).toBe(200_000);
  });

  it('reads a large result, compressed and not', async () => {
    const query = "SELECT repeat('x', 1000) AS x FROM numbers(20000)";
    for (const response of [true, false]) {
      const result = await connect({ compression: { response } }).query({ query, format: 'TabSeparated' });
      expect((await result.text()).length).toBe(20_000 * 1001);
    }
  });

  it('keeps temporary tables and settings in a session', async () => {
    const session = connect({ session_id: randomUUID() });
    await session.command({ query: 'CREATE TEMPORARY TABLE temporary (x UInt8)' });
    await session.insert({ table: 'temporary', format: 'JSONEachRow', values: [{ x: 7 }] });
    expect(await select('SELECT x FROM temporary', {}, session)).toEqual([{ x: 7 }]);
    await session.command({ query: 'SET max_threads = 3' });
    expect(await select("SELECT toUInt8(getSetting('max_threads')) AS n", {}, session)).toEqual([{ n: 3 }]);
    await expect(select('SELECT x FROM temporary')).rejects.toMatchObject({ code: '60' });
  });

  it('passes settings, the query id and another database', async () => {
    const query_id = randomUUID();
    const query = "SELECT toUInt32(getSetting('max_block_size')) AS size, queryID() AS id";
    const result = await client.query({
      query,
      format: 'JSONEachRow',
      query_id,
      clickhouse_settings: { max_block_size: '123' },
    });
    expect(result.query_id).toBe(query_id);
    expect(await result.json()).toEqual([{ size: 123, id: query_id }]);
    await client.command({ query: 'CREATE DATABASE other' });
    expect(await select('SELECT currentDatabase() AS name', {}, connect({ database: 'other' }))).toEqual([
      { name: 'other' },
    ]);
  });

  it('gets the errors of ClickHouse, also in the middle of a result', async () => {
    await expect(select('SELEC 1')).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' });
    await expect(select('SELECT * FROM missing')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
    // The client reads the code only if the last chunk has the whole error, which depends on the network.
    const isNoticed = (error: Error & { code?: string }) =>
      error.code === '395' || error.message.startsWith('there was an error in the stream');
    await expect(select('SELECT throwIf(number = 200000) AS x FROM numbers(300000)')).rejects.toSatisfy(isNoticed);
    const stranger = connect({ password: 'wrong' });
    await expect(select('SELECT 1', {}, stranger)).rejects.toMatchObject({ code: '194', type: 'REQUIRED_PASSWORD' });
  });

  it('cancels a query', async () => {
    const query_id = randomUUID();
    const count = async () => {
      const query = 'SELECT toUInt8(count()) AS n FROM system.processes WHERE query_id = {id:String}';
      return (await select(query, { query_params: { id: query_id } })) as { n: number }[];
    };
    const abort = new AbortController();
    const query = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';
    const running = client.query({ query, query_id, abort_signal: abort.signal });
    const failed = expect(running).rejects.toThrow(/abort/i);
    await until(count, ([row]) => row?.n === 1, 'the query does not start');
    abort.abort();
    await failed;
    await until(count, ([row]) => row?.n === 0, 'the query does not end');
  });

  it('reads progress and the summary', async () => {
    const { summary } = await client.command({
      query: 'INSERT INTO numbers SELECT number FROM numbers(10)',
      clickhouse_settings: { wait_end_of_query: 1 },
    });
    expect(summary).toMatchObject({ written_rows: '10' });
  });

  it('lists databases, tables and columns', async () => {
    expect(await select('SHOW TABLES')).toEqual(expect.arrayContaining([{ name: 'rows' }, { name: 'numbers' }]));
    expect(await select('DESCRIBE TABLE rows')).toMatchObject([
      { name: 'id', type: 'UInt32' },
      { name: 'name', type: 'String' },
    ]);
  });
});
