import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import { acme, fleet } from '../support/fleet.ts';
import { runInProcess } from '../support/in-process.ts';
import { type BareStore, copyProgram, openBareStore } from '../support/migrations.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { onEachStore, serveInProcess } from '../support/server.ts';
import { until } from '../support/until.ts';

/** Writes millions of bytes, so that the transaction reaches the disk long before it ends; runs on both stores. */
const BALLAST = `CREATE TABLE ballast (i BIGINT NOT NULL PRIMARY KEY, text TEXT NOT NULL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
INSERT INTO ballast SELECT i, 'a text that makes the row a little longer than it would be otherwise' FROM n;
`;

onEachStore('migrations', (store) => {
  let bare: BareStore;
  let programs: Program[];
  const serve = (options?: { program: string }, ...more: string[]): Program => {
    const program = spawnProgram(['serve', '--port', '0', ...bare.args, ...more], options);
    programs.push(program);
    return program;
  };
  const ready = async (program: Program): Promise<string> => {
    const line = await program.firstLine;
    expect(line, program.stderr()).toBeDefined();
    return JSON.parse(line ?? '').url;
  };
  /** In the test process, as the next function. */
  const migrate = async () => {
    const { stop } = await serveInProcess(['serve', '--port', '0', ...bare.args]);
    expect(await stop()).toBe(0);
  };
  const expectRejected = async (message: RegExp) => {
    const { code, stdout, stderr } = await runInProcess(['serve', '--port', '0', ...bare.args]).finished;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
  };

  beforeEach(async () => {
    bare = await openBareStore(store);
    programs = [];
  });

  afterEach(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await Promise.all(programs.map(({ ended }) => ended));
    await bare.remove();
  });

  it('leave nothing behind when killed, and are all applied by the next start', { timeout: 600_000 }, async () => {
    const future = copyProgram('0999-ballast', BALLAST);
    try {
      const program = serve({ program: future.main });
      await until(isInTransaction, (isTrue) => isTrue, 'the migration does not start writing');
      program.kill('SIGKILL');
      expect(await program.ended).toBe(null);
      expect(program.stdout()).toBe('');
      await until(hasNoTransaction, (isTrue) => isTrue, 'the database does not detect that its client is gone');
      expect(await bare.tables()).toEqual([]);
      const again = serve();
      expect((await fetch(`${await ready(again)}/readyz`)).status).toBe(200);
      expect(await bare.tables()).toContain('organizations');
      expect(await bare.tables()).not.toContain('ballast');
    } finally {
      future.remove();
    }
  });

  it('let several processes start at the same time on an empty database, and apply the fleet once', {
    timeout: 600_000,
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-fleet-'));
    const fleetFile = join(directory, 'fleet.json');
    writeFileSync(fleetFile, JSON.stringify(fleet));
    const engine = await startClickHouseServer(join(directory, 'engine'));
    try {
      const args = ['--fleet', fleetFile, '--clickhouse-url', getWriterUrl(engine)];
      const urls = await Promise.all([1, 2, 3].map(() => ready(serve(undefined, ...args))));
      const authorization = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
      for (const url of urls)
        expect((await fetch(`${url}/v1/organizations/${acme.id}`, { headers: { authorization } })).status).toBe(200);
      expect(await bare.query('SELECT version FROM schema_migrations WHERE version = 1')).toHaveLength(1);
      expect(
        await bare.query(
          `SELECT id FROM activities WHERE document LIKE '%create_organization%' AND organization_id = '${acme.id}'`,
        ),
      ).toHaveLength(1);
    } finally {
      await engine.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('reject a database of a newer version with advice and leave it unchanged', async () => {
    await migrate();
    const columns = 'version, name, checksum, applied_at';
    await bare.query(
      `INSERT INTO schema_migrations (${columns}) SELECT 999, '0999-tomorrow', checksum, applied_at FROM schema_migrations WHERE version = 1`,
    );
    const before = await bare.tables();
    await expectRejected(
      /^error: The database is newer than this version of Pilothouse: it has migration 0999-tomorrow\. Start the newer version\.\n$/,
    );
    expect(await bare.tables()).toEqual(before);
  });

  it('reject a migration that was changed after it was applied, by name', async () => {
    await migrate();
    await bare.query("UPDATE schema_migrations SET checksum = 'something else' WHERE version = 1");
    await expectRejected(
      /^error: Migration 0001-\S+ was applied to the database with different contents than the file in this version\.\n$/,
    );
  });

  /** On libSQL, the open transaction is visible in the write-ahead log; on PostgreSQL, in pg_stat_activity. */
  async function isInTransaction(): Promise<boolean> {
    if (store === 'libsql') return existsSync(bare.walFile) && statSync(bare.walFile).size > 5_000_000;
    return (await running()).some((query) => query.includes('INSERT INTO ballast'));
  }

  async function hasNoTransaction(): Promise<boolean> {
    return store === 'libsql' || (await running()).length === 0;
  }

  async function running(): Promise<string[]> {
    const rows = await bare.query(
      "SELECT query FROM pg_stat_activity WHERE application_name = 'pilothouse' AND datname = current_database()",
    );
    return rows.map(({ query }) => String(query));
  }
});
