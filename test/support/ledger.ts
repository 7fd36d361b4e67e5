import { join } from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import type { TestServer } from './server.ts';

/** A line of the ledger, as rating would have written it. */
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

/** Writes lines into the store of a running server: the records that they belong to come from its fleet file. */
export async function putLedger({ databaseUrl, directory }: TestServer, lines: readonly LedgerLine[]): Promise<void> {
  const rows = lines.map((line) => [
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
  ]);
  const marks = (mark: (index: number) => string) => rows[0]?.map((_, index) => mark(index)).join(', ');
  if (databaseUrl === undefined) {
    const db = new Database(join(directory, 'data', 'state.db'));
    try {
      db.pragma('busy_timeout = 10000');
      const insert = db.prepare(`INSERT INTO usage_ledger VALUES (${marks(() => '?')})`);
      for (const row of rows) insert.run(row);
    } finally {
      db.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const row of rows)
      await client.query(`INSERT INTO usage_ledger VALUES (${marks((index) => `$${index + 1}`)})`, row);
  } finally {
    await client.end();
  }
}
