import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, getServerStore, type Json, useStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { findFreePort } from '../support/postgres.ts';
import { BUCKET, useS3 } from '../support/s3-server.ts';
import { onEachStore, useServer } from '../support/server.ts';

/** Every failed check has a remedy, and no other one. */
const checks = (stdout: string) =>
  Object.fromEntries(
    JSON.parse(stdout).map(({ check, isFine, remedy }: Json) => {
      expect(remedy, check).toEqual(isFine ? undefined : expect.stringMatching(/^[A-Z].{20,}/));
      return [check, isFine];
    }),
  );
/** The line below a failed check. */
const remedy = (check: string, text: string) => new RegExp(`^FAIL {2}${check} .*\\n {6}remedy {6}${text}`, 'm');

onEachStore('doctor', (store) => {
  const at = useStore(store);

  it('passes every check with a working store, a free port and a synchronized clock', async () => {
    await at.apply({ organizations: [] });
    const { code, stdout, stderr } = await at.run('doctor', '--port', '0', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(checks(stdout)).toEqual({
      node: true,
      config: true,
      store: true,
      secrets: true,
      clock: true,
      engine: true,
      usage: true,
      services: true,
      port: true,
    });
  });
});

describe('doctor and the storage for backups of services', () => {
  const at = useStore('libsql');

  it('says why it cannot be used', async () => {
    await at.apply({ organizations: [] });
    const credentials = join(at.directory, 'credentials');
    writeFileSync(credentials, 'aws_access_key_id=AKIDEXAMPLE\naws_secret_access_key=a-secret-of-the-storage\n');
    const endpoint = `http://127.0.0.1:${await findFreePort()}`;
    const flags = ['--backup-s3-endpoint', endpoint, '--backup-s3-credentials-file', credentials];
    const { code, stdout, stderr } = await at.run('doctor', '--port', '0', '--backup-storage', 's3://none/x', ...flags);
    expect(code).toBe(1);
    expect(stdout).toContain('FAIL  backups     s3://none/x/ cannot be reached: ECONNREFUSED\n');
    expect(stdout).toMatch(remedy('backups', 'Check that the bucket exists'));
    expect(stdout + stderr).not.toMatch(/AKIDEXAMPLE|a-secret-of/);
    const directory = await at.run('doctor', '--port', '0', '--backup-directory', join(at.directory, 'new'), '--json');
    expect(checks(directory.stdout)).toMatchObject({ backups: true });
  });

  describe('that ClickHouse of other drivers writes to', () => {
    const s3 = useS3();

    it('says why its credentials cannot be used', async () => {
      await at.apply({ organizations: [] });
      const sqlFile = join(at.directory, 'sql-credentials');
      const storage = ['--backup-storage', `s3://${BUCKET}`, '--backup-s3-endpoint', s3.endpoint];
      const files = ['--backup-s3-credentials-file', s3.credentialsFile, '--backup-s3-sql-credentials-file', sqlFile];
      const run = () => at.run('doctor', '--port', '0', ...storage, ...files);
      const missing = await run();
      expect(missing.code).toBe(1);
      expect(missing.stdout).toContain('ok    backups     the storage for backups of services can be used\n');
      expect(missing.stdout).toContain(`FAIL  backups     The credentials for backups cannot be read from ${sqlFile}`);
      expect(missing.stdout).toMatch(remedy('backups', 'Let this user read the file'));
      writeFileSync(sqlFile, 'aws_access_key_id=AKIDEXAMPLE\n');
      expect((await run()).stdout).toContain(`${sqlFile} must contain aws_access_key_id and aws_secret_access_key`);
      writeFileSync(sqlFile, 'aws_access_key_id=AKIDEXAMPLE\naws_secret_access_key=a-secret\n');
      const { code, stdout } = await run();
      expect(stdout).toContain(`ok    backups     ${sqlFile} has credentials for ClickHouse\n`);
      expect(stdout).not.toMatch(/AKIDEXAMPLE|a-secret/);
      expect(code).toBe(0);
    });
  });
});

onEachStore('doctor next to a server', (store) => {
  const server = useServer(store, { args: ['--base-path', '/tools', '--dashboard-port', '0'] });
  const run = async (...args: string[]) => {
    const ports = [server.url, server.dashboardUrl].map((url) => new URL(url).port) as [string, string];
    const flags = ['--port', ports[0], '--dashboard-port', ports[1], ...args];
    return { ports, ...(await getServerStore(server).run('doctor', ...flags)) };
  };

  it('passes on the same data directory and ports, with the engine in use', async () => {
    // The engine starts with the first query.
    const { status } = await server.call({ path: '/api/v2/sources/logs/columns', token: acme.writer });
    expect(status).toBe(200);
    const { ports, code, stdout, stderr } = await run('--base-path', '/tools');
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    for (const port of ports)
      expect(stdout).toContain(`ok    port        a healthy server is running on 127.0.0.1:${port}\n`);
    expect(stdout).toMatch(/^ok {4}engine +embedded ClickHouse is in use by the running server$/m);
  });

  it('fails if the server on the port does not respond at the base path', async () => {
    const { ports, code, stdout } = await run('--base-path', '/other');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^FAIL {2}port +cannot listen on 127\\.0\\.0\\.1:${ports[0]}: .*EADDRINUSE`, 'm'),
    );
  });
});

describe('doctor with a failing check', () => {
  const at = useStore('libsql');
  beforeEach(() => at.apply({ organizations: [] }));
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
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: 1 of 9 checks failed\n' });
    expect(stdout).toMatch(/^ok {4}node/m);
    expect(stdout).toMatch(/^ok {4}store/m);
    expect(stdout).toMatch(new RegExp(`^FAIL {2}port +cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`, 'm'));
    expect(stdout).toMatch(remedy('port', 'Stop the program that uses the port, or choose another one with --port$'));
  });

  it('reports why the engine is unavailable', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, stdout } = await at.run('doctor', '--port', '0', '--clickhouse-url', url);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}engine +tile data and metering are unavailable: .*ECONNREFUSED/m);
    expect(stdout).toMatch(remedy('engine', 'Check that ClickHouse runs'));
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
    expect(stdout).toMatch(remedy('store', 'Check that PostgreSQL runs'));
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('reports an unusable data directory', async () => {
    const file = join(at.directory, 'file');
    writeFileSync(file, '');
    const { code, stdout } = await cli(['doctor', '--port', '0', '--data', join(file, 'data')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}store +libSQL in \S+: .*ENOTDIR/m);
    expect(stdout).toMatch(remedy('store', 'Check that this user may write to the directory'));
  });
});
