import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { createFairQueue } from '../../kernel/tasks/queue.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { BackupAccess } from '../../management/services/driver.ts';
import { createLease } from '../../platform/leases/lease.ts';
import type { State } from '../../platform/state/state.ts';
import type { Backup } from './backup.ts';
import { removeUnfinished, storeBackup, writeBackup } from './make-backup.ts';
import type { Schedule } from './schedule.ts';
import { formatFailure } from './statements.ts';
import type { Storage } from './storage.ts';
import { deleteBackup, findBackup, listBackupSizes, listBackups, listPending } from './store.ts';
import type { Verify } from './verification.ts';
import type { BackupWriter } from './writer.ts';

interface Options {
  state: State;
  writer: BackupWriter;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** The id of the data directory of this process. */
  directoryId: string;
  servicesDirectory: string;
  storage: Storage;
  schedule: Schedule;
  verify: Verify;
  openBackup(serviceId: string): Promise<BackupAccess>;
}

/** Requested backups are found by asking the store. */
const POLL_MS = SECOND_MS;
const SCHEDULE_MS = MINUTE_MS;
const RETRY_MS = MINUTE_MS;
/** Each one reads and writes whole tables. */
const CONCURRENCY = 2;
const MAX_REASON_LENGTH = 500;

const INTERRUPTED = 'The control plane was stopped during the backup';

/**
 * Makes, verifies and deletes the backups of the services in one data directory. One process does so: the holder of a lease.
 * What is to be done is in the store, so nothing is forgotten when a process is killed.
 */
export function createBackupWork(options: Options) {
  const { state, writer, clock, log, directoryId, storage, schedule, verify } = options;
  /** Distinguishes the work of this process from what a killed one has left. */
  const worker = newUuid();
  const running = new Map<string, Promise<void>>();
  /** When work that failed is tried again, by the monotonic clock. */
  const retries = new Map<string, number>();
  const queue = createFairQueue({ concurrency: CONCURRENCY, concurrencyPerKey: 1 });
  const stopping = new AbortController();
  let scheduledAtMs: number | undefined;
  /** By service. */
  let sizes: ReadonlyMap<string, number> = new Map();

  const loop = createBackgroundLoop({
    run: pass,
    everyMs: POLL_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to look for backups to make'),
  });
  const lease = createLease({
    state,
    clock,
    log,
    name: `backups/${directoryId}`,
    onChange(isHeld) {
      scheduledAtMs = undefined;
      if (isHeld) loop.schedule(0);
    },
  });

  async function pass(): Promise<void> {
    if (!lease.isHeld()) return;
    if (scheduledAtMs === undefined || clock.monotonicMs() - scheduledAtMs >= SCHEDULE_MS) {
      await schedule.run(stopping.signal);
      sizes = await listBackupSizes(state.db, directoryId);
      scheduledAtMs = clock.monotonicMs();
    }
    for (const backup of await listPending(state.db, directoryId)) begin(backup);
  }

  function begin({ organizationId, serviceId, id }: Backup): void {
    if (running.has(id) || clock.monotonicMs() < (retries.get(id) ?? 0)) return;
    const work = queue
      .run(serviceId, () => settle(organizationId, id), stopping.signal)
      .then(() => void retries.delete(id))
      .catch((error: Error) => {
        retries.set(id, clock.monotonicMs() + RETRY_MS);
        if (!stopping.signal.aborted)
          log.warn({ serviceId, backupId: id, reason: error.message }, 'failed to work on a backup');
      })
      .finally(() => running.delete(id));
    running.set(id, work);
  }

  /** As the store has it now: another pass may have finished it. */
  async function settle(organizationId: string, id: string): Promise<void> {
    const backup = await findBackup(state.db, organizationId, id);
    if (!backup || !(await lease.confirm())) return;
    if (backup.pending === 'backup') await back(backup);
    else if (backup.pending === 'verify') await check(backup);
    else if (backup.pending === 'remove') await remove(backup);
  }

  async function back(backup: Backup): Promise<void> {
    const others = (await listBackups(state.db, backup.organizationId, backup.serviceId)).filter(
      ({ id }) => id !== backup.id,
    );
    // What ClickHouse has written completely is stored now.
    if (backup.worker !== undefined && backup.worker !== worker && !backup.isWritten)
      return fail(backup, INTERRUPTED, others);
    let made: Backup = { ...backup, worker };
    try {
      await writer.change(backup, (stored) => ({ ...stored, worker }));
      if (!made.isWritten) made = await writeBackup(options, made, others, stopping.signal);
      const written = made;
      await writer.change(backup, () => written);
      made = await storeBackup(options, made, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) throw error;
      return fail(made, explain(error), others);
    }
    if (!(await lease.confirm())) return;
    await writer.change(backup, () => ({ ...withoutWork(made), status: 'done', finishedAt: clock.now() }));
    sizes = await listBackupSizes(state.db, directoryId);
  }

  async function fail(backup: Backup, error: string, others: readonly Backup[]): Promise<void> {
    const { serviceId, id } = backup;
    log.warn({ serviceId, backupId: id, reason: error }, 'failed to back up a service');
    // What cannot be removed now is removed when the backup expires.
    await removeUnfinished(options, backup, others, stopping.signal).catch((reason: Error) =>
      log.warn({ serviceId, backupId: id, reason: reason.message }, 'failed to remove an unfinished backup'),
    );
    await writer.change(backup, (stored) => ({
      ...withoutWork(stored),
      status: 'error',
      error,
      finishedAt: clock.now(),
    }));
  }

  async function check(backup: Backup): Promise<void> {
    const all = await listBackups(state.db, backup.organizationId, backup.serviceId);
    let result: { tables: number; rows: number; error?: string };
    try {
      result = await verify(backup, all, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) throw error;
      result = { tables: 0, rows: 0, error: explain(error) };
    }
    const verification = { at: clock.now(), ...result };
    await writer.change(backup, (stored) => ({ ...withoutWork(stored), verification }));
  }

  /** The row is deleted last: what is left of a killed process is removed by the next one. */
  async function remove(backup: Backup): Promise<void> {
    await removeUnfinished(options, backup, [], stopping.signal);
    await state.write((tx) => deleteBackup(tx, backup));
  }

  /** Wrong settings should be known before the first backup fails. */
  async function checkStorage(): Promise<void> {
    const reason = await storage.findObstacle(stopping.signal).catch(() => undefined);
    if (reason !== undefined && !stopping.signal.aborted)
      log.warn({ reason }, 'the storage for backups of services cannot be used');
  }

  return {
    async start(): Promise<void> {
      await lease.start();
      loop.start();
      void checkStorage();
    },

    /** The size of all backups of a service. */
    countBytes: (serviceId: string): number => sizes.get(serviceId) ?? 0,

    /** Starts what is due now, and resolves when nothing is left to do. For tests. */
    async settleAll(): Promise<void> {
      scheduledAtMs = undefined;
      await loop.trigger();
      while (running.size > 0) await Promise.all(running.values());
    },

    /** Interrupted backups fail after the next start. */
    async close(): Promise<void> {
      stopping.abort();
      await loop.close();
      await Promise.all(running.values());
      await lease.close();
    },
  };
}

function withoutWork({ worker: _, pending: __, isWritten: ___, ...backup }: Backup): Backup {
  return backup;
}

const explain = (error: unknown): string =>
  (error instanceof AppError ? error.message : formatFailure(error)).slice(0, MAX_REASON_LENGTH);
