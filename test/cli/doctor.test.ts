import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { cli, type Json, useStore } from '../support/cli.ts';
import { freePort } from '../support/postgres.ts';
import { onEachStore } from '../support/server.ts';

const checks = (stdout: string) =>
  Object.fromEntries(JSON.parse(stdout).map(({ check, isFine }: Json) => [check, isFine]));

onEachStore('doctor', (store) => {
  const at = useStore(store);

  it('finds nothing wrong with a store that works, a port that is free and a clock that agrees', async () => {
    const { code, stdout, stderr } = await at.run('doctor', '--port', '0', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(checks(stdout)).toEqual({ node: true, config: true, store: true, clock: true, engine: true, port: true });
  });
});

describe('doctor, when something is wrong', () => {
  const at = useStore('libsql');
  let holder: Server | undefined;
  afterEach(() => {
    holder?.close();
  });

  it('names a taken port and ends with exit code 1', async () => {
    const port = await freePort();
    await new Promise<void>((resolve) => {
      holder = createServer().listen(port, '127.0.0.1', resolve);
    });
    const { code, stdout, stderr } = await at.run('doctor', '--port', String(port));
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: Something needs attention; see above\n' });
    expect(stdout).toMatch(/^ok {4}node/m);
    expect(stdout).toMatch(/^ok {4}store/m);
    expect(stdout).toMatch(new RegExp(`^FAIL {2}port +127\\.0\\.0\\.1:${port} cannot be used: .*EADDRINUSE`, 'm'));
  });

  it('says why there is no engine', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout } = await at.run('doctor', '--port', '0', '--clickhouse-url', url);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}engine +no tile data and no metering: .*ECONNREFUSED/m);
  });

  it('says that a fleet file cannot be used', async () => {
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

  it('names every wrong setting and opens nothing', async () => {
    const { code, stdout } = await cli(['doctor', '--port', 'x', '--rate-limit', 'fast', '--json']);
    expect(code).toBe(1);
    expect(checks(stdout)).toEqual({ node: true, config: false });
    expect(stdout).toContain('--port must be a port');
    expect(stdout).toContain('--rate-limit must look like');
  });

  it('says that a database cannot be reached, without its password', async () => {
    const url = `postgres://pilothouse:hunter2@127.0.0.1:${await freePort()}/none`;
    const { code, stdout, stderr } = await cli(['doctor', '--port', '0', '--database-url', url]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {2}store +PostgreSQL: The state store is not available: the database cannot be reached$/m,
    );
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('says that a data directory cannot be used', async () => {
    const file = join(at.directory, 'file');
    writeFileSync(file, '');
    const { code, stdout } = await cli(['doctor', '--port', '0', '--data', join(file, 'data')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}store +libSQL in \S+: .*ENOTDIR/m);
  });
});
