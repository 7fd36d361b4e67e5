import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { acme } from './fleet.ts';
import type { TestServer } from './server.ts';

type Rows = Record<string, unknown>[];

/** Runs a statement on the store of a running server, as an administrator of the database could. */
export async function runSql(
  { databaseUrl, directory }: Pick<TestServer, 'databaseUrl' | 'directory'>,
  sql: string,
): Promise<Rows> {
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

/** Makes every change in an organization wait until the returned function is called: for less than five seconds. */
export async function blockChanges({ databaseUrl, directory }: TestServer): Promise<() => Promise<void>> {
  if (databaseUrl === undefined) {
    const connection = new Database(join(directory, 'data', 'state.db'));
    connection.pragma('busy_timeout = 5000');
    connection.exec('BEGIN IMMEDIATE');
    return async () => {
      connection.exec('ROLLBACK');
      connection.close();
    };
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT id FROM organizations WHERE id = $1 FOR UPDATE', [acme.id]);
  return () => client.end();
}
