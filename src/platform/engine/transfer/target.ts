import { Readable } from 'node:stream';
import { newUuid } from '../../../kernel/ids.ts';
import { type AppliedMigration, listMigrations } from '../../../kernel/migration.ts';
import type { Connection } from '../backends/backend.ts';
import { CLUSTER_SETTINGS } from '../cluster/cluster.ts';
import { createStatements } from '../cluster/cluster-statements.ts';
import { type Engine, OWN_DATABASE } from '../engine.ts';
import { toEngineError } from '../failures.ts';
import { unobserved } from '../observer.ts';
import { openBackend } from '../open.ts';
import { createEngine } from '../operations.ts';
import { applyMigrations } from '../tables/migrate.ts';
import { listOwnTables } from '../tables/own-tables.ts';
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

  async function withConnection(work: (connection: Connection) => Promise<unknown>): Promise<void> {
    try {
      await work(await backend.connect());
    } catch (error) {
      throw toEngineError(error, LIMITS);
    }
  }

  return {
    engine,
    createTables: (applied) =>
      withConnection(async ({ writer, cluster }) => {
        const toStatements = createStatements(cluster);
        const run = async (statement: string): Promise<void> => {
          for (const query of toStatements(statement)) await writer.command({ query });
        };
        const { tables, derived, views } = listOwnTables();
        await run(`CREATE DATABASE IF NOT EXISTS ${OWN_DATABASE}`);
        for (const name of [...views, ...derived, ...tables, 'schema_migrations'])
          await run(`DROP TABLE IF EXISTS ${OWN_DATABASE}.${name} SYNC`);
        const earlier = available.filter(({ version }) => applied.some((migration) => migration.version === version));
        await applyMigrations({ writer, cluster }, earlier);
        // Migrations insert rows too, and a table may be newer than these migrations.
        for (const name of [...tables, ...derived]) await run(`TRUNCATE TABLE IF EXISTS ${OWN_DATABASE}.${name} SYNC`);
      }),
    insertRows: (table, [first = '', ...rest], lines) =>
      withConnection(({ writer, cluster }) =>
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
            ...(cluster !== undefined && CLUSTER_SETTINGS),
          },
        }),
      ),
    close: () => backend.close(),
  };
}
