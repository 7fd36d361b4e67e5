import type { Compilable, CompiledQuery } from 'kysely';
import { nameStatement } from './statement-names.ts';
import type { Db } from './tables.ts';

/** Runs compiled statements without Kysely's connection handling. libSQL returns results, PostgreSQL promises of them. */
export interface DirectRunner {
  all(sql: string, parameters: readonly unknown[]): unknown[] | Promise<unknown[]>;
  first(sql: string, parameters: readonly unknown[]): unknown;
  /** Where the store caches rows. */
  firstCached?(sql: string, parameters: readonly unknown[], compute: (row: unknown) => unknown): unknown;
  /** Returns the number of changed rows. */
  execute(sql: string, parameters: readonly unknown[]): number | Promise<number>;
}

const directRunners = new WeakMap<Db, DirectRunner>();

export function registerDirectRunner(db: Db, runner: DirectRunner): void {
  directRunners.set(db, runner);
}

class Parameter {
  /** A number if the values are an array. */
  readonly name: string | number;
  constructor(name: string) {
    this.name = /^\d+$/.test(name) ? Number(name) : name;
  }
}

interface Compiled {
  query: CompiledQuery;
  names: (string | number | undefined)[];
}

/**
 * Prepares a query that is built once and run often: building it costs as much as running it. `build` gets a placeholder
 * for each value; each call replaces the placeholders with the actual values.
 *
 *     const selectOne = prepared((db: Db, value: { id: string }) => db.selectFrom('services').selectAll().where('id', '=', value.id));
 *     const service = await selectOne.first(db, { id });
 */
export function prepared<V extends object, O>(build: (db: Db, value: V) => Compilable<O>) {
  const placeholders = new Proxy({} as V, { get: (_, name) => new Parameter(String(name)) });
  // One compiled form per dialect: `?` on libSQL, `$1` on PostgreSQL.
  const compiled = new WeakMap<object, Compiled>();

  function getCompiled(db: Db): Compiled {
    const dialect = db.getExecutor().adapter;
    let entry = compiled.get(dialect);
    if (!entry) {
      const query = build(db, placeholders).compile();
      entry = { query, names: query.parameters.map((value) => (value instanceof Parameter ? value.name : undefined)) };
      compiled.set(dialect, entry);
      nameStatement(query.sql);
    }
    return entry;
  }

  const bindValues = ({ query, names }: Compiled, values: V) =>
    names.map((name, index) => (name === undefined ? query.parameters[index] : values[name as keyof V]));

  function run(db: Db, values: V) {
    const entry = getCompiled(db);
    const { sql, query, queryId } = entry.query;
    return db.executeQuery<O>({ sql, query, queryId, parameters: bindValues(entry, values) });
  }

  async function all(db: Db, values: V): Promise<O[]> {
    const direct = directRunners.get(db);
    if (!direct) return (await run(db, values)).rows;
    const entry = getCompiled(db);
    return (await direct.all(entry.query.sql, bindValues(entry, values))) as O[];
  }

  return {
    all,
    /** The first row, never older than this call. */
    async first(db: Db, values: V): Promise<O | undefined> {
      const direct = directRunners.get(db);
      if (!direct) return (await run(db, values)).rows[0];
      const entry = getCompiled(db);
      return (await direct.first(entry.query.sql, bindValues(entry, values))) as O | undefined;
    },
    /**
     * What `compute` returns for the first row, for a row that every request reads, such as its credential. Never older than
     * this call. libSQL keeps the result until the next commit: callers must not modify it, and `compute` must be pure.
     */
    async firstCached<T>(db: Db, values: V, compute: (row: O) => T): Promise<T | undefined> {
      const direct = directRunners.get(db);
      if (!direct?.firstCached) {
        const row = await this.first(db, values);
        return row && compute(row);
      }
      const entry = getCompiled(db);
      return direct.firstCached(entry.query.sql, bindValues(entry, values), compute as (row: unknown) => T) as
        | T
        | undefined;
    },
    /** Runs a statement that returns no rows; returns the number of changed rows. */
    async execute(db: Db, values: V): Promise<number> {
      const direct = directRunners.get(db);
      if (!direct) return Number((await run(db, values)).numAffectedRows);
      const entry = getCompiled(db);
      return direct.execute(entry.query.sql, bindValues(entry, values));
    },
  };
}
