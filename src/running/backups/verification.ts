import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { findInstallation } from '../../platform/listener/installation.ts';
import { findFreePort } from '../../platform/listener/listener.ts';
import { query, quoteName } from '../../platform/listener/query.ts';
import { getServiceDirectory, removeServiceDirectory, type ServiceDirectory } from '../drivers/embedded/directory.ts';
import { type RunningService, startService } from '../drivers/embedded/running-service.ts';
import { type Backup, listChain } from './backup.ts';
import type { Restores } from './restore.ts';
import { runBackup } from './statements.ts';
import { type ListedTable, listTables, parseFileList } from './storage/file-list.ts';
import { damaged } from './storage/manifest.ts';
import { NAMES, type Storage } from './storage/storage.ts';

interface Options {
  storage: Storage;
  restores: Restores;
  /** Has the directories of the temporary services. */
  temporaryDirectory: string;
  log: Pick<Logger, 'debug' | 'warn'>;
}

const MEMORY_MIB = 1024;

/** Merges would change the files that are compared. */
const NO_MERGES = {
  merge_tree: { max_bytes_to_merge_at_max_space_in_pool: 1, max_number_of_merges_with_ttl_in_pool: 0 },
};

/** What was compared. */
interface Verified {
  tables: number;
  rows: number;
}

/** Throws if the backup cannot be restored, or the restored tables differ from it. */
export type Verify = (backup: Backup, all: readonly Backup[], signal: AbortSignal) => Promise<Verified>;

/**
 * Restores a backup into a temporary service, backs that service up, and compares the two: the files of each table by
 * size and checksum, and the rows that the table has with the number in its files.
 */
export function createVerify({ storage, restores, temporaryDirectory, log }: Options): Verify {
  return async (backup, all, signal) => {
    if (!listChain(backup, all)) throw damaged(backup.id, 'the backup that it is based on is missing');
    const installation = findInstallation();
    if ('obstacle' in installation) throw new AppError('unavailable', installation.obstacle);
    const id = newUuid();
    const folder = getServiceDirectory(temporaryDirectory, id);
    let service: RunningService | undefined;
    try {
      service = await startService(
        { ...installation, directory: folder, memoryMiB: MEMORY_MIB, server: NO_MERGES, log, findPort: findFreePort },
        signal,
      );
      await restores.run({
        service: { id, organizationId: backup.organizationId, name: backup.serviceName },
        backupId: backup.id,
        upstream: service.upstream,
        folder: folder.backups,
        signal,
        onProgress() {},
      });
      return await compare(backup, service, folder, signal);
    } finally {
      service?.kill();
      await service?.ended;
      await removeServiceDirectory(folder);
    }
  };

  async function compare(
    backup: Backup,
    service: RunningService,
    { backups }: ServiceDirectory,
    signal: AbortSignal,
  ): Promise<Verified> {
    const list = await storage.readList(backup, signal);
    if (list === undefined) throw damaged(backup.id, 'its list of files is missing');
    const copyId = newUuid();
    await runBackup(service.backupUpstream, copyId, undefined, signal);
    const copy = join(backups, copyId);
    const expected = listTables(parseFileList(list));
    const restored = listTables(parseFileList(await readFile(join(copy, NAMES.list), 'utf8')));
    rejectDifference(backup.id, expected, restored);
    let rows = 0;
    for (const table of restored) rows += await compareRows(backup.id, service, copy, table, signal);
    return { tables: restored.length, rows };
  }
}

function rejectDifference(id: string, expected: readonly ListedTable[], restored: readonly ListedTable[]): void {
  for (const table of expected) {
    const found = restored.find(({ database, name }) => database === table.database && name === table.name);
    if (!found) throw damaged(id, `the table ${formatTable(table)} was not restored`);
    if (found.contents.join('\n') !== table.contents.join('\n'))
      throw damaged(id, `the restored table ${formatTable(table)} has other checksums`);
  }
  if (restored.length !== expected.length) throw damaged(id, 'tables were restored that it does not have');
}

/** Returns the number of rows. */
async function compareRows(
  id: string,
  { upstream }: RunningService,
  copy: string,
  table: ListedTable,
  signal: AbortSignal,
): Promise<number> {
  if (table.countFiles.length === 0) return 0;
  let expected = 0;
  for (const path of table.countFiles) expected += Number(await readFile(join(copy, path), 'utf8'));
  const sql = `SELECT count() FROM ${quoteName(table.database)}.${quoteName(table.name)} SETTINGS optimize_trivial_count_query = 0`;
  const rows = Number(await query(upstream, sql, signal));
  if (rows !== expected)
    throw damaged(id, `the restored table ${formatTable(table)} has ${rows} rows instead of ${expected}`);
  return rows;
}

const formatTable = ({ database, name }: ListedTable): string => `${database}.${name}`;
