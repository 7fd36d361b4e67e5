import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../../test/support/postgres.ts';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openState } from '../open.ts';
import { prepared } from '../prepared.ts';
import type { State } from '../state.ts';
import type { Db } from '../tables.ts';

const selectOrganization = prepared((db: Db, value: { id: string }) =>
  db.selectFrom('organizations').selectAll().where('id', '=', value.id),
);

describe.skipIf(inject('postgresUrl') === '')('prepared statements on PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    database = await createDatabase(inject('postgresUrl'));
  });
  afterAll(() => database.drop());

  async function withState(
    options: { databasePreparedStatements?: boolean },
    work: (state: State) => Promise<void>,
  ): Promise<void> {
    const state = await openState({
      dataDirectory: '',
      secretsKeyFile: inject('secretsKeyFile'),
      databaseUrl: database.url,
      databaseConnections: 1,
      clock: systemClock,
      ...options,
    });
    try {
      await work(state);
    } finally {
      await state.close();
    }
  }

  /** From outside, as another node would. */
  async function runOutside(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  const read = (db: Db) => selectOrganization.first(db, { id: 'none' });
  const readInTransaction = (state: State) => state.write((tx) => selectOrganization.all(tx, { id: 'none' }));
  const listNames = async ({ db }: State): Promise<string[]> =>
    (await sql<{ name: string }>`SELECT name FROM pg_prepared_statements`.execute(db)).rows.map(({ name }) => name);

  it('run one at a time on a connection with limits for locks', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    try {
      await withState({}, async (state) => {
        await Promise.all([read(state.db), readInTransaction(state), read(state.db)]);
        const { rows } = await sql`SHOW lock_timeout`.execute(state.db);
        expect(rows).toEqual([{ lock_timeout: '5s' }]);
        const idle = await sql`SHOW idle_in_transaction_session_timeout`.execute(state.db);
        expect(idle.rows).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', onWarning);
    }
  });

  it('read many rows at the same time, each for its own caller', async () => {
    await withState({}, async (state) => {
      const ids = Array.from({ length: 30 }, (_, index) => `organization-${index}`);
      const names = ids.map((id) => `('${id}', 'Name of ${id}', 'SCALE', 1, 0, 0, 0)`);
      const columns = 'id, name, tier, paid, created_at, key_count, cost_revision';
      await runOutside(`INSERT INTO organizations (${columns}) VALUES ${names.join(', ')}`);
      const wanted = [...ids, 'missing', ...ids.slice(0, 3)];
      const rows = await Promise.all(wanted.map((id) => selectOrganization.first(state.db, { id })));
      expect(rows.map((row) => row?.name)).toEqual(
        wanted.map((id) => (id === 'missing' ? undefined : `Name of ${id}`)),
      );
      // A row that was read together with others has the same members.
      expect(rows[20]).toEqual({ ...rows[0], id: ids[20], name: `Name of ${ids[20]}` });
      await runOutside('DELETE FROM organizations');
    });
  });

  it('have names, unless they are turned off', async () => {
    await withState({}, async (state) => {
      await read(state.db);
      expect((await listNames(state)).length).toBeGreaterThan(0);
    });
    await withState({ databasePreparedStatements: false }, async (state) => {
      await read(state.db);
      expect(await listNames(state)).toEqual([]);
    });
  });

  it('survive a migration of another node that changes their result', async () => {
    await withState({}, async (state) => {
      await read(state.db);
      await readInTransaction(state);
      await runOutside('ALTER TABLE organizations ADD COLUMN later integer');
      expect(await Promise.all([read(state.db), read(state.db)])).toEqual([undefined, undefined]);
      expect(await readInTransaction(state)).toEqual([]);
      await runOutside('ALTER TABLE organizations DROP COLUMN later');
      expect(await readInTransaction(state)).toEqual([]);
      expect(await read(state.db)).toBeUndefined();
    });
  });

  it('are given up when a connection pooler does not keep them', async () => {
    await withState({}, async (state) => {
      await read(state.db);
      await readInTransaction(state);
      // As with a pooler that gives each transaction another connection of the server.
      await sql`DEALLOCATE ALL`.execute(state.db);
      expect(await read(state.db)).toBeUndefined();
      expect(await readInTransaction(state)).toEqual([]);
      expect(await listNames(state)).toEqual([]);
    });
  });
});
