import type { Address } from '../listener/query.ts';

interface Credentials {
  name: string;
  password: string;
}

/** How another process of this server uses the embedded engine. Valid until the engine stops. */
export interface EngineAccess {
  address: Address;
  reader: Credentials;
  writer: Credentials;
  queryMemoryBytes: number;
}

/** SQL with ClickHouse's `{name:Type}` placeholders. `sql` never contains user input. */
export interface Statement {
  sql: string;
  parameters: Record<string, unknown>;
}

/** Resource limits of one statement. Omitted members have the engine's defaults. */
export interface Limits {
  maxSeconds?: number;
  maxResultRows?: number;
  /** Of the result as text, and of its columns in the engine's memory. */
  maxResultBytes?: number;
  maxMemoryBytes?: number;
}

export interface QueryOptions {
  limits?: Limits;
  /** Organizations take turns. Without it, the query is part of Pilothouse's own work. */
  organizationId?: string;
  /** Cancels the query in the engine, for example when the client disconnects. */
  signal?: AbortSignal | undefined;
}

export interface Column {
  name: string;
  /** In ClickHouse's notation: `Map(LowCardinality(String), String)`. */
  type: string;
}

/** A state that needs an operator. */
export interface EngineWarning {
  code: 'engine_disk_full';
  message: string;
  remedy: string;
}

/** A ClickHouse engine: the embedded one in a child process, or an external server. */
export interface Engine {
  readonly kind: 'embedded' | 'server';
  /**
   * Runs one read-only statement; each row is an array in column order. 64-bit integers are numbers if they are safe
   * integers, otherwise strings. Throws `unavailable` if the engine cannot be reached or does not respond,
   * `too_many_requests` if too many queries of the organization are waiting, and `bad_request` if the statement is
   * invalid or exceeds a limit (time, rows, bytes, memory).
   */
  query(statement: Statement, options?: QueryOptions): Promise<unknown[][]>;
  /**
   * Inserts rows given as objects. Resolves once they are stored. After `unavailable` they may be stored, or may be stored
   * later: the engine may have received them before it stopped responding.
   */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** As `insert`, for lines of JSON: serializing many objects at once would block the event loop. */
  insertLines(table: string, lines: Buffer): Promise<void>;
  /** As `insert`, for tab-separated lines in the order of `columns`: several times faster, for millions of rows. */
  insertTsv(table: string, columns: readonly string[], lines: readonly Buffer[]): Promise<void>;
  /** As `insert`, for rows in ClickHouse's format RowBinary with these columns. */
  insertBinary(table: string, columns: readonly string[], rows: readonly Buffer[]): Promise<void>;
  /** Removes the rows of an organization whose time is before `before` (epoch milliseconds). False if there were none. */
  removeBefore(table: string, rows: { organizationId: string; time: string; before: number }): Promise<boolean>;
  /** Table, partition, and the rows and bytes on disk of all organizations in it. Throws as `query` does. */
  listPartitions(tables: readonly string[], options?: QueryOptions): Promise<unknown[][]>;
  /** The columns of a table; `[]` if it does not exist. Cached for 30 seconds. */
  columns(database: string, table: string): Promise<readonly Column[]>;
  /** True if queries run without starting the engine first. */
  isRunning(): boolean;
  /** Problems that the last insert ran into; none after the next successful one. */
  listWarnings(): EngineWarning[];
  /** Starts the engine if necessary and migrates its tables. */
  start(): Promise<void>;
  /** How another process of this server uses the embedded engine, which is started if necessary. */
  getAccess(): Promise<EngineAccess>;
  close(): Promise<void>;
}

/** The database that holds Pilothouse's own tables. */
export const OWN_DATABASE = 'pilothouse';

/** Present in all of our tables. Reads from any table with this column are filtered by it. */
export const ORGANIZATION_COLUMN = 'OrganizationId';
