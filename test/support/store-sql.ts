import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import type { TestServer } from './server.ts';

type Rows = Record<string, unknown>[];

/** Runs a statement on the store of a running server, as an administrator of the database could. */
export async function runSql({ databaseUrl, directory }: TestServer, sql: string): Promise<Rows> {
  if (databaseUrl === undefined) {
    const connection = new Database(join(directory, 'data', 'state.db'));
    try {
      connection.pragma('busy_timeout = 5000');
      const statement = connection.prepare(sql);
      if (statement.reader) return statement.all() as Rows;
      statement.run();
      return [];
    } finally {
      connection.close();
    }
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
