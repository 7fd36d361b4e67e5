import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import type { TestServer } from './server.ts';

/** Runs a statement on the store of a server, as an operator could. */
export async function runSql(
  { databaseUrl, directory }: Pick<TestServer, 'databaseUrl' | 'directory'>,
  statement: string,
): Promise<void> {
  if (databaseUrl === undefined) {
    const db = new Database(join(directory, 'data', 'state.db'));
    try {
      db.pragma('busy_timeout = 10000');
      db.exec(statement);
    } finally {
      db.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
