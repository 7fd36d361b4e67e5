import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { cli, type Json, useStore } from '../support/cli.ts';
import { findFreePort } from '../support/postgres.ts';
import { onEachStore } from '../support/server.ts';

const checks = (stdout: string) =>
  Object.fromEntries(JSON.parse(stdout).map(({ check, isFine }: Json) => [check, isFine]));

onEachStore('doctor', (store) => {
  const at = useStore(store);

  it('passes every check with a working store, a free port and a synchronized clock', async () => {
    const { code, stdout, stderr } = await at.run('doctor', '--port', '0', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(checks(stdout)).toEqual({ node: true, config: true, store: true, clock: true, engine: true, port: true });
  });
});

describe('doctor with a failing check', () => {
  const at = useStore('libsql');
  let holder: Server | undefined;
  afterEach(() => {
    holder?.close();
  });

  it('reports a port in use and exits with 1', async () => {
    const port = await findFreePort();
    await new Promise<void>((resolve) => {
      holder = createServer().listen(port, '127.0.0.1', resolve);
    });
    const { code, stdout, stderr } = await at.run('doctor', '--port', String(port));
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: 1 of 6 checks failed\n' });
    expect(stdout).toMatch(/^ok {4}node/m);
    expect(stdout).toMatch(/^ok {4}store/m);
    expect(stdout).toMatch(new RegExp(`^FAIL {2}port +cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`, 'm'));
  });

  it('reports why the engine is unavailable', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, stdout } = await at.run('doctor', '--port', '0', '--clickhouse-url', url);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}engine +tile data and metering are unavailable: .*ECONNREFUSED/m);
  });

  it('reports an unreadable fleet file', async () => {
    const { code, stdout } = await at.run(
      'doctor',
      '--port',
      '0',
      '--fleet',
      join(at.directory, 'none.yaml'),
      '--json',
    );
    expect([code, checks(stdout).fleet]).toEqual([1, false]);
  });

  it('reports every invalid setting and opens nothing', async () => {
    const { code, stdout } = await cli(['doctor', '--port', 'x', '--rate-limit', 'fast', '--json']);
    expect(code).toBe(1);
    expect(checks(stdout)).toEqual({ node: true, config: false });
    expect(stdout).toContain('--port must be a port');
    expect(stdout).toContain('--rate-limit must look like');
  });

  it('reports an unreachable database without its password', async () => {
    const url = `postgres://pilothouse:hunter2@127.0.0.1:${await findFreePort()}/none`;
    const { code, stdout, stderr } = await cli(['doctor', '--port', '0', '--database-url', url]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {2}store +PostgreSQL: The state store is not available: the database cannot be reached$/m,
    );
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('reports an unusable data directory', async () => {
    const file = join(at.directory, 'file');
    writeFileSync(file, '');
    const { code, stdout } = await cli(['doctor', '--port', '0', '--data', join(file, 'data')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}store +libSQL in \S+: .*ENOTDIR/m);
  });
});
