import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseServer, PASSWORDS, startClickHouseServer } from '../../../test/support/clickhouse-server.ts';
import { until } from '../../../test/support/until.ts';
import { AppError } from '../../kernel/errors.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import type { Engine, Limits } from './engine.ts';
import { openEngine } from './open.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const logged: unknown[] = [];
const log = {
  debug() {},
  info: (...line: unknown[]) => logged.push(line),
  warn: (...line: unknown[]) => logged.push(line),
};

const open = (name: string, options: { clickhouseUrl?: string; program?: string } = {}): Engine =>
  openEngine({ dataDirectory: join(directory, name), engineMemoryBytes: 2 ** 30, clock: systemClock, log, ...options });

const getError = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    (value) => expect.fail(`unexpected success: ${JSON.stringify(value)}`),
    (error) => error,
  );

describe('the embedded engine', () => {
  const engine = open('embedded');
  afterAll(() => engine.close());
  const rows = (sql: string, parameters: Record<string, unknown> = {}) => engine.query({ sql, parameters });

  it('is not started before it is needed', async () => {
    expect(engine.kind).toBe('embedded');
    expect(engine.isRunning()).toBe(false);
    expect(existsSync(join(directory, 'embedded'))).toBe(false);
    await engine.start();
    expect(engine.isRunning()).toBe(true);
  });

  it.each([
    "it's",
    'a\\b',
    "\\'",
    'line\nbreak\r\n\ttab',
    'ünïcödé 😀 \u2028',
    'NUL\0inside',
    "'; DROP TABLE pilothouse.otel_logs; --",
    '{a:String}',
    '\\N',
    '%_*?',
    '',
  ])('binds %j unchanged', async (text) => {
    expect(await rows('SELECT {a:String}, length({a:String})', { a: text })).toEqual([[text, Buffer.byteLength(text)]]);
    expect(await rows('SELECT {a:Array(String)}[1]', { a: [text] })).toEqual([[text]]);
    expect(await rows('SELECT {a:Map(String, String)}', { a: { [`k${text}`]: text } })).toEqual([
      [{ [`k${text}`]: text }],
    ]);
  });

  it('binds strings as long as expressions can be', async () => {
    const text = '😀'.repeat(10_000);
    expect(await rows('SELECT length({a:String})', { a: text })).toEqual([[Buffer.byteLength(text)]]);
  });

  it('binds every kind of value', async () => {
    const sql =
      'SELECT {n:Nullable(String)}, {u:UInt64}, {f:Float64}, {b:Bool}, {d:DateTime64(3)}, {l:Array(UInt64)} FROM {db:Identifier}.{t:Identifier} LIMIT {limit:UInt32}';
    const parameters = {
      n: null,
      u: '18446744073709551615',
      f: 0.1,
      b: true,
      d: new Date(1_700_000_000_123),
      l: [1, 2],
      db: 'system',
      t: 'one',
      limit: 5,
    };
    expect(await rows(sql, parameters)).toEqual([
      [null, '18446744073709551615', 0.1, true, '2023-11-14 22:13:20.123', [1, 2]],
    ]);
  });

  it('returns numbers as numbers if they are exact, and null for NaN and infinity', async () => {
    expect(
      await rows("SELECT count(), toInt64(-5), map('a', toUInt64(7)), 0 / 0, 1 / 0, NULL, toUInt64(9007199254740993)"),
    ).toEqual([[1, -5, { a: 7 }, null, null, null, '9007199254740993']]);
  });

  it('does not mix up the values of concurrent queries', async () => {
    const responses = await Promise.all(Array.from({ length: 60 }, (_, n) => rows('SELECT {n:UInt32}', { n })));
    expect(responses.map(([row]) => row?.[0])).toEqual(Array.from({ length: 60 }, (_, n) => n));
  });

  it('stores and reads rows', async () => {
    await engine.insert('otel_logs', []);
    const row = {
      OrganizationId: 'acme',
      Timestamp: '2026-11-15T10:00:00.123456789Z',
      Body: "it's ü\n",
      LogAttributes: { a: 'b' },
    };
    await engine.insert('otel_logs', [row, { ...row, Body: 'second' }]);
    expect(await rows('SELECT Timestamp, Body, LogAttributes FROM pilothouse.otel_logs ORDER BY Body')).toEqual([
      ['2026-11-15 10:00:00.123456789', "it's ü\n", { a: 'b' }],
      ['2026-11-15 10:00:00.123456789', 'second', { a: 'b' }],
    ]);
    expect((await getError(engine.insert('otel_logs', [{ Nope: 1 }]))).code).toBe('bad_request');
    expect((await getError(engine.insert('x; DROP', [row]))).code).toBe('internal');
  });

  it('lists columns, and none for an unknown table', async () => {
    const columns = await engine.columns('pilothouse', 'otel_metrics_exponential_histogram');
    expect(columns[0]).toEqual({ name: 'OrganizationId', type: 'LowCardinality(String)' });
    expect(columns).toContainEqual({ name: 'TimeUnix', type: 'DateTime64(9)' });
    expect(columns).toContainEqual({ name: 'Exemplars.TimeUnix', type: 'Array(DateTime64(9))' });
    expect(await engine.columns('pilothouse', 'nope')).toEqual([]);
    expect(await engine.columns("no'pe", '`')).toEqual([]);
  });

  it('has all telemetry tables, with an organization column', async () => {
    const sql =
      "SELECT table, groupArray(name)[1] FROM (SELECT table, name FROM system.columns WHERE database = 'pilothouse' ORDER BY table, position) WHERE table LIKE 'otel%' GROUP BY table ORDER BY table";
    expect(await rows(sql)).toEqual(
      [
        'otel_logs',
        'otel_logs_values',
        'otel_logs_values_view',
        'otel_metrics_exponential_histogram',
        'otel_metrics_gauge',
        'otel_metrics_histogram',
        'otel_metrics_sum',
        'otel_metrics_summary',
        'otel_trace_times',
        'otel_trace_times_view',
        'otel_traces',
        'otel_traces_values',
        'otel_traces_values_view',
      ].map((table) => [table, 'OrganizationId']),
    );
  });

  const limited: [string, Limits, string][] = [
    ['SELECT count() FROM numbers(1000000000000)', { maxSeconds: 1 }, 'took longer than 1 s'],
    ['SELECT number FROM numbers(1001)', { maxResultRows: 1000 }, 'more than 1000 rows'],
    ["SELECT repeat('a', 100) FROM numbers(1000)", { maxResultBytes: 2 ** 16 }, 'larger than 64 KiB'],
    ["SELECT repeat('a', 1000000) FROM numbers(5)", {}, 'larger than 4 MiB'],
    // 1 MB in the engine's memory, 6 MB as JSON.
    ["SELECT repeat('\\x01', 1000000)", {}, 'larger than 4 MiB'],
    [
      'SELECT uniqExact(number) FROM numbers(50000000)',
      { maxMemoryBytes: 50_000_000, maxSeconds: 3600 },
      'memory limit',
    ],
    ['SELECT uniqExact(number) FROM numbers(1000000000)', { maxMemoryBytes: 1e12, maxSeconds: 3600 }, 'memory limit'],
  ];
  // ClickHouse counts the memory of ended queries for a moment, which is long on a busy machine.
  const untilMemoryIsFree = <T>(attempt: () => Promise<T>): Promise<T | AppError> =>
    until<T | AppError>(
      () => attempt().catch((error: AppError) => error),
      (result) => !(result instanceof AppError && result.code === 'unavailable'),
      'the engine lacks memory',
    );

  it.each(limited)('stops %j', async (sql, limits, text) => {
    const query = () => getError(engine.query({ sql, parameters: {} }, { limits }));
    expect(await untilMemoryIsFree(query)).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(text),
    });
    expect(await untilMemoryIsFree(() => rows('SELECT 1'))).toEqual([[1]]);
  });

  it('asks for another attempt if several queries together exceed its memory', async () => {
    const sql = 'SELECT uniqExact(number) FROM numbers(1000000000)';
    const run = async (organizationId: string) =>
      await getError(engine.query({ sql, parameters: {} }, { organizationId, limits: { maxSeconds: 3600 } }));
    const lacksMemory = { code: 'unavailable', message: expect.stringContaining('lacks memory; try again') };
    const failures = await until(
      () => Promise.all(['a', 'b', 'c', 'd'].map(run)),
      (errors) => errors.some(({ code }) => code === 'unavailable'),
      'only single queries exceed their limit',
    );
    expect(failures).toContainEqual(expect.objectContaining(lacksMemory));
    expect(await untilMemoryIsFree(() => rows('SELECT 1'))).toEqual([[1]]);
  });

  it.each([
    ['SELECT nope FROM pilothouse.otel_logs', '`nope`'],
    ['SELECT 1 FROM pilothouse.nope', 'nope'],
    ["SELECT 1 + 'a'", 'Illegal types UInt8 and String'],
    ["SELECT toUInt8('abc')", "'abc' as UInt8"],
    ["SELECT match('a', '(')", 'missing )'],
    ['SELECT {n:UInt8}', 'n'],
    ['SELECT * FROM other.t', 'other'],
    ['DROP TABLE pilothouse.otel_logs', 'does not permit'],
  ])('reports the error in %j and nothing else', async (sql, text) => {
    const { code, message } = (await untilMemoryIsFree(() => rows(sql))) as AppError;
    expect(code).toBe('bad_request');
    expect(message).toContain(text);
    expect(message).not.toMatch(/DB::Exception|version|in scope|SELECT {|Stack/);
    expect(message.length).toBeLessThan(300);
  });

  it('stops a query whose signal is aborted', async () => {
    const abort = new AbortController();
    const endless = { sql: 'SELECT count() FROM numbers(1000000000000)', parameters: {} };
    const all = Array.from({ length: 10 }, () => engine.query(endless, { signal: abort.signal }));
    const settled = Promise.allSettled(all);
    abort.abort(new Error('the client disconnected'));
    for (const one of await settled)
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'the client disconnected' } });
    expect(await rows('SELECT 1')).toEqual([[1]]);
    expect((await getError(engine.query(endless, { signal: abort.signal }))).message).toBe('the client disconnected');
  });

  it('lets organizations take turns: endless queries of one do not delay another', async () => {
    const abort = new AbortController();
    const endless = { sql: 'SELECT count() FROM system.numbers WHERE NOT ignore(number)', parameters: {} };
    const run = (organizationId: string) =>
      engine.query(endless, { organizationId, signal: abort.signal, limits: { maxSeconds: 3600 } });
    const greedy = Promise.allSettled(Array.from({ length: 12 }, () => run('greedy')));
    const modest = () => engine.query({ sql: 'SELECT 1', parameters: {} }, { organizationId: 'modest' });
    for (let round = 0; round < 5; round++) expect(await untilMemoryIsFree(modest)).toEqual([[1]]);
    const waiting = Array.from({ length: 210 }, () => getError(run('greedy')));
    expect(await Promise.race(waiting)).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 5 });
    abort.abort(new Error('the client disconnected'));
    await Promise.all([greedy, ...waiting]);
    expect(await rows('SELECT 1')).toEqual([[1]]);
  });

  it('keeps stored rows when it is opened again, and migrates once', async () => {
    await engine.close();
    expect(engine.isRunning()).toBe(false);
    expect((await getError(rows('SELECT 1'))).code).toBe('unavailable');
    const again = open('embedded');
    try {
      expect(await again.query({ sql: 'SELECT count() FROM pilothouse.otel_logs', parameters: {} })).toEqual([[2]]);
      const sql = 'SELECT name FROM pilothouse.schema_migrations ORDER BY name';
      const files = readdirSync(join(import.meta.dirname, '../../../migrations/engine')).sort();
      expect(await again.query({ sql, parameters: {} })).toEqual(files.map((file) => [file.replace('.sql', '')]));
    } finally {
      await again.close();
    }
  });
});

