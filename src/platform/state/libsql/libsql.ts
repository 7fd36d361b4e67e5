import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { writeCheck } from '../check.ts';
import { toStoreError } from '../failures.ts';
import { type DirectRunner, registerDirectRunner } from '../prepared.ts';
import { type State, type StoreObserver, unobserved } from '../state.ts';
import type { Db, Tables } from '../tables.ts';
import { createCheckpoints, WRITER_PAGES } from './checkpoints.ts';
import { watchCommits } from './commit-watch.ts';
import { createGroupCommit } from './group-commit.ts';

type Connection = InstanceType<typeof Database>;
type Statement = ReturnType<Connection['prepare']>;

/** One file, two connections: the writer commits, the reader sees the last commit and never waits for the writer. */
export function openLibsql(path: string, clock: Clock, observer: StoreObserver): State {
  makeDirectory(dirname(path));
  // Readable by the owner only, regardless of the mode of the directory. SQLite creates the files next to it with the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const writer = connect(path);
  const reader = connect(path);
  const db = kysely(reader, observer);
  const tx = kysely(writer, unobserved);
  const watch = watchCommits(reader);
  registerDirectRunner(db, cacheRows(watch.hasChanged, createDirectRunner(reader, observer)));
  // The statements of a change are not measured individually, only their commit.
  registerDirectRunner(tx, createDirectRunner(writer, unobserved));
  const checkpoints = createCheckpoints(path);
  writer.pragma(`wal_autocheckpoint = ${WRITER_PAGES}`);
  const group = createGroupCommit(writer, tx, {
    observer,
    onCommit(changes) {
      watch.invalidate();
      checkpoints.countChanges(changes);
    },
  });
  let isClosed = false;

  async function write<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    // Work that outlasts a shutdown. The driver ends the process if a closed connection is asked for its transaction.
    if (isClosed) throw new AppError('unavailable', 'The state store is closed');
    try {
      return await group.write(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  return {
    kind: 'libsql',
    db,
    write,
    // Changes that wait share a commit, so none waits for long.
    writeNow: write,
    async check() {
      try {
        await group.write(writeCheck);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    // A full disk fails the check.
    listWarnings: () => [],
    now: async () => clock.now(),
    clock,
    async close() {
      isClosed = true;
      await group.idle();
      await checkpoints.close();
      reader.close();
      writer.close();
    },
  };
}

/**
 * Writes the file anew, so that nothing remains of rows that were changed or deleted. Needs as much free space as the file
 * has; returns false without it, or if another process writes.
 */
export function compactLibsql(path: string): boolean {
  const connection = new Database(path);
  try {
    connection.pragma('busy_timeout = 5000');
    connection.exec('VACUUM');
    const { busy } = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    return busy === 0;
  } catch {
    return false;
  } finally {
    connection.close();
  }
}

/** Creates the directory and its parents. Node's `recursive` option loops forever on file systems that reject new directories, such as /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function connect(path: string): Connection {
  const connection = new Database(path);
  connection.pragma('busy_timeout = 5000');
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  // From here on, the group commit waits for a busy file itself: a blocking wait would stop the event loop.
  connection.pragma('busy_timeout = 0');
  return connection;
}

function kysely(connection: Connection, observer: StoreObserver): Kysely<Tables> {
  const database = { prepare: cacheStatements(connection, discardOnError), close() {} };
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database }),
    log: (event) => observer.query(event.queryDurationMillis / 1000),
  });
}

/** Runs prepared queries directly on the driver. Each statement is used in one mode only: the driver mixes up the bindings otherwise. */
function createDirectRunner(connection: Connection, observer: StoreObserver): DirectRunner {
  const forAll = cacheStatements(connection, withColumnNames);
  const forFirst = cacheStatements(connection, withColumnNames);
  const forCount = cacheStatements(connection, discardOnError);
  const measured = <T>(run: () => T): T => {
    if (observer === unobserved) return run();
    const startedAt = performance.now();
    const result = run();
    observer.query((performance.now() - startedAt) / 1000);
    return result;
  };
  return {
    all: (sql, parameters) => measured(() => forAll(sql).all(parameters)),
    // `get` is the driver's fastest call, even for a statement that returns no row.
    first: (sql, parameters) => measured(() => forFirst(sql).get(parameters)),
    execute: (sql, parameters) => measured(() => Number(forCount(sql).run(parameters).changes)),
  };
}

/** The document of a key can have kilobytes. */
const MAX_CACHED_ROWS = 1000;

/** Caches what `firstCached` computes from rows until any process commits to the file. */
function cacheRows(hasChanged: () => boolean, runner: DirectRunner): DirectRunner {
  const results = new Map<string, unknown>();
  return {
    ...runner,
    firstCached(sql, parameters, compute) {
      if (hasChanged() || results.size >= MAX_CACHED_ROWS) results.clear();
      const id = `${sql}\u0000${parameters.join('\u0000')}`;
      if (results.has(id)) return results.get(id);
      const row = runner.first(sql, parameters);
      const result = row && compute(row);
      results.set(id, result);
      return result;
    },
  };
}

const MAX_CACHED_STATEMENTS = 200;

type Wrap = (statement: Statement, discard: () => void) => CachedStatement;

/** Preparing a statement costs more than running it. */
function cacheStatements(connection: Connection, wrap: Wrap): (sql: string) => CachedStatement {
  const statements = new Map<string, CachedStatement>();
  return (sql) => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = wrap(connection.prepare(sql), () => statements.delete(sql));
      if (statements.size < MAX_CACHED_STATEMENTS) statements.set(sql, statement);
    }
    return statement;
  };
}

type Parameters = readonly unknown[];

interface CachedStatement {
  reader: boolean;
  all(parameters: Parameters): unknown[];
  get(parameters: Parameters): unknown;
  run(parameters: Parameters): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(parameters: Parameters): IterableIterator<unknown>;
}

/** Discards a statement that failed: the driver does not reset it, and its next run would use the old parameters. */
function discardOnError(statement: Statement, discard: () => void): CachedStatement {
  const orDiscard =
    <T>(run: (parameters: unknown[]) => T) =>
    (parameters: Parameters): T => {
      try {
        return run.call(statement, parameters as unknown[]);
      } catch (error) {
        discard();
        throw error;
      }
    };
  return {
    reader: statement.reader,
    all: orDiscard(statement.all),
    get: orDiscard(statement.get),
    run: orDiscard(statement.run),
    iterate: orDiscard(statement.iterate),
  };
}

/** Reads rows as arrays and adds the names here: a tenth of a microsecond per row instead of a full one in the driver. */
function withColumnNames(statement: Statement, discard: () => void): CachedStatement {
  if (!statement.reader) return discardOnError(statement, discard);
  const names = statement.columns().map(({ name }) => name);
  const lists = discardOnError(statement.raw(), discard);
  const row = (values: unknown): unknown => {
    const named: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) named[names[i] as string] = (values as unknown[])[i];
    return named;
  };
  return {
    ...lists,
    all: (parameters) => lists.all(parameters).map(row),
    get(parameters) {
      const values = lists.get(parameters);
      return values && row(values);
    },
  };
}
