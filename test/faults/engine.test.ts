import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineObserver } from '../../src/engine/observer.ts';
import { openEngine } from '../../src/engine/open.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { AppError } from '../../src/kernel/errors.ts';
import { ENGINE_PROGRAM, startFace } from '../support/engine-http-server.ts';
import { run } from '../support/server.ts';
import { until } from '../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-engine-faults-'));
const opened: Engine[] = [];
afterEach(async () => void (await Promise.all(opened.splice(0).map((engine) => engine.close()))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ENDLESS = { sql: 'SELECT count() FROM numbers(1000000000000)', parameters: {} };
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

const failure = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  );

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that ended but was not collected yet still has its number.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** What is asked of the operating system here is asked in the way of Linux. */
const isLinux = existsSync('/proc/self/status');

const untilGone = (pid: number) =>
  until(
    async () => isAlive(pid),
    (alive) => !alive,
    `process ${pid} does not end`,
  );

describe('the engine killed in the middle of queries', () => {
  it('fails those, answers the next, and keeps what was stored', async () => {
    let restarts = 0;
    const { engine, pids } = open('killed', {
      observer: { query() {}, running() {}, restarted: () => restarts++ },
    });
    const row = { OrganizationId: 'acme', Timestamp: '2026-11-15T10:00:00Z', Body: 'kept' };
    await engine.insert('otel_logs', [row]);
    const inFlight = [engine.query(ENDLESS), engine.query(ENDLESS)].map(failure);
    await engine.query(ONE);
    process.kill(pids[0] ?? 0, 'SIGKILL');
    for (const { code, retryAfterSeconds, message } of await Promise.all(inFlight)) {
      expect(code).toBe('unavailable');
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(message).toBe('The engine cannot be reached');
    }
    await until(
      async () => pids.length,
      (count) => count === 2,
      'it is not started again by itself',
    );
    expect(await engine.query({ sql: 'SELECT Body FROM pilothouse.otel_logs', parameters: {} })).toEqual([['kept']]);
    expect(restarts).toBe(1);
  });

  it('says how long to wait when it keeps crashing, and comes back', async () => {
    let now = 0;
    const { engine, pids } = open('loop', { clock: { now: () => now } });
    await engine.query(ONE);
    const crash = async () => {
      process.kill(pids.at(-1) ?? 0, 'SIGKILL');
      await until(
        async () => engine.isRunning(),
        (isRunning) => !isRunning,
        'the crash is not noticed',
      );
    };
    await crash();
    await until(
      async () => pids.length,
      (count) => count === 2,
      'it is not started again at once',
    );
    await crash();
    const { code, retryAfterSeconds, message } = await failure(engine.query(ONE));
    expect({ code, retryAfterSeconds }).toEqual({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(message).toContain('SIGKILL');
    now += 1000;
    expect(await engine.query(ONE)).toEqual([[1]]);
  });
});

describe('a directory that another process uses', () => {
  it('is refused with a sentence that says so', async () => {
    const first = open('shared').engine;
    await first.start();
    const second = open('shared').engine;
    const { code, message } = await failure(second.start());
    expect(code).toBe('unavailable');
    expect(message).toContain('Another process is using the engine directory');
    expect(await first.query(ONE)).toEqual([[1]]);
    await first.close();
    const rows = await until(
      () => second.query(ONE).catch(() => []),
      (found) => found.length === 1,
      'it cannot be used once it is free',
    );
    expect(rows).toEqual([[1]]);
  });
});

describe.skipIf(!isLinux)('the end of the control plane', () => {
  it('is the end of its engine, however it comes', async () => {
    // A process that starts an engine, tells its number, and is then killed.
    const order = {
      directory: join(directory, 'orphan'),
      passwords: { reader: 'a', writer: 'b' },
      serverMemoryBytes: 6e8,
      queryMemoryBytes: 3e8,
      readers: 2,
      writers: 1,
    };
    const script = `
      const child = require('node:child_process').fork(${JSON.stringify(ENGINE_PROGRAM)}, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      child.on('message', () => console.log(child.pid));
      child.send(${JSON.stringify({ open: order })});
    `;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(pid, signal);
    parent.kill('SIGKILL');
    await untilGone(pid);
  });

  it('waits for the engine when it is closed in order, also with a query running', async () => {
    const { engine, pids } = open('closed');
    await engine.start();
    const query = failure(engine.query(ENDLESS));
    await engine.query(ONE);
    await engine.close();
    expect(isAlive(pids[0] ?? 0)).toBe(false);
    expect((await query).code).toBe('unavailable');
  });
});

describe.skipIf(!isLinux)('a server that is asked for no data', () => {
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
    const child = await startFace(join(directory, 'idle-engine'));
    try {
      const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      expect(Number(kilobytes)).toBeLessThan(600_000);
    } finally {
      await child.close();
    }
  });
});
