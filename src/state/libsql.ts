import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { writeCheck } from './check.ts';
import { createCheckpoints, WRITER_PAGES } from './checkpoints.ts';
import { watchCommits } from './commit-watch.ts';
import { toStoreError } from './failures.ts';
import { createGroupCommit } from './group-commit.ts';
import { type DirectRunner, registerDirectRunner } from './prepared.ts';
import { type State, type StoreObserver, unobserved } from './state.ts';
import type { Tables } from './tables.ts';

type Connection = InstanceType<typeof Database>;
type Statement = ReturnType<Connection['prepare']>;

/** One file, two connections: the writer commits, the reader sees the last commit and never waits for a writer. */
export function openLibsql(path: string, observer: StoreObserver): State {
  makeDirectory(dirname(path));
  // For our eyes only, also in a directory that others may read; SQLite gives the files beside it the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const writer = connect(path);
  const reader = connect(path);
  const db = kysely(reader, observer);
  const tx = kysely(writer, unobserved);
  const watch = watchCommits(reader);
  registerDirectRunner(db, remembering(watch.hasChanged, directRunner(reader, observer)));
  // Statements of a change are not measured one by one: their commit is.
  registerDirectRunner(tx, directRunner(writer, unobserved));
  const checkpoints = createCheckpoints(path);
  writer.pragma(`wal_autocheckpoint = ${WRITER_PAGES}`);
  const group = createGroupCommit(writer, tx, {
    observer,
    onCommit(changes) {
      watch.invalidate();
      checkpoints.countChanges(changes);
    },
  });
  return {
    kind: 'libsql',
    db,
    async write(work) {
      try {
        return await group.write(work);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    async check() {
      try {
        await group.write(writeCheck);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    now: async () => Date.now(),
    async close() {
      await group.idle();
      await checkpoints.close();
      reader.close();
      writer.close();
    },
  };
}

/** With its parents. Node's own `recursive` never ends where a file system refuses new directories, as /proc does. */
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
  // From here on the group commit waits for a busy file itself; a blocking wait would stop the whole server.
  connection.pragma('busy_timeout = 0');
  return connection;
}

function kysely(connection: Connection, observer: StoreObserver): Kysely<Tables> {
  const database = { prepare: keptStatements(connection, careful), close() {} };
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database }),
    log: (event) => observer.query(event.queryDurationMillis / 1000),
  });
}

/** Prepared queries go straight to the driver. A statement is used in one way only: mixing them confuses its bindings. */
function directRunner(connection: Connection, observer: StoreObserver): DirectRunner {
  const forAll = keptStatements(connection, namingRows);
  const forFirst = keptStatements(connection, namingRows);
  const forCount = keptStatements(connection, careful);
  const measured = <T>(run: () => T): T => {
    if (observer === unobserved) return run();
    const startedAt = performance.now();
    const result = run();
    observer.query((performance.now() - startedAt) / 1000);
    return result;
  };
  return {
    all: (sql, parameters) => measured(() => forAll(sql).all(parameters)),
    // `get` is the cheapest call there is, also for a statement that returns nothing.
    first: (sql, parameters) => measured(() => forFirst(sql).get(parameters)),
    recent: (sql, parameters) => measured(() => forFirst(sql).get(parameters)),
    changed: (sql, parameters) => measured(() => Number(forCount(sql).run(parameters).changes)),
  };
}

/** About 16 MB of text. */
const REMEMBERED_CHARACTERS = 16_000_000;
const CHARACTERS_PER_ROW = 200;

/** Remembers single rows until anybody commits anything: this process, the CLI, whoever has the file open. */
function remembering(hasChanged: () => boolean, runner: DirectRunner): DirectRunner {
  let size = 0;
  const rows = new Map<string, Map<string, unknown>>();
  const forgetWhatChanged = () => {
    if (!hasChanged() && size <= REMEMBERED_CHARACTERS) return;
    rows.clear();
    size = 0;
  };
  const recent: DirectRunner['recent'] = (sql, parameters) => {
    const known = rows.get(sql) ?? new Map<string, unknown>();
    rows.set(sql, known);
    const id = parameters.join('\u0000');
    if (known.has(id)) return known.get(id);
    const row = runner.first(sql, parameters);
    known.set(id, row);
    size += CHARACTERS_PER_ROW + ((row as { document?: string } | undefined)?.document?.length ?? 0);
    return row;
  };
  return {
    all: runner.all,
    changed: runner.changed,
    recent,
    first(sql, parameters) {
      forgetWhatChanged();
      return recent(sql, parameters);
    },
  };
}

const KEPT_STATEMENTS = 200;

type Wrap = (statement: Statement, discard: () => void) => KeptStatement;

/** Preparing a statement costs more than running it: keep the ones already made. */
function keptStatements(connection: Connection, wrap: Wrap): (sql: string) => KeptStatement {
  const kept = new Map<string, KeptStatement>();
  return (sql) => {
    let statement = kept.get(sql);
    if (!statement) {
      statement = wrap(connection.prepare(sql), () => kept.delete(sql));
      if (kept.size < KEPT_STATEMENTS) kept.set(sql, statement);
    }
    return statement;
  };
}

type Parameters = readonly unknown[];

interface KeptStatement {
  reader: boolean;
  all(parameters: Parameters): unknown[];
  get(parameters: Parameters): unknown;
  run(parameters: Parameters): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(parameters: Parameters): IterableIterator<unknown>;
}

/** One that failed is thrown away: the driver leaves it half-way, and its next run would use the old parameters. */
function careful(statement: Statement, discard: () => void): KeptStatement {
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

/** The driver takes a microsecond more for a row with names than for a list of its values; naming them here takes a tenth of one. */
function namingRows(statement: Statement, discard: () => void): KeptStatement {
  if (!statement.reader) return careful(statement, discard);
  const names = statement.columns().map(({ name }) => name);
  const lists = careful(statement.raw(), discard);
  const row = (values: unknown): unknown => {
    const made: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) made[names[i] as string] = (values as unknown[])[i];
    return made;
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
