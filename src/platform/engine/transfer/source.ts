import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { type AppliedMigration, listMigrations, rejectForeignHistory } from '../../../kernel/migration.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { openRunningEngine } from '../backends/running-engine.ts';
import { toLocalName } from '../cluster/cluster-statements.ts';
import { OWN_DATABASE } from '../engine.ts';
import { isDirectoryInUse, toEngineError } from '../failures.ts';
import { openBackend } from '../open.ts';
import { getOnlyRow } from '../result.ts';
import { readHistory } from '../tables/migrate.ts';
import { listOwnTables } from '../tables/own-tables.ts';
import { type Chunk, type EngineTable, formatCondition, planChunks } from './table-chunks.ts';

export interface EngineAddress {
  dataDirectory: string;
  clickhouseUrl?: string | undefined;
  clickhouseCluster?: string | undefined;
  engineMemoryBytes?: number | undefined;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Cancels the request in progress. */
  signal?: AbortSignal;
}

interface TableRows {
  rows: number;
  /** Tab-separated lines in the order of the table's columns; times are in epoch seconds. */
  lines: Buffer;
}

/** Reads the rows of our tables, also from the embedded engine of a running server. */
export interface EngineSource {
  migrations: AppliedMigration[];
  /** Tables that are filled from others are left out. */
  tables: EngineTable[];
  countRows(table: EngineTable): Promise<number>;
  /** All rows that were stored before the call, in chunks of about 8 MiB; of the organizations that are wanted. */
  readRows(table: EngineTable, isWanted?: (organizationId: string) => boolean): AsyncGenerator<TableRows>;
  close(): Promise<void>;
}

/** Undefined if the engine has no tables yet. Must be closed. */
export async function openEngineSource(address: EngineAddress): Promise<EngineSource | undefined> {
  const opened = await openReader(address);
  if (!opened) return undefined;
  const { client, close } = opened;
  try {
    const read = createRequests(client, address.signal);
    const tables = await readTables(read, address.clickhouseCluster !== undefined);
    if (tables.length === 0) {
      await close();
      return undefined;
    }
    const migrations = await readHistory(client, address.signal);
    rejectForeignHistory('engine', migrations, listMigrations('engine'));
    return { migrations, tables, ...createReader(read), close };
  } catch (error) {
    await close();
    throw toCopyError(error, address.signal);
  }
}

/** Whether another process runs the embedded engine of the data directory. */
export async function isEngineRunning(dataDirectory: string): Promise<boolean> {
  const client = await openRunningEngine(join(dataDirectory, 'engine'));
  await client?.close();
  return client !== undefined;
}

const LIMITS = { maxSeconds: 3600, maxResultRows: 0, maxResultBytes: 0, maxMemoryBytes: 0 };

interface OpenedReader {
  client: ClickHouseClient;
  close(): Promise<void>;
}

const STARTING_ATTEMPTS = 60;
const STARTING_PAUSE_MS = 500;

async function openReader(address: EngineAddress): Promise<OpenedReader | undefined> {
  const directory = join(address.dataDirectory, 'engine');
  for (let attempt = 1; ; attempt++) {
    if (!address.clickhouseUrl) {
      const client = await openRunningEngine(directory, address.signal);
      if (client) return { client, close: () => client.close() };
      // Starting another engine takes long and would fail: the directory is in use.
      address.signal?.throwIfAborted();
      if (!existsSync(join(directory, 'data'))) return undefined;
    }
    const backend = openBackend(address);
    try {
      const { reader, readSettings } = await backend.connect();
      if (Object.keys(readSettings(LIMITS)).length === 0)
        throw new AppError(
          'conflict',
          'The profile of the ClickHouse user has readonly = 1; reading all tables needs a user that may change settings',
        );
      return { client: reader, close: () => backend.close() };
    } catch (error) {
      await backend.close();
      // The server that uses the directory may still be starting its engine.
      if (!isDirectoryInUse(error) || attempt === STARTING_ATTEMPTS) throw error;
      address.signal?.throwIfAborted();
      await delay(STARTING_PAUSE_MS);
    }
  }
}

