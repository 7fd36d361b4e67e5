import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Kysely, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { storeFailure } from './failures.ts';
import { createGroupCommit } from './group-commit.ts';
import { runDirectly } from './prepared.ts';
import type { State, StoreObserver } from './state.ts';
import type { Tables } from './tables.ts';

type Connection = InstanceType<typeof Database>;
type Statement = ReturnType<Connection['prepare']>;

/** One file, two connections: the writer commits, the reader sees the last commit and never waits for a writer. */
export function openLibsql(path: string, observer: StoreObserver): State {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const writer = connect(path);
  const reader = connect(path);
  const db = kysely(reader, observer);
  const group = createGroupCommit(writer, kysely(writer, observer), observer);
  return {
    kind: 'libsql',
    db,
    async write(work) {
      try {
        return await group.write(work);
      } catch (error) {
        throw storeFailure(error);
      }
    },
    async check() {
      try {
        reader.prepare('SELECT count(*) FROM schema_migrations').get();
        await group.write(async (tx) => {
          // A new value: SQLite does not write a page whose bytes stay the same, and then a full disk goes unnoticed.
          await tx
            .updateTable('fleet_turns')
            .set((eb) => ({ turn: eb('turn', '+', 1) }))
            .execute();
        });
      } catch (error) {
        throw storeFailure(error);
      }
    },
    now: async () => Date.now(),
    async close() {
      await group.idle();
      reader.close();
      writer.close();
    },
  };
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
  const database = withKeptStatements(connection);
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database }),
    log: (event) => observer.query(event.queryDurationMillis / 1000),
  });
  const measured = <T>(run: () => T): T => {
    const startedAt = performance.now();
    const result = run();
    observer.query((performance.now() - startedAt) / 1000);
    return result;
  };
  runDirectly(db, {
    all: (sql, parameters) => measured(() => database.prepare(sql).all(parameters)),
    // `get` runs a statement to its end and is the cheapest call there is, also for one that returns nothing.
    first: (sql, parameters) => measured(() => database.prepare(sql).get(parameters)),
  });
  return db;
}

const KEPT_STATEMENTS = 200;

/** Preparing a statement costs more than running it, and Kysely prepares each time: keep the ones already made. */
function withKeptStatements(connection: Connection) {
  const kept = new Map<string, Statement>();
  return {
    prepare(sql: string) {
      let statement = kept.get(sql);
      if (!statement) {
        statement = connection.prepare(sql);
        if (kept.size < KEPT_STATEMENTS) kept.set(sql, statement);
      }
      return statement as Statement & { reader: boolean };
    },
    close() {},
  };
}
