import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { createKeyedQueue, createQueue } from '../../kernel/tasks/queue.ts';
import { cutCharacters } from '../../kernel/text.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { DrivenServices } from '../../management/services/driven-services.ts';
import type { LeaseSession } from '../../platform/leases/session.ts';
import type { Backup } from './backup.ts';
import type { BackupMaker } from './maker.ts';
import type { Schedule } from './schedule.ts';
import { formatFailure } from './statements.ts';
import { deleteBackup, findBackup, listBackupSizes, listBackups, listPending } from './store.ts';
import type { Verify } from './verification.ts';
import type { BackupWriter } from './writer.ts';

interface Options {
  /** Of the lease of the services. */
  session: LeaseSession;
  writer: BackupWriter;
  log: Pick<Logger, 'warn'>;
  services: Pick<DrivenServices, 'find'>;
  /** Whether this process runs the service. */
  isResponsible(serviceId: string): boolean;
  maker: BackupMaker;
  schedule: Schedule;
  verify: Verify;
}

/** Requested backups are found by asking the store. */
const POLL_MS = SECOND_MS;
const SCHEDULE_MS = MINUTE_MS;
const RETRY_MS = MINUTE_MS;
/** Of verifications and removals. Each verification reads and writes whole tables. */
const CONCURRENCY = 2;
const MAX_REASON_LENGTH = 500;

const INTERRUPTED = 'The control plane was stopped during the backup';
const DELETED = 'The service was deleted';

/**
 * Makes, verifies and deletes the backups of the services in one data directory, or of those elsewhere. One process does
 * so: the one that runs the services. What is to be done is in the store, so nothing is forgotten when it is killed.
 */
