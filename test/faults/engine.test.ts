import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { AppError } from '../../src/kernel/errors.ts';
import { type Clock, systemClock } from '../../src/kernel/time/clock.ts';
import type { Engine } from '../../src/platform/engine/engine.ts';
import type { EngineObserver } from '../../src/platform/engine/observer.ts';
import { openEngine } from '../../src/platform/engine/open.ts';
import { startClickHouseServer } from '../support/clickhouse-server.ts';
import { isAlive, sendSignal } from '../support/processes.ts';
import { run } from '../support/server.ts';
import { until } from '../support/until.ts';

// Starts engines again and again.
vi.setConfig({ testTimeout: 180_000 });

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-faults-'));
const opened: Engine[] = [];
afterEach(async () => void (await Promise.all(opened.splice(0).map((engine) => engine.close()))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// Reads an unbounded table, because ClickHouse rejects queries whose estimated time exceeds their limit.
const ENDLESS = { sql: 'SELECT count() FROM system.numbers WHERE NOT ignore(number)', parameters: {} };
const UNLIMITED = { limits: { maxSeconds: 3600 } };
const ONE = { sql: 'SELECT 1', parameters: {} };

function open(name: string, { observer, clock = systemClock }: { observer?: EngineObserver; clock?: Clock } = {}) {
  const pids: number[] = [];
  const info = (line: { pid?: number }) => {
    if (line.pid) pids.push(line.pid);
  };
  const engine = openEngine({
    dataDirectory: join(directory, name),
    engineMemoryBytes: 2 ** 30,
    clock,
    log: { debug() {}, info, warn() {} },
    ...(observer ? { observer } : {}),
  });
  opened.push(engine);
  return { engine, pids };
}

const getError = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.fail('unexpected success'),
    (error) => error,
  );

/** Some tests read /proc. */
const isLinux = existsSync('/proc/self/status');

describe('an engine killed during queries', () => {
  it('fails the running queries, serves the next, and keeps stored rows', async () => {
    let restarts = 0;
    const { engine, pids } = open('killed', {
      observer: { query() {}, running() {}, restarted: () => restarts++ },
    });
    const row = { OrganizationId: 'acme', Timestamp: '2026-11-15T10:00:00Z', Body: 'stored' };
    await engine.insert('otel_logs', [row]);
    const inFlight = [engine.query(ENDLESS, UNLIMITED), engine.query(ENDLESS, UNLIMITED)].map(getError);
    await engine.query(ONE);
    sendSignal(pids[0] ?? 0, 'SIGKILL');
    for (const { code, retryAfterSeconds, message } of await Promise.all(inFlight)) {
      expect(code).toBe('unavailable');
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(message).toBe('The engine cannot be reached');
    }
    await until(
      async () => pids.length,
      (count) => count === 2,
      'the engine does not restart automatically',
    );
    expect(await engine.query({ sql: 'SELECT Body FROM pilothouse.otel_logs', parameters: {} })).toEqual([['stored']]);
    expect(restarts).toBe(1);
  });

  it('reports how long to wait if it keeps crashing, and restarts', async () => {
    let now = 0;
    const { engine, pids } = open('loop', { clock: { now: () => now, monotonicMs: () => now } });
    await engine.query(ONE);
    const crash = async () => {
      sendSignal(pids.at(-1) ?? 0, 'SIGKILL');
      await until(
        async () => engine.isRunning(),
        (isRunning) => !isRunning,
        'the crash is not detected',
      );
    };
    await crash();
    await until(
      async () => pids.length,
      (count) => count === 2,
      'the engine does not restart immediately',
    );
    await crash();
    const { code, retryAfterSeconds, message } = await getError(engine.query(ONE));
    expect({ code, retryAfterSeconds }).toEqual({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(message).toContain('SIGKILL');
    now += 1000;
    expect(await engine.query(ONE)).toEqual([[1]]);
  });
});

describe('an engine directory in use by another process', () => {
  it('is rejected with a clear error', async () => {
    const first = open('shared').engine;
    await first.start();
    const second = open('shared').engine;
    const { code, message } = await getError(second.start());
    expect(code).toBe('unavailable');
    expect(message).toContain('Another process is using the engine directory');
    expect(await first.query(ONE)).toEqual([[1]]);
    await first.close();
    const rows = await until(
      () => second.query(ONE).catch(() => []),
      (found) => found.length === 1,
      'the directory cannot be used after it was released',
    );
    expect(rows).toEqual([[1]]);
  });
});

describe.skipIf(!isLinux)('a control plane that exits', () => {
  it('waits for the engine, even with a running query', async () => {
    const { engine, pids } = open('closed');
    await engine.start();
    const query = getError(engine.query(ENDLESS, UNLIMITED));
    await engine.query(ONE);
    await engine.close();
    expect(isAlive(pids[0] ?? 0)).toBe(false);
    expect((await query).code).toBe('unavailable');
  });
});

describe.skipIf(!isLinux)('a server without data requests', () => {
  it('starts no engine', async () => {
    const server = await run(['serve', '--port', '0', '--data', join(directory, 'idle')]);
    try {
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('pilothouse_engine_running 0');
      const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
      expect(children.trim()).toBe('');
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});

describe.skipIf(!isLinux)('an idle engine', () => {
  it('uses less than 600 MB', async () => {
    const child = await startClickHouseServer(join(directory, 'idle-engine'));
    try {
      const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      expect(Number(kilobytes)).toBeLessThan(600_000);
    } finally {
      await child.close();
    }
  });
});
