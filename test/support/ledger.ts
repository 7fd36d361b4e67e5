import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import type { TestServer } from './server.ts';

/** A ledger entry, as rating would write it. */
export interface LedgerLine {
  organizationId: string;
  date: string;
  entityType: string;
  entityId: string;
  meter: string;
  usageDate?: string;
  quantity: string;
  unitPrice: string;
  micros: number;
}

/** Writes entries into the store of a running server. The cost records come from its fleet file. */
export const putLedger = (server: TestServer, lines: readonly LedgerLine[]): Promise<void> =>
  insert(
    server,
    'usage_ledger',
    lines.map((line) => [
      line.organizationId,
      line.date,
      line.entityType,
      line.entityId,
      line.meter,
      line.usageDate ?? line.date,
      line.quantity,
      1,
      line.unitPrice,
      line.micros,
    ]),
  );

/** A day with metered usage, rated. */
interface RatedDay {
  organizationId: string;
  date: string;
  ratedAt: number;
  locked: boolean;
}

export const putRatedDays = (server: TestServer, days: readonly RatedDay[]): Promise<void> =>
  insert(
    server,
    'usage_days',
    days.map(({ organizationId, date, ratedAt, locked }) => [
      organizationId,
      date,
      1,
      1,
      ratedAt,
      locked ? 1 : 0,
      0,
      null,
    ]),
  );

async function insert(
  { databaseUrl, directory }: TestServer,
  name: string,
  rows: readonly (readonly (string | number | null)[])[],
): Promise<void> {
  const placeholders = (format: (index: number) => string) => rows[0]?.map((_, index) => format(index)).join(', ');
  if (databaseUrl === undefined) {
    const db = new Database(join(directory, 'data', 'state.db'));
    try {
      db.pragma('busy_timeout = 10000');
      const statement = db.prepare(`INSERT INTO ${name} VALUES (${placeholders(() => '?')})`);
      for (const row of rows) statement.run([...row]);
    } finally {
      db.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const row of rows)
      await client.query(`INSERT INTO ${name} VALUES (${placeholders((index) => `$${index + 1}`)})`, [...row]);
  } finally {
    await client.end();
  }
}
