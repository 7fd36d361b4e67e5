/** SQL with `{name:Type}` in the places of its values, as ClickHouse binds them. No text of a user stands in `sql`. */
export interface Statement {
  sql: string;
  parameters: Record<string, unknown>;
}

/** What one statement may use up. Left out: the engine's defaults. */
export interface Limits {
  maxSeconds?: number;
  maxResultRows?: number;
  maxMemoryBytes?: number;
}

export interface QueryOptions {
  limits?: Limits;
  /** Aborted when nobody waits for the answer any more; the query is then stopped in the engine too. */
  signal?: AbortSignal | undefined;
}

export interface Column {
  name: string;
  /** As ClickHouse spells it: `Map(LowCardinality(String), String)`. */
  type: string;
}

/** A database engine that speaks ClickHouse: one in a child process of ours, or a server somewhere. */
export interface Engine {
  readonly kind: 'embedded' | 'server';
  /**
   * One read-only statement; each row an array in the order of the columns. 64-bit integers are numbers where they are
   * safe, otherwise text. Throws `unavailable` when the engine is not there, `bad_request` for what a statement asks
   * too much of (time, rows, memory).
   */
  query(statement: Statement, options?: QueryOptions): Promise<unknown[][]>;
  /** Rows as objects; answers once they are stored. */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** The same for rows that are lines of JSON already: turning many into text at once would stop everybody else. */
  insertLines(table: string, lines: Buffer): Promise<void>;
  /** As `insert`, from tab-separated text in the order of `columns`: several times as fast, for those who write millions. */
  insertTsv(table: string, columns: readonly string[], lines: readonly Buffer[]): Promise<void>;
  /** Columns of a table, `[]` when there is no such table. Remembered for a while. */
  columns(database: string, table: string): Promise<readonly Column[]>;
  /** True while it answers without having to be started first. */
  isRunning(): boolean;
  /** Starts it if need be, and brings its tables up to date. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The database of the tables that Pilothouse keeps itself. */
export const OWN_DATABASE = 'pilothouse';

/** Every table of ours has it; whatever is read from a table that has it is filtered by it. */
export const ORGANIZATION_COLUMN = 'OrganizationId';
