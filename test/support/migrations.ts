import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase } from './postgres.ts';
import type { StoreName } from './server.ts';

/** An empty store that a test can query with SQL while a program runs on it. */
export interface BareStore {
  args: string[];
  query(sql: string): Promise<Record<string, unknown>[]>;
  tables(): Promise<string[]>;
  /** libSQL's write-ahead log. */
  walFile: string;
  remove(): Promise<void>;
}

export async function openBareStore(store: StoreName): Promise<BareStore> {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-bare-'));
  const database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
  const file = join(directory, 'data', 'state.db');

  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    if (!database) {
      if (!existsSync(file)) return [];
      const connection = new Database(file);
      try {
        connection.pragma('busy_timeout = 5000');
        const statement = connection.prepare(sql);
        if (/^select/i.test(sql)) return statement.all() as Record<string, unknown>[];
        statement.run();
        return [];
      } finally {
        connection.close();
      }
    }
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  const listing = database
    ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
    : "SELECT name FROM sqlite_master WHERE type = 'table'";
  return {
    args: database ? ['--database-url', database.url] : ['--data', join(directory, 'data')],
    query,
    tables: async () => (await query(listing)).map(({ name }) => String(name)).sort(),
    walFile: `${file}-wal`,
    async remove() {
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Copies the built program and adds a migration, to simulate a newer version. */
export function copyProgram(name: string, sql: string): { main: string; migrations: string; remove(): void } {
  const root = join(import.meta.dirname, '../..');
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-program-'));
  for (const part of ['dist', 'migrations', 'package.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'migrations', 'state', `${name}.sql`), sql);
  return {
    main: join(directory, 'dist', 'main.js'),
    migrations: join(directory, 'migrations'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
