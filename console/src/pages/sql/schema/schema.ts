import { queryOptions } from '@tanstack/react-query';
import type { StreamRequest } from '../../../api/open-stream.ts';
import { createReceived, readResult } from '../result/result-stream.ts';
import type { ResultRow } from '../result/values.ts';

export interface TableSummary {
  database: string;
  name: string;
  engine: string;
  /** Unknown for views and for tables of other systems. */
  rows: number | undefined;
  bytes: number | undefined;
}

interface ColumnSummary {
  name: string;
  type: string;
}

export interface Schema {
  tables: TableSummary[];
  /** By database and table, see `toTableKey`. */
  columns: ReadonlyMap<string, ColumnSummary[]>;
}

export interface Names {
  functions: string[];
  settings: ColumnSummary[];
}

export interface TableFacts {
  definition: string;
  columns: {
    name: string;
    type: string;
    keys: string;
    codec: string;
    compressedBytes: number;
    uncompressedBytes: number;
    comment: string;
  }[];
  parts: { name: string; partition: string; rows: number; bytes: number; changedAt: string }[];
}

/** Who reads, and from which service. */
export interface Reader extends Pick<StreamRequest, 'base' | 'sessions'> {
  organizationId: string;
  serviceId: string;
}

/** At the start of the statements of the page itself, which the history of a person leaves out. */
export const OWN_MARK = '/* console */ ';

const MAX_TABLES = 20_000;
const MAX_PARTS = 1000;
const STALE_MS = 60_000;
/** Nothing is read without a reason: a statement wakes a service that has become idle. */
const ONCE = { retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false };

const TABLES = `SELECT database, name, engine, total_rows, total_bytes FROM system.tables
WHERE NOT is_temporary AND lower(database) != 'information_schema' ORDER BY database, name LIMIT ${MAX_TABLES}`;
const COLUMNS = `SELECT database, table, groupArray(name), groupArray(type)
FROM (SELECT database, table, name, type FROM system.columns WHERE lower(database) != 'information_schema' ORDER BY position)
GROUP BY database, table LIMIT ${MAX_TABLES}`;
const NAMES = `SELECT 'function', name, '' FROM system.functions UNION ALL SELECT 'setting', name, type FROM system.settings`;
const DEFINITION = `SELECT formatQuery(create_table_query) FROM system.tables
WHERE database = {database:String} AND name = {table:String}`;
const TABLE_COLUMNS = `SELECT name, type, is_in_partition_key, is_in_sorting_key, compression_codec, data_compressed_bytes, data_uncompressed_bytes, comment
FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position`;
const PARTS = `SELECT name, partition, rows, bytes_on_disk, toString(modification_time) FROM system.parts
WHERE active AND database = {database:String} AND table = {table:String} ORDER BY modification_time DESC LIMIT ${MAX_PARTS}`;

export const toTableKey = (database: string, table: string): string => JSON.stringify([database, table]);

async function readRows(
  { base, sessions, organizationId, serviceId }: Reader,
  sql: string,
  signal: AbortSignal,
  parameters?: Record<string, string>,
): Promise<ResultRow[]> {
  const received = createReceived();
  const path = `/v1/organizations/${organizationId}/services/${serviceId}/sql/read`;
  const body = { sql: OWN_MARK + sql, maxRows: MAX_TABLES, ...(parameters && { parameters }) };
  await readResult({ base, sessions, path, body, signal }, received, () => undefined);
  if (received.error) throw new Error(received.error.message);
  return received.rows;
}

const toCount = (value: unknown): number | undefined => (value === null ? undefined : Number(value));

/** The tables and columns that a reader may see. */
export const schemaQuery = (reader: Reader) =>
  queryOptions({
    queryKey: [reader.organizationId, 'sql', reader.serviceId, 'schema'],
    staleTime: STALE_MS,
    ...ONCE,
    async queryFn({ signal }): Promise<Schema> {
      const tables = await readRows(reader, TABLES, signal);
      const columns = await readRows(reader, COLUMNS, signal);
      return {
        tables: tables.map(([database, name, engine, rows, bytes]) => ({
          database: String(database),
          name: String(name),
          engine: String(engine),
          rows: toCount(rows),
          bytes: toCount(bytes),
        })),
        columns: new Map(
          columns.map(([database, table, names, types]) => [
            toTableKey(String(database), String(table)),
            (names as string[]).map((name, index) => ({ name, type: (types as string[])[index] ?? '' })),
          ]),
        ),
      };
    },
  });

/** The functions and settings of the version that the service runs. */
export const namesQuery = (reader: Reader) =>
  queryOptions({
    queryKey: [reader.organizationId, 'sql', reader.serviceId, 'names'],
    staleTime: Number.POSITIVE_INFINITY,
    ...ONCE,
    async queryFn({ signal }): Promise<Names> {
      const rows = await readRows(reader, NAMES, signal);
      const pick = (kind: string) => rows.filter((row) => row[0] === kind);
      return {
        functions: pick('function').map(([, name]) => String(name)),
        settings: pick('setting').map(([, name, type]) => ({ name: String(name), type: String(type) })),
      };
    },
  });

export const tableQuery = (reader: Reader, database: string, table: string) =>
  queryOptions({
    queryKey: [reader.organizationId, 'sql', reader.serviceId, 'table', database, table],
    ...ONCE,
    async queryFn({ signal }): Promise<TableFacts> {
      const parameters = { database, table };
      const [definition] = await readRows(reader, DEFINITION, signal, parameters);
      const columns = await readRows(reader, TABLE_COLUMNS, signal, parameters);
      const parts = await readRows(reader, PARTS, signal, parameters);
      return {
        definition: String(definition?.[0] ?? ''),
        columns: columns.map(([name, type, isInPartition, isInOrder, codec, compressed, uncompressed, comment]) => ({
          name: String(name),
          type: String(type),
          keys: [isInPartition ? 'partition' : [], isInOrder ? 'order' : []].flat().join(', '),
          codec: String(codec),
          compressedBytes: Number(compressed),
          uncompressedBytes: Number(uncompressed),
          comment: String(comment),
        })),
        parts: parts.map(([name, partition, rows, bytes, changedAt]) => ({
          name: String(name),
          partition: String(partition),
          rows: Number(rows),
          bytes: Number(bytes),
          changedAt: String(changedAt),
        })),
      };
    },
  });