describe('a ClickHouse server', () => {
  let child: ClickHouseServer;
  const formatUrl = (user: keyof typeof PASSWORDS) => `http://${user}:${PASSWORDS[user]}@127.0.0.1:${child.port}`;
  beforeAll(async () => {
    child = await startClickHouseServer(join(directory, 'server'));
  });
  afterAll(() => child.close());

  async function countSlowQueries(): Promise<number> {
    const url = `http://127.0.0.1:${child.port}/?user=monitor&password=${PASSWORDS.monitor}`;
    const sql = "SELECT count() FROM system.processes WHERE user = 'writer'";
    return Number(await (await fetch(url, { method: 'POST', body: sql })).text());
  }

  it('is queried over its URL, migrated and limited', async () => {
    const engine = open('none', { clickhouseUrl: formatUrl('writer') });
    try {
      expect(engine.kind).toBe('server');
      expect(engine.isRunning()).toBe(false);
      await engine.insert('otel_logs', [{ OrganizationId: 'acme', Timestamp: '2026-11-15T10:00:00Z', Body: 'x' }]);
      expect(await engine.query({ sql: 'SELECT Body FROM pilothouse.otel_logs', parameters: {} })).toEqual([['x']]);
      expect(await engine.query({ sql: "SELECT getSetting('readonly')", parameters: {} })).toEqual([[1]]);
      const dropping = engine.query({ sql: 'DROP TABLE pilothouse.otel_logs', parameters: {} });
      expect((await getError(dropping)).code).toBe('bad_request');
      const slow = { sql: 'SELECT count() FROM numbers(1000000000000)', parameters: {} };
      expect((await getError(engine.query(slow, { limits: { maxSeconds: 1 } }))).message).toContain('longer than 1 s');
      const abort = new AbortController();
      const query = getError(engine.query(slow, { signal: abort.signal }));
      await until(countSlowQueries, (count) => count === 1, 'the query is not running');
      abort.abort(new Error('the client disconnected'));
      expect((await query).message).toBe('the client disconnected');
      await until(countSlowQueries, (count) => count === 0, 'the query is not stopped');
      expect(existsSync(join(directory, 'none'))).toBe(false);
    } finally {
      await engine.close();
    }
  });

  it('can be read-only', async () => {
    logged.length = 0;
    const engine = open('none', { clickhouseUrl: formatUrl('reader') });
    try {
      expect(await engine.query({ sql: 'SELECT count() FROM pilothouse.otel_logs', parameters: {} })).toEqual([[1]]);
      expect(JSON.stringify(logged)).toMatch(/readonly = 1.*may not write/);
      expect((await getError(engine.insert('otel_logs', [{ OrganizationId: 'x' }]))).message).toContain(
        'does not permit',
      );
    } finally {
      await engine.close();
    }
  });

  it('that cannot be reached or rejects the user is unavailable, and retried', async () => {
    const engine = open('none', { clickhouseUrl: 'http://127.0.0.1:1' });
    const unauthorized = open('none', { clickhouseUrl: `http://writer:wrong@127.0.0.1:${child.port}` });
    for (const one of [engine, engine, unauthorized]) {
      const { code, retryAfterSeconds } = await getError(one.start());
      expect(code).toBe('unavailable');
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(one.isRunning()).toBe(false);
    }
    await engine.close();
    await unauthorized.close();
  });
});

