import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { DrivenService } from '../../src/management/services/driver.ts';
import { writeConfiguration } from '../../src/platform/listener/configuration.ts';
import { findInstallation } from '../../src/platform/listener/installation.ts';
import { findFreePort } from '../../src/platform/listener/listener.ts';
import { createServiceDirectory, getServiceDirectory } from '../../src/running/drivers/embedded/directory.ts';
import { callUpstream, useEmbeddedServices } from '../support/embedded-services.ts';
import { isAlive } from '../support/processes.ts';
import { until } from '../support/until.ts';

// Starts the processes of services.
vi.setConfig({ testTimeout: 180_000 });

const services = useEmbeddedServices();
const { converge, observe, query, createService } = services;

const WRITERS = 4;
const ROWS_BEFORE_END = 80;

/** Inserts rows until the service ends and returns the numbers of those that were acknowledged. */
async function insertUntilEnd(service: DrivenService, first: number, end: () => Promise<void>): Promise<number[]> {
  const { upstream } = await observe(service);
  if (!upstream) expect.fail('the service is not running');
  const acknowledged: number[] = [];
  let next = first;
  let ending: Promise<void> | undefined;
  // Plain inserts, and asynchronous ones that do not wait.
  const settings = ['', '?async_insert=1&wait_for_async_insert=0'];
  const write = async (writer: number) => {
    const url = `http://${upstream.host}:${upstream.port}/${settings[writer % settings.length]}`;
    for (;;) {
      const number = next++;
      const answer = await callUpstream(url, `INSERT INTO t VALUES (${number})`, upstream.headers).catch(
        () => undefined,
      );
      if (answer?.status !== 200) return;
      acknowledged.push(number);
      if (acknowledged.length === ROWS_BEFORE_END) ending = end();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  await ending;
  return acknowledged;
}

describe('inserts into an embedded service', () => {
  it('loses no acknowledged row when its process is killed, and none when it idles', async () => {
    const service = createService();
    await converge(service, 'running');
    await query(service, 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
    const killed = await insertUntilEnd(service, 0, async () => {
      process.kill(Number((await observe(service)).evidence?.pid), 'SIGKILL');
    });
    await until(
      () => observe(service),
      ({ state }) => state === 'degraded',
      'still running',
    );
    await converge(service, 'running');
    const idled = await insertUntilEnd(service, 1_000_000, () => converge(service, 'idle'));
    await converge(service, 'running');
    const { text } = await query(service, 'SELECT a FROM t');
    const stored = text.split('\n').map(Number);
    expect(killed.length).toBeGreaterThanOrEqual(ROWS_BEFORE_END);
    const rows = new Set(stored);
    expect([...killed, ...idled].filter((number) => !rows.has(number))).toEqual([]);
    expect(rows.size).toBe(stored.length);
    await converge(service, 'deleted');
  });
});

describe('the process of an embedded service', () => {
  it('ends with its parent', async () => {
    const folder = getServiceDirectory(services.directory, createService().id);
    createServiceDirectory(folder);
    const installation = findInstallation();
    if ('obstacle' in installation) expect.fail(installation.obstacle);
    const port = await findFreePort();
    const { data, configuration } = folder;
    const owner = { name: 'owner', password: 'password', grants: ['GRANT ALL ON *.*'] };
    const options = {
      folder: configuration,
      data,
      secret: 'header',
      memoryBytes: 2 ** 28,
      users: [owner],
    };
    const values = writeConfiguration(options, { port, nativePort: undefined });
    const { library } = installation;
    const message = JSON.stringify({
      library,
      data,
      configuration,
      port,
      hasThreadCounters: false,
      arguments: values,
    });
    const parentProgram = `
      const child = require('node:child_process').spawn(process.execPath, [${JSON.stringify(installation.program)}], {
        env: { UV_THREADPOOL_SIZE: '1' }, stdio: ['pipe', 'ignore', 'ignore'] });
      child.stdin.write(process.argv[1] + '\\n');
      console.log(child.pid);`;
    const parent = spawn(process.execPath, ['-e', parentProgram, message], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    const headers = {
      'X-ClickHouse-Pilothouse': 'header',
      'X-ClickHouse-User': 'owner',
      'X-ClickHouse-Key': 'password',
    };
    await until(
      () => callUpstream(`http://127.0.0.1:${port}/`, 'SELECT 1', headers).catch(() => undefined),
      (answer) => answer?.text === '1',
      'the service does not answer',
    );
    // Signals of a terminal or a service manager reach all processes; the control plane decides when this one ends.
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    expect((await callUpstream(`http://127.0.0.1:${port}/`, 'SELECT 2', headers)).text).toBe('2');
    parent.kill('SIGKILL');
    await until(
      async () => isAlive(pid),
      (alive) => !alive,
      'the process is still running',
    );
  });
});

const disk = mkdtempSync(join(tmpdir(), 'pilothouse-disk-'));
/** A disk of its own in memory. Needs root. */
const hasDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', disk]).status === 0;
afterAll(() => {
  if (hasDisk) execFileSync('umount', ['--lazy', disk]);
  rmSync(disk, { recursive: true, force: true });
});

describe.skipIf(!hasDisk)('an embedded service on a full disk', () => {
  const full = useEmbeddedServices({ directory: disk });

  it('rejects inserts, answers queries, says why it does not start, and recovers', async () => {
    const service = full.createService();
    await full.converge(service, 'running');
    await full.query(service, 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a');
    await full.query(service, 'INSERT INTO t VALUES (1)');
    const file = join(disk, 'fill');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(file, Buffer.alloc(bavail * bsize));
    const insert = await full.query(service, 'INSERT INTO t VALUES (2)');
    expect(insert.status).not.toBe(200);
    expect((await full.query(service, 'SELECT a FROM t')).text).toBe('1');
    await full.converge(service, 'idle');
    await expect(full.converge(service, 'running')).rejects.toThrow(/no space left/i);
    expect(await full.observe(service)).toMatchObject({ state: 'degraded' });
    rmSync(file);
    await full.converge(service, 'running');
    await full.query(service, 'INSERT INTO t VALUES (3)');
    expect((await full.query(service, 'SELECT sum(a) FROM t')).text).toBe('4');
  });
});
