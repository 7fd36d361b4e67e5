import type { ClickHouseClient } from '@clickhouse/client';
import { type AppliedMigration, type Migration, rejectForeignHistory } from '../../../kernel/migration.ts';
import type { Connection } from '../backends/backend.ts';
import { CLUSTER_SETTINGS, hasTables } from '../cluster/cluster.ts';
import { createStatements } from '../cluster/cluster-statements.ts';
import { OWN_DATABASE } from '../engine.ts';

const HISTORY = `${OWN_DATABASE}.schema_migrations`;

const FIRST_STATEMENTS = [
  `CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE}`,
  `CREATE TABLE IF NOT EXISTS ${HISTORY}
      (version UInt32, name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3))
      ENGINE = MergeTree ORDER BY version`,
];

/**
 * Migrates our tables and returns the names of the applied migrations. ClickHouse has no transactions for this, so every
 * statement uses IF NOT EXISTS: interrupted or concurrent runs do no harm.
 */
export async function applyMigrations(
  { writer: client, cluster }: Pick<Connection, 'writer' | 'cluster'>,
  available: readonly Migration[],
  abort_signal?: AbortSignal,
): Promise<string[]> {
  const toStatements = createStatements(cluster);
  const clickhouse_settings = cluster === undefined ? {} : CLUSTER_SETTINGS;
  const run = async (statements: readonly string[]): Promise<void> => {
    for (const query of statements) await client.command({ query, abort_signal, clickhouse_settings });
  };
  // A statement for a cluster waits for all of its servers, so it is sent only if it changes something.
  if (cluster === undefined || !(await hasTables({ client, cluster, abort_signal })))
    await run(FIRST_STATEMENTS.flatMap(toStatements));
  const applied = await readHistory(client, abort_signal);
  rejectForeignHistory('engine', applied, available);
  const isPending = (version: number): boolean => !applied.some((row) => row.version === version);
  // All are converted: one may copy a table of an earlier one.
  const converted = available.map((migration) => ({
    ...migration,
    statements: migration.statements.flatMap(toStatements),
  }));
  for (const { version, name, checksum, statements } of converted.filter((one) => isPending(one.version))) {
    await run(statements);
    await client.insert({
      table: HISTORY,
      values: [{ version, name, checksum }],
      format: 'JSONEachRow',
      abort_signal,
      clickhouse_settings,
    });
  }
  return available.filter(({ version }) => isPending(version)).map(({ name }) => name);
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
