import { addAbortSignal, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { listMigrations } from '../../kernel/migration.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Backend, Connection } from './backends/backend.ts';
import { createSharedAttempt } from './backends/shared-attempt.ts';
import { CLUSTER_SETTINGS, completeTables, partitionStatement } from './cluster/cluster.ts';
import { createStatements } from './cluster/cluster-statements.ts';
import { createColumnCache } from './column-cache.ts';
import { createDeadline } from './deadline.ts';
import {
  type Engine,
  type Limits,
  ORGANIZATION_COLUMN,
  OWN_DATABASE,
  type QueryOptions,
  type Statement,
} from './engine.ts';
import { isNotAllowed, notResponding, toEngineError } from './failures.ts';
import { createInsertFailures } from './insert-failures.ts';
import { createLiveness } from './liveness.ts';
import type { EngineObserver, Outcome } from './observer.ts';
import { getOnlyRow, parseRows, readText } from './result.ts';
import { applyMigrations } from './tables/migrate.ts';
import { applyRetention } from './tables/retention.ts';
import { addTextIndex } from './tables/text-index.ts';
import { createTurns } from './turns.ts';

interface Options {
  backend: Backend;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  observer: EngineObserver;
  /** How long telemetry is kept; undefined leaves it as it is. */
  retentionDays?: number | undefined;
}

type InsertValues = Pick<Parameters<ClickHouseClient['insert']>[0], 'values' | 'format' | 'columns'>;

const MAX_SECONDS = 30;
const MAX_RESULT_ROWS = 100_000;
const MAX_RESULT_BYTES = 4 * 2 ** 20;
/** Time on top of a query's own limit: another node may occupy the engine too. */
const QUEUE_ALLOWANCE_MS = 15 * SECOND_MS;
const INSERT_TIMEOUT_MS = 120 * SECOND_MS;
const MIGRATION_TIMEOUT_MS = 600 * SECOND_MS;
const TABLE = /^[a-z][a-z0-9_]*$/;
const COLUMN = /^[A-Za-z]+$/;

/** The engine's operations on top of a backend. */
export function createEngine({ backend, clock, log, observer, retentionDays }: Options): Engine {
  const migration = createSharedAttempt(migrateTables);
  const liveness = createLiveness<Connection>({
    ping: async ({ reader }, abort_signal) => void (await reader.ping({ select: false, abort_signal })),
  });
  const turns = createTurns(backend.concurrency);
  const insertFailures = createInsertFailures(clock);

  /** Sends a request; throws `unavailable` if it takes longer than `timeoutMs` or if the engine stops responding. */
  async function send<T>(
    connection: Connection,
    { timeoutMs, signal, limits = {} }: { timeoutMs: number; signal?: AbortSignal | undefined; limits?: Limits },
    request: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = createDeadline(timeoutMs, signal);
    const unwatch = liveness.watch(connection, deadline.expire);
    try {
      return await request(deadline.signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw deadline.hasPassed() ? notResponding(error) : toEngineError(error, withDefaultLimits(limits, connection));
    } finally {
      unwatch();
      deadline.end();
    }
  }

  async function migrateTables(): Promise<void> {
    const connection = await backend.connect();
    const done = await send(connection, { timeoutMs: MIGRATION_TIMEOUT_MS }, async (signal) => {
      try {
        if (connection.cluster !== undefined) await completeTables(connection.writer, connection.cluster, signal);
        const migrations = await applyMigrations(connection, listMigrations('engine'), signal);
        if (await addTextIndex(connection, signal)) log.info('added the index of the words in log messages');
        if (retentionDays !== undefined) await setRetention(connection, retentionDays, signal);
        return migrations;
      } catch (error) {
        if (!(connection.mayLackPrivileges && isNotAllowed(error))) throw error;
        log.warn(
          { reason: (error as Error).message },
          `the ClickHouse user may not write to the database ${OWN_DATABASE}: its tables were not migrated`,
        );
        return [];
      }
    });
    if (done.length > 0) log.info({ migrations: done }, 'engine tables migrated');
  }

  async function setRetention(connection: Connection, days: number, signal: AbortSignal): Promise<void> {
    const tables = await applyRetention(connection, days, signal);
    if (tables.length > 0) log.info({ tables, days }, 'retention of telemetry changed');
  }

  /** Migrates once; retries only after a failure. */
  async function connect(): Promise<Connection> {
    await migration.get();
    return backend.connect();
  }

  async function runQuery({ sql, parameters }: Statement, { limits = {}, signal }: QueryOptions) {
    const connection = await connect();
    const allLimits = withDefaultLimits(limits, connection);
    const timeoutMs = allLimits.maxSeconds * SECOND_MS + QUEUE_ALLOWANCE_MS;
    return send(connection, { timeoutMs, signal, limits }, async (abort_signal) => {
      // Not `query`: it reads results of any size into memory.
      const { stream } = await connection.reader.exec({
        query: `${sql} FORMAT JSONCompact`,
        query_params: parameters,
        query_id: newUuid(),
        clickhouse_settings: connection.readSettings(allLimits),
        abort_signal,
      });
      return parseRows(await readText(addAbortSignal(abort_signal, stream), allLimits.maxResultBytes));
    });
  }

  const query = (statement: Statement, options: QueryOptions = {}): Promise<unknown[][]> =>
    turns.wait(options, async () => {
      const startedAt = performance.now();
      const observe = (outcome: Outcome) => observer.query((performance.now() - startedAt) / 1000, outcome);
      try {
        const rows = await runQuery(statement, options);
        observe('ok');
        return rows;
      } catch (error) {
        observe(toOutcome(error, options.signal));
        throw error;
      }
    });

  /** An insert whose deadline passes may still be stored: the rows may have reached the engine. */
  async function write(
    table: string,
    request: (connection: Connection, signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    if (!TABLE.test(table)) throw new AppError('internal', `${table} is not a valid table name`);
    const connection = await connect();
    await insertFailures.observe(() =>
      send(connection, { timeoutMs: INSERT_TIMEOUT_MS }, (signal) => request(connection, signal)),
    );
  }

  const insertValues = (table: string, values: InsertValues, settings = INSERT_SETTINGS): Promise<void> =>
    write(table, ({ writer, cluster }, abort_signal) =>
      writer.insert({
        table: `${OWN_DATABASE}.${table}`,
        ...values,
        query_id: newUuid(),
        clickhouse_settings: { ...settings, ...(cluster !== undefined && CLUSTER_SETTINGS) },
        abort_signal,
      }),
    );

  async function insert(table: string, rows: readonly object[]): Promise<void> {
    if (rows.length > 0) await insertValues(table, { values: rows, format: 'JSONEachRow' });
  }

  async function insertTsv(
    table: string,
    [first, ...rest]: readonly string[],
    lines: readonly Buffer[],
  ): Promise<void> {
    if (first === undefined || lines.length === 0) return;
    // One buffer: each further chunk would wait for a turn of the event loop, which is slow while batches are parsed.
    const values = Readable.from([Buffer.concat(lines)], { objectMode: false });
    await insertValues(
      table,
      { values, format: 'TabSeparated', columns: [first, ...rest] },
      { date_time_input_format: 'basic' },
    );
  }

  async function insertLines(table: string, lines: Buffer): Promise<void> {
    if (lines.length > 0) await insertBytes(table, 'FORMAT JSONEachRow', [lines]);
  }

  async function insertBinary(table: string, columns: readonly string[], rows: readonly Buffer[]): Promise<void> {
    const names = columns.map((name) => `\`${name}\``).join(', ');
    if (rows.length > 0) await insertBytes(table, `(${names}) FORMAT RowBinary`, rows);
  }

  /** Not `insert` of the client: for these formats it accepts objects only and serializes them one by one. */
  const insertBytes = (table: string, format: string, chunks: readonly Buffer[]): Promise<void> =>
    write(table, async ({ writer, cluster }, abort_signal) => {
      const { stream } = await writer.exec({
        query: `INSERT INTO ${OWN_DATABASE}.${table} ${format}`,
        values: Readable.from(chunks, { objectMode: false }),
        query_id: newUuid(),
        clickhouse_settings: { ...INSERT_SETTINGS, ...(cluster !== undefined && CLUSTER_SETTINGS) },
        abort_signal,
      });
      await finished(addAbortSignal(abort_signal, stream).resume());
    });

  async function removeBefore(
    table: string,
    { organizationId, time, before }: { organizationId: string; time: string; before: number },
  ): Promise<boolean> {
    if (!TABLE.test(table) || !COLUMN.test(time))
      throw new AppError('internal', `${table}.${time} is not a valid name`);
    const condition = `${ORGANIZATION_COLUMN} = {organizationId:String} AND ${time} < fromUnixTimestamp64Milli({before:Int64})`;
    const parameters = { organizationId, before };
    const counted = await query({ sql: `SELECT count() FROM ${OWN_DATABASE}.${table} WHERE ${condition}`, parameters });
    const [count] = getOnlyRow(counted);
    if (count === 0) return false;
    const connection = await connect();
    await send(connection, { timeoutMs: MIGRATION_TIMEOUT_MS }, async (abort_signal) => {
      const statement = `DELETE FROM ${OWN_DATABASE}.${table} WHERE ${condition}`;
      const clickhouse_settings = connection.cluster === undefined ? {} : CLUSTER_SETTINGS;
      for (const text of createStatements(connection.cluster)(statement))
        await connection.writer.command({ query: text, query_params: parameters, clickhouse_settings, abort_signal });
    });
    return true;
  }

  async function listPartitions(tables: readonly string[], options?: QueryOptions): Promise<unknown[][]> {
    const { cluster } = await connect();
    return query(partitionStatement(tables, cluster), options);
  }

  const columnCache = createColumnCache({ query, clock });
  return {
    kind: backend.kind,
    query,
    insert,
    insertLines,
    insertTsv,
    insertBinary,
    removeBefore,
    listPartitions,
    columns: columnCache.columns,
    isRunning: () => backend.isRunning(),
    listWarnings: insertFailures.listWarnings,
    start: async () => void (await connect()),
    async getAccess() {
      if (!backend.getAccess) throw new AppError('internal', 'This engine has no address for other clients');
      await connect();
      return backend.getAccess();
    },
    async close() {
      await liveness.close();
      await backend.close();
    },
  };
}

/** Accepts ISO 8601 times; rejects members without a column. */
const INSERT_SETTINGS: ClickHouseSettings = {
  date_time_input_format: 'best_effort',
  input_format_skip_unknown_fields: 0,
};

function withDefaultLimits(limits: Limits, { defaultMemoryBytes }: Connection): Required<Limits> {
  return {
    maxSeconds: limits.maxSeconds ?? MAX_SECONDS,
    maxResultRows: limits.maxResultRows ?? MAX_RESULT_ROWS,
    maxResultBytes: limits.maxResultBytes ?? MAX_RESULT_BYTES,
    maxMemoryBytes: limits.maxMemoryBytes ?? defaultMemoryBytes,
  };
}

function toOutcome(error: unknown, signal: AbortSignal | undefined): Outcome {
  if (signal?.aborted) return 'canceled';
  return error instanceof AppError && error.code === 'bad_request' ? 'rejected' : 'failed';
}
