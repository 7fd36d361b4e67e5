import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Logger } from 'pino';
import { type Clock, SECOND_MS } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { newUuid } from '../kernel/ids.ts';
import type { Backend, Connection } from './backend.ts';
import { createColumnCache } from './column-cache.ts';
import { createDeadline } from './deadline.ts';
import { type Engine, type Limits, OWN_DATABASE, type QueryOptions, type Statement } from './engine.ts';
import { isNotAllowed, toEngineError, unavailable } from './failures.ts';
import { migrate } from './migrate.ts';
import type { EngineObserver, Outcome } from './observer.ts';
import { convertRows } from './values.ts';

interface Options {
  backend: Backend;
  /** Plain SQL, one file per migration. */
  migrationsFolder: string;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  observer: EngineObserver;
}

type InsertValues = Pick<Parameters<ClickHouseClient['insert']>[0], 'values' | 'format' | 'columns'>;

const MAX_SECONDS = 30;
const MAX_RESULT_ROWS = 100_000;
/** Time on top of a query's own limit: it may have to wait in the engine's queue. */
const QUEUE_ALLOWANCE_MS = 15 * SECOND_MS;
const TABLE = /^[a-z][a-z0-9_]*$/;

/** The engine's operations on top of a backend. */
export function createEngine({ backend, migrationsFolder, clock, log, observer }: Options): Engine {
  let migrated: Promise<void> | undefined;

  async function migrateTables(): Promise<void> {
    const connection = await backend.connect();
    try {
      const done = await migrate(connection.writer, migrationsFolder);
      if (done.length > 0) log.info({ migrations: done }, 'engine tables migrated');
    } catch (error) {
      if (!(connection.mayLackPrivileges && isNotAllowed(error)))
        throw toEngineError(error, withDefaultLimits({}, connection));
      log.warn(
        { reason: (error as Error).message },
        `the ClickHouse user may not write to the database ${OWN_DATABASE}: its tables were not migrated`,
      );
    }
  }

  /** Migrates once; retries only after a failure. */
  async function connect(): Promise<Connection> {
    if (!migrated) {
      const attempt = migrateTables();
      migrated = attempt;
      attempt.catch(() => {
        if (migrated === attempt) migrated = undefined;
      });
    }
    await migrated;
    return backend.connect();
  }

  async function query({ sql, parameters }: Statement, { limits = {}, signal }: QueryOptions = {}) {
    const connection = await connect();
    const allLimits = withDefaultLimits(limits, connection);
    const startedAt = performance.now();
    const observe = (outcome: Outcome) => observer.query((performance.now() - startedAt) / 1000, outcome);
    const deadline = createDeadline(allLimits.maxSeconds * SECOND_MS + QUEUE_ALLOWANCE_MS, signal);
    try {
      const result = await connection.reader.query({
        query: sql,
        query_params: parameters,
        query_id: newUuid(),
        format: 'JSONCompact',
        clickhouse_settings: connection.readSettings(allLimits),
        abort_signal: deadline.signal,
      });
      const { meta = [], data } = await result.json<unknown[]>();
      observe('ok');
      return convertRows(
        meta.map(({ type }) => type),
        data,
      );
    } catch (error) {
      if (signal?.aborted) {
        observe('canceled');
        throw signal.reason;
      }
      const failure = deadline.hasPassed()
        ? unavailable('The engine is not responding', error, 5)
        : toEngineError(error, allLimits);
      observe(failure.code === 'bad_request' ? 'rejected' : 'failed');
      throw failure;
    } finally {
      deadline.end();
    }
  }

  async function insertValues(
    table: string,
    values: InsertValues,
    settings: ClickHouseSettings = INSERT_SETTINGS,
  ): Promise<void> {
    if (!TABLE.test(table)) throw new AppError('internal', `${table} is not a valid table name`);
    const connection = await connect();
    try {
      await connection.writer.insert({
        table: `${OWN_DATABASE}.${table}`,
        ...values,
        query_id: newUuid(),
        clickhouse_settings: settings,
      });
    } catch (error) {
      throw toEngineError(error, withDefaultLimits({}, connection));
    }
  }

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
    const values = Readable.from([Buffer.concat([SKIPPED_HEADER, ...lines])], { objectMode: false });
    await insertValues(
      table,
      { values, format: 'TabSeparatedWithNames', columns: [first, ...rest] },
      { date_time_input_format: 'basic', input_format_with_names_use_header: 0 },
    );
  }

  async function insertLines(table: string, lines: Buffer): Promise<void> {
    if (!TABLE.test(table)) throw new AppError('internal', `${table} is not a valid table name`);
    if (lines.length === 0) return;
    const connection = await connect();
    try {
      // Not `insert`: for this format it accepts objects only and serializes them one by one.
      const { stream } = await connection.writer.exec({
        query: `INSERT INTO ${OWN_DATABASE}.${table} FORMAT JSONEachRow`,
        values: Readable.from([lines], { objectMode: false }),
        query_id: newUuid(),
        clickhouse_settings: INSERT_SETTINGS,
      });
      await finished(stream.resume());
    } catch (error) {
      throw toEngineError(error, withDefaultLimits({}, connection));
    }
  }

  const columnCache = createColumnCache({ query, clock });
  return {
    kind: backend.kind,
    query,
    insert,
    insertLines,
    insertTsv,
    columns: columnCache.columns,
    isRunning: () => backend.isRunning(),
    start: async () => void (await connect()),
    close: () => backend.close(),
  };
}

/** Accepts ISO 8601 times; rejects members without a column. */
const INSERT_SETTINGS: ClickHouseSettings = {
  date_time_input_format: 'best_effort',
  input_format_skip_unknown_fields: 0,
};

/**
 * A header line that is skipped. The embedded engine tokenizes an INSERT before it finds the start of the rows; after an
 * unclosed quote the rows are a single token, which halves the time.
 */
export const SKIPPED_HEADER = Buffer.from('`\n');

function withDefaultLimits(limits: Limits, { defaultMemoryBytes }: Connection): Required<Limits> {
  return {
    maxSeconds: limits.maxSeconds ?? MAX_SECONDS,
    maxResultRows: limits.maxResultRows ?? MAX_RESULT_ROWS,
    maxMemoryBytes: limits.maxMemoryBytes ?? defaultMemoryBytes,
  };
}