async function readTables({ readFields }: Requests, isCluster: boolean): Promise<EngineTable[]> {
  const rows = await readFields(
    `SELECT table, name, type, is_in_partition_key FROM system.columns
      WHERE database = '${OWN_DATABASE}' AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY table, position`,
    {},
  );
  return listOwnTables()
    .tables.map((name) => {
      // A Distributed table has no partitions. A server may still have the tables that it had without a cluster.
      const local = toLocalName(name);
      const stored = isCluster && rows.some(([table]) => table === local) ? local : name;
      const columns = rows.filter(([table]) => table === stored);
      const list = (isWanted: (type: string, isPartition: boolean) => boolean): string[] =>
        columns.flatMap(([, column = '', type = '', isPartition]) =>
          isWanted(type, isPartition === '1') ? [column] : [],
        );
      return {
        name,
        columns: list(() => true),
        timeColumn: list((type, isPartition) => isPartition && type.startsWith('DateTime64'))[0],
        plainColumns: list((type) => !/^(Map|Array|Tuple|Nested)/.test(type)),
      };
    })
    .filter(({ columns }) => columns.length > 0);
}

const CHUNK_BYTES = 8 * 2 ** 20;
const SAMPLE_ROWS = 1000;
const MIN_CHUNK_ROWS = 100;
const MAX_CHUNK_ROWS = 100_000;

function createReader({ readFields, readBytes, fail }: Requests): Pick<EngineSource, 'countRows' | 'readRows'> {
  async function readChunk(table: EngineTable, chunk: Chunk): Promise<TableRows> {
    const { where, parameters } = formatCondition(table, chunk);
    const columns = table.columns.map((column) => `\`${column}\``).join(', ');
    const lines = await readBytes(`SELECT ${columns} FROM ${OWN_DATABASE}.${table.name} ${where}`, parameters);
    return { rows: countLines(lines), lines };
  }

  return {
    async countRows({ name }) {
      const [count] = getOnlyRow(await readFields(`SELECT count() FROM ${OWN_DATABASE}.${name}`, {}));
      return Number(count);
    },
    async *readRows(table, isWanted = () => true) {
      try {
        const sample = `SELECT * FROM ${OWN_DATABASE}.${table.name} LIMIT ${SAMPLE_ROWS}`;
        const [bytes, rows] = getOnlyRow(await readFields(`SELECT sum(byteSize(*)), count() FROM (${sample})`, {}));
        if (rows === '0') return;
        const maxRows = Math.floor(CHUNK_BYTES / (Number(bytes) / Number(rows)));
        const limitedRows = Math.min(Math.max(maxRows, MIN_CHUNK_ROWS), MAX_CHUNK_ROWS);
        for await (const chunk of planChunks(table, limitedRows, readFields, isWanted)) {
          const part = await readChunk(table, chunk);
          if (part.rows > 0) yield part;
        }
      } catch (error) {
        throw fail(error);
      }
    },
  };
}

const NEWLINE = 0x0a;

/** Newlines in values are escaped. */
function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Epoch seconds do not depend on the time zone of the engine. The response starts when the result is complete, so that an error has a status. */
const SETTINGS: ClickHouseSettings = {
  date_time_output_format: 'unix_timestamp',
  wait_end_of_query: 1,
  max_execution_time: LIMITS.maxSeconds,
};

type Requests = ReturnType<typeof createRequests>;

function createRequests(client: ClickHouseClient, signal: AbortSignal | undefined) {
  async function readBytes(sql: string, parameters: Record<string, unknown>): Promise<Buffer> {
    // The client ignores a signal that was aborted before the request, or is aborted after the response has begun.
    signal?.throwIfAborted();
    const { stream } = await client.exec({
      query: `${sql} FORMAT TabSeparated`,
      query_params: parameters,
      query_id: newUuid(),
      clickhouse_settings: SETTINGS,
      ...(signal && { abort_signal: signal }),
    });
    if (signal) addAbortSignal(signal, stream);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  return {
    readBytes,
    /** Only for values without tabs, newlines and backslashes: names, types, ids and numbers. */
    async readFields(sql: string, parameters: Record<string, unknown>): Promise<string[][]> {
      const text = (await readBytes(sql, parameters)).toString('utf8');
      if (text === '') return [];
      return text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.split('\t'));
    },
    fail: (error: unknown) => toCopyError(error, signal),
  };
}

const toCopyError = (error: unknown, signal: AbortSignal | undefined): unknown =>
  signal?.aborted ? signal.reason : toEngineError(error, LIMITS);