export function startBackupWork(options: Options) {
  const { session, writer, log, services, isResponsible, maker, schedule, verify } = options;
  const { state } = session;
  const { clock } = state;
  const { directoryId } = maker;
  /** Distinguishes the work of this session from what an earlier one, or a killed process, has left. */
  const worker = newUuid();
  const running = new Map<string, Promise<void>>();
  /** When work that failed is tried again, by the monotonic clock. */
  const retries = new Map<string, number>();
  const queue = createKeyedQueue({ concurrency: 1 });
  const backups = createQueue({ concurrency: maker.concurrency });
  const others = createQueue({ concurrency: CONCURRENCY });
  const closing = new AbortController();
  const stopping = { signal: AbortSignal.any([closing.signal, session.signal]) };
  let scheduledAtMs: number | undefined;
  /** By service. */
  let sizes: ReadonlyMap<string, number> = new Map();

  const loop = createBackgroundLoop({
    run: pass,
    everyMs: POLL_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to look for backups to make'),
  });

  async function pass(): Promise<void> {
    if (!session.isHeld()) return;
    if (scheduledAtMs === undefined || clock.monotonicMs() - scheduledAtMs >= SCHEDULE_MS) {
      // Set first: a request for another run may come in meanwhile.
      scheduledAtMs = clock.monotonicMs();
      await schedule.run(stopping.signal);
      sizes = await listBackupSizes(state.db, directoryId);
    }
    for (const backup of await listPending(state.db, directoryId)) begin(backup);
  }

  function begin({ organizationId, serviceId, id, pending }: Backup): void {
    if (running.has(id) || clock.monotonicMs() < (retries.get(id) ?? 0)) return;
    const slots = pending === 'backup' ? backups : others;
    const work = queue
      .run(serviceId, () => slots.run(() => settle(organizationId, id), stopping.signal), stopping.signal)
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
    if (!backup || !(await session.confirm())) return;
    if (backup.pending === 'backup') await back(backup);
    else if (backup.pending === 'verify') await check(backup);
    else if (backup.pending === 'remove') await remove(backup);
  }

  async function back(backup: Backup): Promise<void> {
    const { organizationId, serviceId, id } = backup;
    const earlier = (await listBackups(state.db, organizationId, serviceId)).filter((other) => other.id !== id);
    // What ClickHouse has written completely is stored now.
    if (backup.worker !== undefined && backup.worker !== worker && !backup.isWritten)
      return fail(backup, INTERRUPTED, earlier);
    if (!backup.isWritten && !isResponsible(serviceId)) {
      // Right after a start this process has not looked at the service yet. The row stays pending.
      return (await services.find(organizationId, serviceId)) ? undefined : fail(backup, DELETED, earlier);
    }
    // What is left after an interruption is removed from where it is.
    const claimed: Backup = { ...backup, worker, ...(!backup.isWritten && { location: maker.location }) };
    if (await replace(backup, () => claimed)) await make(claimed, earlier);
  }

  async function make(claimed: Backup, earlier: readonly Backup[]): Promise<void> {
    let made = claimed;
    try {
      if (!made.isWritten) made = await maker.write(made, earlier, stopping.signal);
      const written = made;
      if (!(await replace(made, () => written))) return;
      made = await maker.store(made, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) throw error;
      return fail(made, explain(error), earlier);
    }
    await replace(made, () => ({ ...withoutWork(made), status: 'done', finishedAt: clock.now() }));
    sizes = await listBackupSizes(state.db, directoryId);
  }

  /** Stores a change of a backup that is being made. False if another process has taken it over, or it was deleted. */
  async function replace(backup: Backup, change: (stored: Backup) => Backup): Promise<boolean> {
    if (!(await session.confirm())) return false;
    return writer.change(backup, (stored) => (isSameWork(stored, backup) ? change(stored) : undefined));
  }

  async function fail(backup: Backup, error: string, earlier: readonly Backup[]): Promise<void> {
    const { organizationId, serviceId, id } = backup;
    log.warn({ serviceId, backupId: id, reason: error }, 'failed to back up a service');
    const stored = await findBackup(state.db, organizationId, id);
    // The files may be those of another process.
    if (!stored || !isSameWork(stored, backup) || !(await session.confirm())) return;
    // What cannot be removed now is removed when the backup expires.
    await maker
      .removeUnfinished(backup, earlier, stopping.signal)
      .catch((reason: Error) =>
        log.warn({ serviceId, backupId: id, reason: reason.message }, 'failed to remove an unfinished backup'),
      );
    await replace(backup, (row) => ({ ...withoutWork(row), status: 'error', error, finishedAt: clock.now() }));
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
    if (await session.confirm())
      await writer.change(backup, (stored) =>
        stored.pending === 'verify' ? { ...withoutWork(stored), verification } : undefined,
      );
  }

  /** The row is deleted last: what is left of a killed process is removed by the next one. */
  async function remove(backup: Backup): Promise<void> {
    await maker.removeUnfinished(backup, [], stopping.signal);
    await state.write((tx) => deleteBackup(tx, backup));
  }

  loop.start();
  return {
    /** The size of all backups of a service. */
    countBytes: (serviceId: string): number => sizes.get(serviceId) ?? 0,

    /** Starts what is due now, and resolves when nothing is left to do. For tests. */
    async settleAll(): Promise<void> {
      scheduledAtMs = undefined;
      await loop.trigger();
      while (running.size > 0) await Promise.all(running.values());
    },

    /** Interrupted backups fail after the next start, or in the process that has the lease then. */
    async close(): Promise<void> {
      closing.abort();
      await loop.close();
      await Promise.all(running.values());
    },
  };
}

function withoutWork({ worker: _, pending: __, isWritten: ___, ...backup }: Backup): Backup {
  return backup;
}

/** The row is as this process has left it. */
const isSameWork = (stored: Backup, { worker }: Backup): boolean =>
  stored.pending === 'backup' && stored.worker === worker;

const explain = (error: unknown): string =>
  cutCharacters(error instanceof AppError ? error.message : formatFailure(error), MAX_REASON_LENGTH);
