import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { newUuid } from '../../kernel/ids.ts';
import { type AppliedMigration, listMigrations } from '../../kernel/migration.ts';
import { type Engine, OWN_DATABASE } from './engine.ts';
import { toEngineError } from './failures.ts';
import { applyMigrations } from './migrate.ts';
import { unobserved } from './observer.ts';
import { openBackend } from './open.ts';
import { createEngine } from './operations.ts';
import { listOwnTables } from './own-tables.ts';
import type { EngineAddress } from './source.ts';

/** Replaces the rows of our tables. */
export interface EngineTarget {
  /** The engine, fully migrated by its first query. */
  engine: Engine;
  /** Drops our tables, and creates them empty with the given migrations. */
  createTables(applied: readonly AppliedMigration[]): Promise<void>;
  /** Inserts lines of a `TableRows`. */
  insertRows(table: string, columns: readonly string[], lines: Buffer): Promise<void>;
  close(): Promise<void>;
}

const LIMITS = { maxSeconds: 3600, maxResultRows: 0, maxResultBytes: 0, maxMemoryBytes: 0 };

/** Must be closed. */
export function openEngineTarget(address: EngineAddress): EngineTarget {
  const backend = openBackend(address);
  const available = listMigrations('engine');
  const { clock, log } = address;
  const engine = createEngine({ backend, clock, log, observer: unobserved });

  async function withWriter(work: (writer: ClickHouseClient) => Promise<unknown>): Promise<void> {
    try {
      await work((await backend.connect()).writer);
    } catch (error) {
      throw toEngineError(error, LIMITS);
    }
  }

  return {
    engine,
    createTables: (applied) =>
      withWriter(async (writer) => {
        const { tables, derived, views } = listOwnTables();
        await writer.command({ query: `CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE}` });
        for (const name of [...views, ...derived, ...tables, 'schema_migrations'])
          await writer.command({ query: `DROP TABLE IF EXISTS ${OWN_DATABASE}.${name} SYNC` });
        const earlier = available.filter(({ version }) => applied.some((migration) => migration.version === version));
        await applyMigrations(writer, earlier);
        // Migrations insert rows too, and a table may be newer than these migrations.
        for (const name of [...tables, ...derived])
          await writer.command({ query: `TRUNCATE TABLE IF EXISTS ${OWN_DATABASE}.${name} SYNC` });
      }),
    insertRows: (table, [first = '', ...rest], lines) =>
      withWriter((writer) =>
        writer.insert({
          table: `${OWN_DATABASE}.${table}`,
          columns: [first, ...rest],
          values: Readable.from([lines], { objectMode: false }),
          format: 'TabSeparated',
          query_id: newUuid(),
          clickhouse_settings: {
            date_time_input_format: 'basic',
            // Telemetry has a partition per day.
            max_partitions_per_insert_block: '0',
            async_insert: 0,
          },
        }),
      ),
    close: () => backend.close(),
  };
}
