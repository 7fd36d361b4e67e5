import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import type { Tables } from '../tables.ts';

/** How long to wait for a command that is about to end. */
const BUSY_TIMEOUT_MS = 2000;

/**
 * One connection for reading and writing, next to those of a running server. An exclusive connection fails with
 * SQLITE_BUSY while another process has the file open, and keeps other processes out until this one ends. With `isWriting`, everything
 * is one transaction, and other processes cannot write until it is closed.
 */
export function openConnection(
  path: string,
  { isExclusive, isWriting = false }: { isExclusive: boolean; isWriting?: boolean },
) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const connection = new Database(path);
  try {
    connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (isExclusive) connection.pragma('locking_mode = EXCLUSIVE');
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    // The lock is acquired by the first transaction and held until the connection is closed.
    if (isExclusive) connection.exec('BEGIN EXCLUSIVE; COMMIT');
    if (isWriting) connection.exec('BEGIN IMMEDIATE');
  } catch (error) {
    connection.close();
    throw error;
  }
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  return {
    db,
    async close() {
      if (isWriting) connection.exec('COMMIT');
      await db.destroy();
    },
  };
}
