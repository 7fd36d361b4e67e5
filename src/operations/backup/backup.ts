import { AppError } from '../../kernel/errors.ts';
import { type EngineAddress, type EngineSource, openEngineSource } from '../../platform/engine/transfer/source.ts';
import { listTables, readHistory, readRows, type StoreTable, type StoreValue } from '../../platform/state/contents.ts';
import { openRawStore, type RawStore, type StoreAddress } from '../../platform/state/raw-access.ts';
import { listNeededKeyIds } from '../../platform/state/secrets/open-secrets.ts';
import { type BackupWriter, openBackupWriter } from './file-writer.ts';
import { FORMAT, type Part } from './format.ts';
import { settleInterruptedRestore } from './interrupted-restore.ts';

interface BackupOptions extends CopyOptions {
  file: string;
  /** Replace an existing file. */
  force: boolean;
  /** The version of Pilothouse. */
  version: string;
}

/** The stores, and how a copy of everything in them reports and stops. */
export interface CopyOptions {
  stores: StoreAddress & EngineAddress;
  signal: AbortSignal;
  onProgress(text: string): void;
}

export interface CopiedTable {
  part: Part;
  name: string;
  rows: number;
}

interface BackupResult {
  bytes: number;
  sha256: string;
  tables: CopiedTable[];
}

/** What belongs to one store: sessions of the console, nodes and what they are doing, counted requests, restores. */
const OMITTED_TABLES = [
  'completed_restores',
  'console_sessions',
  'leases',
  'rate_windows',
  'session_cookies',
  'sql_intents',
  'used_tokens',
];
const USAGE_EVENTS = 'usage_events';

/** Writes the state and the engine to one file, while servers may be running. */
export async function backUp({
  file,
  force,
  version,
  stores,
  signal,
  onProgress,
}: BackupOptions): Promise<BackupResult> {
  const tables: CopiedTable[] = [];
  const report = (table: CopiedTable, writtenBytes: number) => {
    signal.throwIfAborted();
    onProgress(`${table.part} ${table.name}: ${table.rows} rows (${formatMebibytes(writtenBytes)} written)`);
  };
  await settleInterruptedRestore(stores, stores.log);
  const store = await openRawStore(stores, {});
  let source: EngineSource | undefined;
  let writer: BackupWriter | undefined;
  try {
    writer = await openBackupWriter(file, { force });
    source = await openEngineSource({ ...stores, signal });
    const copied = createTableCopy(writer, tables, report);
    // The state first: events that are stored meanwhile are then in the engine but not in the state, and never the reverse.
    const organizations = await writeState(store, source, { writer, copied, version, stores });
    for (const table of source?.tables ?? []) {
      const isWanted = table.name === USAGE_EVENTS ? (id: string) => organizations.has(id) : undefined;
      await copied('engine', table, async function* (): AsyncGenerator<Rows> {
        for await (const { rows, lines } of source?.readRows(table, isWanted) ?? []) yield { rows, content: lines };
      });
    }
    return { ...(await writer.finish()), tables };
  } catch (error) {
    await writer?.discard();
    throw error;
  } finally {
    await source?.close();
    await store.close();
  }
}

interface Rows {
  rows: number;
  content: Buffer;
}

type CopyTable = (part: Part, table: StoreTable, readChunks: () => AsyncGenerator<Rows>) => Promise<void>;

function createTableCopy(
  writer: BackupWriter,
  tables: CopiedTable[],
  report: (table: CopiedTable, writtenBytes: number) => void,
): CopyTable {
  return async (part, { name, columns }, readChunks) => {
    const table = { part, name, rows: 0 };
    tables.push(table);
    await writer.writeLine({ type: 'table', part, name, columns });
    for await (const { rows, content } of readChunks()) {
      await writer.writeRows(rows, content);
      table.rows += rows;
      report(table, writer.size());
    }
    report(table, writer.size());
  };
}

interface StateCopy {
  writer: BackupWriter;
  copied: CopyTable;
  version: string;
  stores: StoreAddress & EngineAddress;
}

/** Writes the header and all tables of the store, from one snapshot. Returns the ids of the organizations. */
function writeState(
  store: RawStore,
  source: EngineSource | undefined,
  { writer, copied, version, stores }: StateCopy,
): Promise<ReadonlySet<string>> {
  return store.read(async (tx) => {
    const stateMigrations = await readHistory(tx, store.kind);
    if (stateMigrations.length === 0)
      throw new AppError('not_found', 'The store has no tables yet; there is nothing to back up');
    await writer.writeLine({
      type: 'pilothouse-backup',
      format: FORMAT,
      version,
      createdAt: new Date(stores.clock.now()).toISOString(),
      store: store.kind,
      stateMigrations,
      engineMigrations: source?.migrations ?? [],
      secretKeys: await listNeededKeyIds(tx, store.kind),
    });
    const organizations = new Set<string>();
    for (const table of await listTables(tx, store.kind)) {
      if (OMITTED_TABLES.includes(table.name)) continue;
      const getIndex = (name: string, column: string) => (table.name === name ? table.columns.indexOf(column) : -1);
      const idIndex = getIndex('organizations', 'id');
      const revisionIndex = getIndex('usage_days', 'revision');
      await copied('state', table, () =>
        groupRows(readRows(tx, store.kind, table), (row) => {
          if (idIndex >= 0) organizations.add(String(row[idIndex]));
          if (!source && Number(row[revisionIndex] ?? 0) > 0) throw missingEngine(stores.dataDirectory);
        }),
      );
    }
    return organizations;
  });
}

/** Without this check, a backup on a machine that has the database but not the engine would lack all usage. */
const missingEngine = (dataDirectory: string): AppError =>
  new AppError(
    'conflict',
    `The store has metered usage, but ${dataDirectory} has no engine; use the --data directory or the --clickhouse-url of the server`,
  );

const CHUNK_CHARACTERS = 2 ** 20;

/** One JSON array per row and line. */
async function* groupRows(rows: AsyncIterable<StoreValue[]>, onRow: (row: StoreValue[]) => void): AsyncGenerator<Rows> {
  let lines: string[] = [];
  let characters = 0;
  for await (const row of rows) {
    onRow(row);
    const line = `${JSON.stringify(row)}\n`;
    lines.push(line);
    characters += line.length;
    if (characters < CHUNK_CHARACTERS) continue;
    yield { rows: lines.length, content: Buffer.from(lines.join('')) };
    [lines, characters] = [[], 0];
  }
  if (lines.length > 0) yield { rows: lines.length, content: Buffer.from(lines.join('')) };
}

export const formatMebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
