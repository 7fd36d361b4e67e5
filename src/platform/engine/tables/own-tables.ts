import { listMigrations } from '../../../kernel/migration.ts';

interface OwnTables {
  /** Tables whose rows are stored by inserts. */
  tables: string[];
  /** Tables that a materialized view fills from another table. */
  derived: string[];
  views: string[];
}

const CREATED = /^CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS pilothouse\.(\w+)(?: TO pilothouse\.(\w+))?/;

/** The tables that the migrations create. A reader of the engine has no access to `system.tables`. */
export function listOwnTables(): OwnTables {
  const created = listMigrations('engine').flatMap(({ statements }) =>
    statements.flatMap((statement) => {
      const [, kind, name = '', target] = CREATED.exec(statement) ?? [];
      return kind === undefined ? [] : [{ isView: kind !== 'TABLE', name, target }];
    }),
  );
  const derived = created.flatMap(({ target }) => target ?? []);
  const names = (isView: boolean) => created.filter((entry) => entry.isView === isView).map(({ name }) => name);
  return { tables: names(false).filter((name) => !derived.includes(name)), derived, views: names(true) };
}