describe('a directory that cannot be used', () => {
  it('is unavailable, with the reason, and is tried again', async () => {
    mkdirSync(join(directory, 'unusable'));
    writeFileSync(join(directory, 'unusable', 'engine'), '');
    const engine = open('unusable');
    const { code, message, retryAfterSeconds } = await getError(engine.start());
    expect([code, message]).toEqual([
      'unavailable',
      expect.stringMatching(/^The engine could not be started: .*ENOTDIR/),
    ]);
    expect(retryAfterSeconds).toBeGreaterThan(0);
    rmSync(join(directory, 'unusable', 'engine'));
    await engine.start();
    await engine.close();
  });
});

describe('without the chdb package', () => {
  it('names the package to install', async () => {
    const program = join(directory, 'listener.cjs');
    copyFileSync(join(import.meta.dirname, '../../../dist/listener.cjs'), program);
    const engine = open('missing', { program });
    const error = await getError(engine.query({ sql: 'SELECT 1', parameters: {} }));
    expect(error.code).toBe('unavailable');
    expect(error.message).toMatch(/not installed; .*--clickhouse-url/);
    expect((await getError(engine.start())).message).toContain('not installed');
    await engine.close();
    await until(
      async () => engine.isRunning(),
      (isRunning) => !isRunning,
      'it runs',
    );
  });
});
