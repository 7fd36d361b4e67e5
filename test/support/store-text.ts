import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { TestServer } from './server.ts';

/** The entire contents of the store as searchable text: the bytes of its files, or all rows of all tables. */
export async function readStoreText({
  databaseUrl,
  directory,
}: Pick<TestServer, 'databaseUrl' | 'directory'>): Promise<string> {
  if (databaseUrl === undefined) {
    const data = join(directory, 'data');
    return readdirSync(data, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(data, name), 'latin1'))
      .join('\n');
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const rows = [];
    for (const { name } of tables.rows)
      rows.push(...(await client.query(`SELECT row_to_json(t)::text AS row FROM ${name} t`)).rows);
    return rows.map(({ row }) => row).join('\n');
  } finally {
    await client.end();
  }
}
