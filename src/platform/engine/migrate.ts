import type { ClickHouseClient } from '@clickhouse/client';
import { type AppliedMigration, type Migration, rejectForeignHistory } from '../../kernel/migration.ts';
import { OWN_DATABASE } from './engine.ts';

const HISTORY = `${OWN_DATABASE}.schema_migrations`;

/**
 * Migrates our tables and returns the names of the applied migrations. ClickHouse has no transactions for this, so every
 * statement uses IF NOT EXISTS: interrupted or concurrent runs do no harm.
 */
export async function applyMigrations(
  client: ClickHouseClient,
  available: readonly Migration[],
  abort_signal?: AbortSignal,
): Promise<string[]> {
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE}`, abort_signal });
  await client.command({
    query: `CREATE TABLE IF NOT EXISTS ${HISTORY}
      (version UInt32, name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3))
      ENGINE = MergeTree ORDER BY version`,
    abort_signal,
  });
  const applied = await readHistory(client, abort_signal);
  rejectForeignHistory('engine', applied, available);
  const pending = available.filter(({ version }) => !applied.some((row) => row.version === version));
  for (const { version, name, checksum, statements } of pending) {
    for (const query of statements) await client.command({ query, abort_signal });
    await client.insert({
      table: HISTORY,
      values: [{ version, name, checksum }],
      format: 'JSONEachRow',
      abort_signal,
    });
  }
  return pending.map(({ name }) => name);
}

/** The migrations that the engine's tables have. */
export async function readHistory(client: ClickHouseClient, abort_signal?: AbortSignal): Promise<AppliedMigration[]> {
  abort_signal?.throwIfAborted();
  const result = await client.query({
    query: `SELECT version, any(name) AS name, any(checksum) AS checksum FROM ${HISTORY} GROUP BY version ORDER BY version`,
    format: 'JSONEachRow',
    abort_signal,
  });
  return result.json<AppliedMigration>();
}
