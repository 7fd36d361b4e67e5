import type { CompiledQuery, Compilable, Kysely } from 'kysely';
import type { Db, Tables } from './tables.ts';

class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Values = Record<string, string | number | null>;

/**
 * A query that is built once and run often: building costs as much as running it. `build` gets a stand-in for every
 * value it names; each call puts the real values in their places.
 *
 *     const findById = prepared((db: Db, value: { id: string }) => db.selectFrom('services').selectAll().where('id', '=', value.id));
 *     const rows = await findById(db, { id });
 */
export function prepared<V extends Values, O>(build: (db: Db, value: V) => Compilable<O>): (db: Db, values: V) => Promise<O[]> {
  const stands = new Proxy({} as V, { get: (_, name) => new Parameter(String(name)) });
  // One compiled form per dialect: `?` on libSQL, `$1` on PostgreSQL.
  const compiled = new WeakMap<object, { query: CompiledQuery<O>; names: (string | undefined)[] }>();
  return async (db, values) => {
    const dialect = adapterOf(db);
    let entry = compiled.get(dialect);
    if (!entry) {
      const query = build(db, stands).compile();
      entry = { query, names: query.parameters.map((value) => (value instanceof Parameter ? value.name : undefined)) };
      compiled.set(dialect, entry);
    }
    const { query, names } = entry;
    const parameters = names.map((name, index) => (name === undefined ? query.parameters[index] : values[name]));
    const result = await db.executeQuery<O>({ sql: query.sql, query: query.query, queryId: query.queryId, parameters });
    return result.rows;
  };
}

const adapterOf = (db: Kysely<Tables>): object => db.getExecutor().adapter;
