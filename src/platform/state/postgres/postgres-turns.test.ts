import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../../test/support/postgres.ts';
import { systemClock } from '../../../kernel/time/clock.ts';
import { openState } from '../open.ts';
import type { Db } from '../tables.ts';

describe.skipIf(inject('postgresUrl') === '')('changes that wait for a lock on PostgreSQL', () => {
  it('leave connections free for reads and leases, and are stored when the lock is released', async () => {
    const database = await createDatabase(inject('postgresUrl'));
    const state = await openState({
      dataDirectory: '',
      secretsKeyFile: inject('secretsKeyFile'),
      databaseUrl: database.url,
      databaseConnections: 4,
      clock: systemClock,
    });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await sql`CREATE TABLE counts (value BIGINT)`.execute(state.db);
      await sql`INSERT INTO counts VALUES (0)`.execute(state.db);
      await other.query('BEGIN');
      await other.query('SELECT * FROM counts FOR UPDATE');
      let stored = 0;
      const increase = async (tx: Db) => void (await sql`UPDATE counts SET value = value + 1`.execute(tx));
      const changes = Array.from({ length: 12 }, () => state.write(increase).then(() => stored++));
      const readValue = async () => (await sql<{ value: number }>`SELECT value FROM counts`.execute(state.db)).rows[0];
      for (let read = 0; read < 12; read++) expect(await readValue()).toEqual({ value: 0 });
      await state.writeNow((tx) => sql`INSERT INTO leases VALUES ('work', 'holder', 'host', 1, 0)`.execute(tx));
      expect(stored).toBe(0);
      await other.query('COMMIT');
      await Promise.all(changes);
      expect(await readValue()).toEqual({ value: 12 });
    } finally {
      await other.end();
      await state.close();
      await database.drop();
    }
  });
});
