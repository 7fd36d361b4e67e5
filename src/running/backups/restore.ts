import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import type { State } from '../../platform/state/state.ts';
import type { Restore } from '../drivers/embedded/restoring.ts';
import { type Backup, ELSEWHERE, listChain } from './backup.ts';
import { formatFailure, runRestore, toFile } from './statements.ts';
import { replaceBase } from './storage/file-list.ts';
import { NAMES, type Storage } from './storage/storage.ts';
import { findBackup, listBackups } from './store.ts';

interface Options {
  state: State;
  storage: Storage;
}

export type Restores = ReturnType<typeof createRestores>;

/** Puts the data of backups into services without data. */
export function createRestores({ state, storage }: Options) {
  /** The chains that are being read, each with the number of restores. They are not deleted meanwhile. */
  const inUse = new Map<string, number>();

  async function findChain(organizationId: string, backupId: string): Promise<Backup[]> {
    const backup = await findBackup(state.db, organizationId, backupId);
    if (backup?.status !== 'done' || backup.pending === 'remove')
      throw new AppError('conflict', 'it was deleted, or is not done');
    const chain = listChain(backup, await listBackups(state.db, organizationId, backup.serviceId));
    if (!chain) throw new AppError('conflict', 'the backup that it is based on is missing');
    return chain;
  }

  /** Returns what checks the files. */
  async function provideChain(chain: readonly Backup[], { folder, signal, onProgress }: Restore) {
    const checks: (() => Promise<void>)[] = [];
    const totalBytes = chain.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0);
    let preparedBytes = 0;
    for (const backup of chain) {
      const onBytes = (bytes: number) => {
        preparedBytes += bytes;
        onProgress(`preparing its files, ${toPercent(preparedBytes / Math.max(1, totalBytes))}`);
      };
      checks.push(await storage.provide(backup, join(folder, backup.id), { signal, onBytes }));
      if (backup.directoryId === ELSEWHERE && backup.baseId !== undefined)
        await moveBase(join(folder, backup.id, NAMES.list), backup.baseId);
    }
    return async () => {
      for (const check of checks) await check();
    };
  }

  return {
    isInUse: (chainId: string): boolean => inUse.has(chainId),

    async run(restore: Restore): Promise<void> {
      const { service, backupId, upstream, folder, signal, onProgress } = restore;
      const chain = await findChain(service.organizationId, backupId);
      const chainId = chain[0]?.id ?? backupId;
      inUse.set(chainId, (inUse.get(chainId) ?? 0) + 1);
      try {
        await rm(folder, { recursive: true, force: true });
        const check = await provideChain(chain, restore);
        onProgress('restoring its tables');
        const onShare = (share: number) => onProgress(`restoring its tables, ${toPercent(share)}`);
        // What ClickHouse says about a damaged file is hard to understand, so the check comes first.
        const results = await Promise.allSettled([check(), runRestore(upstream, backupId, signal, onShare)]);
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      } catch (error) {
        throw error instanceof AppError ? error : new AppError('conflict', formatFailure(error), { cause: error });
      } finally {
        const left = (inUse.get(chainId) ?? 1) - 1;
        if (left > 0) inUse.set(chainId, left);
        else inUse.delete(chainId);
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** ClickHouse has noted the address in the storage. */
async function moveBase(list: string, baseId: string): Promise<void> {
  await writeFile(list, replaceBase(await readFile(list, 'utf8'), toFile(baseId)));
}

const toPercent = (share: number): string => `${Math.floor(share * 100)} %`;
