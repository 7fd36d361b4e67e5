import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getWriterUrl, startClickHouseServer } from '../support/clickhouse-server.ts';
import { acme, fleet } from '../support/fleet.ts';
import { sha256 } from '../support/keys.ts';
import { type BareStore, copyProgram, openBareStore } from '../support/migrations.ts';
import { type Program, spawnProgram } from '../support/process.ts';
import { onEachStore } from '../support/server.ts';
import { until } from '../support/until.ts';

/** Writes millions of bytes, so that the transaction reaches the disk long before it ends; runs on both stores. */
const BALLAST = `CREATE TABLE ballast (i BIGINT NOT NULL PRIMARY KEY, text TEXT NOT NULL);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
INSERT INTO ballast SELECT i, 'a text that makes the row a little longer than it would be otherwise' FROM n;
`;

const migration = (name: string) => join(import.meta.dirname, `../../migrations/state/${name}.sql`);

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
  const expectRejected = async (program: Program, message: RegExp) => {
    expect(await program.ended).toBe(1);
    expect(program.stdout()).toBe('');
    expect(program.stderr()).toMatch(message);
    expect(program.stderr()).not.toMatch(/\n\s+at /);
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

  /** An empty fleet file creates the store and needs no table of later migrations; the server does. */
  async function createStore(program: string): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-fleet-'));
    const file = join(directory, 'fleet.json');
    writeFileSync(file, JSON.stringify({ organizations: [] }));
    const created = spawnProgram(['apply', file, ...bare.args], { program });
    programs.push(created);
    expect(await created.ended, created.stderr()).toBe(0);
    rmSync(directory, { recursive: true });
  }

  it('turn dashboards that predate versions into version 1', { timeout: 300_000 }, async () => {
    const past = copyProgram('0002-keys-by-organization', readFileSync(migration('0002-keys-by-organization'), 'utf8'));
    try {
      for (const file of readdirSync(past.migrations)) if (!/^000[12]-/.test(file)) rmSync(join(past.migrations, file));
      await createStore(past.main);
      const tile = {
        id: 't',
        name: '"series":[',
        x: 0,
        y: 0,
        w: 1,
        h: 1,
        series: [{ type: 'markdown', content: 'x' }],
      };
      const board = { id: 'old', name: 'Old', tags: [], tiles: [tile, { ...tile, id: 'u' }] };
      await bare.query(
        `INSERT INTO organizations (id, name, tier, paid, created_at, key_count, cost_revision) VALUES ('${acme.id}', 'Acme', 'SCALE', 1, 1, 0, 1)`,
      );
      await bare.query(
        `INSERT INTO dashboards (organization_id, id, name, document, created_at, updated_at) VALUES ('${acme.id}', 'old', 'Old', '${JSON.stringify(board)}', 1, 2)`,
      );
      await bare.query(
        `INSERT INTO dashboard_tokens (id, organization_id, name, token_hash, token_suffix, created_at) VALUES ('x', '${acme.id}', 'old', '${sha256('old-token')}', '', 1)`,
      );
      const url = await ready(serve());
      const call = (path: string, method = 'GET') =>
        fetch(`${url}/api/v2/dashboards${path}`, { method, headers: { authorization: 'Bearer old-token' } });
      expect(await (await call('/old')).json()).toEqual({ data: expect.objectContaining({ id: 'old', name: 'Old' }) });
      const { data } = (await (await call('/old/versions')).json()) as { data: unknown };
      expect(data).toEqual([
        expect.objectContaining({ version: 1, name: 'Old', tiles: 2, savedAt: '1970-01-01T00:00:00.002Z' }),
      ]);
      expect((await call('/old', 'DELETE')).status, 'a token from then may only read').toBe(403);
    } finally {
      past.remove();
    }
  });

  it('make activities that predate the filters visible to every filter, and chain them', {
    timeout: 120_000,
  }, async () => {
    const past = copyProgram('0001-spine', readFileSync(migration('0001-spine'), 'utf8'));
    try {
      for (const file of readdirSync(past.migrations))
        if (!/^000[1-6]-/.test(file)) rmSync(join(past.migrations, file));
      await createStore(past.main);
      await bare.query(
        `INSERT INTO organizations (id, name, tier, paid, created_at, key_count, cost_revision) VALUES ('${acme.id}', 'Acme', 'SCALE', 1, 1, 0, 1)`,
      );
      const toId = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
      // More than one batch of the back-fill.
      const rows = Array.from({ length: 2500 }, (_, index) => {
        const activity = {
          id: toId(index),
          createdAt: 1,
          actor: { type: 'api', id: `actor-${index}`, details: `Ünit ${index}` },
          organizationId: acme.id,
          type: index === 7 ? 'key_delete' : 'key_create',
          resource: { type: 'key', id: `key-${index}` },
        };
        return `('${acme.id}', '${activity.id}', 1, '${JSON.stringify(activity)}')`;
      });
      await bare.query(`INSERT INTO activities (organization_id, id, created_at, document) VALUES ${rows.join(', ')}`);
      const directory = mkdtempSync(join(tmpdir(), 'pilothouse-fleet-'));
      const fleetFile = join(directory, 'fleet.json');
      writeFileSync(fleetFile, JSON.stringify(fleet));
      const url = await ready(serve(undefined, '--fleet', fleetFile));
      rmSync(directory, { recursive: true, force: true });
      const authorization = `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`;
      const find = async (query: string) => {
        const response = await fetch(`${url}/v1/organizations/${acme.id}/activities?${query}`, {
          headers: { authorization },
        });
        return ((await response.json()) as { result: { id: string }[] }).result.map(({ id }) => id);
      };
      expect(await find('type=key_delete')).toEqual([toId(7)]);
      expect(await find('actor=actor-1234')).toEqual([toId(1234)]);
      expect(await find(`actor=${encodeURIComponent('Ünit 2499')}`)).toEqual([toId(2499)]);
      expect(await find('resource_id=key-0')).toEqual([toId(0)]);
      expect(await find(`resource_type=key&before=${toId(3)}`)).toEqual([toId(2), toId(1), toId(0)]);
      const verify = spawnProgram(['audit', 'verify', '--json', ...bare.args]);
      programs.push(verify);
      expect(await verify.ended, verify.stderr()).toBe(0);
      const chains: { organizationId: string; verified: number }[] = JSON.parse(verify.stdout());
      expect(chains.find(({ organizationId }) => organizationId === acme.id)?.verified).toBeGreaterThan(rows.length);
    } finally {
      past.remove();
    }
  });

  it('reject a database of a newer version with advice and leave it unchanged', { timeout: 300_000 }, async () => {
    const future = copyProgram('0999-tomorrow', 'CREATE TABLE tomorrow (id TEXT NOT NULL PRIMARY KEY);\n');
    try {
      const newer = serve({ program: future.main });
      await ready(newer);
      newer.kill('SIGTERM');
      expect(await newer.ended).toBe(0);
      const before = await bare.tables();
      await expectRejected(
        serve(),
        /^error: The database is newer than this version of Pilothouse: it has migration 0999-tomorrow\. Start the newer version\.\n$/,
      );
      expect(await bare.tables()).toEqual(before);
      await ready(serve({ program: future.main }));
    } finally {
      future.remove();
    }
  });

  it('reject a migration that was changed after it was applied, by name', { timeout: 300_000 }, async () => {
    const first = serve();
    await ready(first);
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await bare.query("UPDATE schema_migrations SET checksum = 'something else' WHERE version = 1");
    await expectRejected(
      serve(),
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
