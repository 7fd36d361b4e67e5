import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { readMigrations } from '../../kernel/migration.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { openLibsql } from './libsql/libsql.ts';
import { migrate, type Steps } from './migrate.ts';
import { openState } from './open.ts';
import { openPostgres } from './postgres/postgres.ts';
import { type State, unobserved } from './state.ts';

const NOTES = `-- The first version.
CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, document TEXT NOT NULL);
`;
const TITLES = `ALTER TABLE notes ADD COLUMN title TEXT NOT NULL DEFAULT '';
CREATE INDEX notes_by_title ON notes (title);
`;

/** The stores have no JSON functions in common, so a column that is copied from documents is filled by a step. */
const steps: Steps = {
  '0002-titles': async (tx) => {
    const { rows } = await sql<{ id: string; document: string }>`SELECT id, document FROM notes`.execute(tx);
    for (const { id, document } of rows)
      await sql`UPDATE notes SET title = ${JSON.parse(document).title} WHERE id = ${id}`.execute(tx);
  },
};

onEachStore('an upgrade', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-migrations-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
    state = database
      ? openPostgres({ url: database.url, clock: systemClock, observer: unobserved, queryTimeoutMs: 60_000 })
      : openLibsql(join(directory, 'state.db'), systemClock, unobserved);
  });
  afterEach(async () => {
    await state.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const addFile = (name: string, text: string) => writeFileSync(join(directory, `${name}.sql`), text);
  const read = async (statement: string) => (await sql.raw(statement).execute(state.db)).rows;
  const listNames = () => read('SELECT name FROM schema_migrations ORDER BY version');

  async function createOlder(): Promise<void> {
    addFile('0001-notes', NOTES);
    expect(await migrate(state, readMigrations(directory), systemClock, steps)).toEqual(['0001-notes']);
    await state.write((tx) =>
      sql`INSERT INTO notes VALUES ('a', '{"title":"Ünit"}'), ('b', '{"title":""}')`.execute(tx),
    );
    addFile('0002-titles', TITLES);
  }

  it('applies the migrations that are missing, once, with the step that fills a new column', async () => {
    await createOlder();
    expect(await migrate(state, readMigrations(directory), systemClock, steps)).toEqual(['0002-titles']);
    expect(await read('SELECT id, title FROM notes ORDER BY id')).toEqual([
      { id: 'a', title: 'Ünit' },
      { id: 'b', title: '' },
    ]);
    expect(await migrate(state, readMigrations(directory), systemClock, steps)).toEqual([]);
    expect(await listNames()).toEqual([{ name: '0001-notes' }, { name: '0002-titles' }]);
  });

  it('that fails changes nothing', async () => {
    await createOlder();
    const failing: Steps = { '0002-titles': () => Promise.reject(new Error('the step failed')) };
    await expect(migrate(state, readMigrations(directory), systemClock, failing)).rejects.toThrow('the step failed');
    expect(await read("SELECT * FROM notes WHERE id = 'b'")).toEqual([{ id: 'b', document: '{"title":""}' }]);
    expect(await listNames()).toEqual([{ name: '0001-notes' }]);
    expect(await migrate(state, readMigrations(directory), systemClock, steps)).toEqual(['0002-titles']);
  });

  it('from a version before 0.1.0 is rejected with advice, and changes nothing', async () => {
    await createOlder();
    const opening = openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
    await expect(opening).rejects.toMatchObject({
      code: 'conflict',
      message:
        'The database was created by a version before 0.1.0 (it has migration 0001-notes) and cannot be upgraded. Start with an empty data directory or database; to keep the fleet, run pilothouse export with that version and pilothouse apply with this one.',
    });
    expect(await listNames()).toEqual([{ name: '0001-notes' }]);
    await expect(read('SELECT id FROM organizations')).rejects.toThrow(/organizations/);
  });
});
