import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { createKeyedQueue } from '../../../kernel/tasks/queue.ts';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import type {
  BackupAccess,
  Desired,
  DrivenService,
  Driver,
  IdleBlocker,
  Observed,
  SlowQuery,
} from '../../../management/services/driver.ts';
import { findInstallation } from '../../../platform/listener/installation.ts';
import { findFreePort } from '../../../platform/listener/listener.ts';
import { isRefused, query } from '../../../platform/listener/query.ts';
import { listBlockers } from './blockers.ts';
import {
  createServiceDirectory,
  getServiceDirectory,
  hasDirectory,
  removeServiceDirectory,
  type ServiceDirectory,
} from './directory.ts';
import { createLoadMeter } from './load.ts';
import { ANSWER_MS, canceled, type Entry, observeRunning, toMissing, toTransition } from './observed-service.ts';
import { createProbe } from './probe.ts';
import { findWantedBackup, type RunRestore, removePartialData, startRestore } from './restoring.ts';
import { startService, stopService } from './running-service.ts';
import { listSlowQueries } from './slow-queries.ts';

interface Options {
  /** Contains one directory per service. */
  directory: string;
  /** MiB of this machine for each GB of a service's size. */
  mibPerGb: number;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Called when the process of a service ended by itself. */
  onChange?(serviceId: string): void;
  /** Puts the data of a backup into a new service. */
  restore?: RunRestore | undefined;
  findPort?(): Promise<number>;
}

/** ClickHouse needs some 100 MiB to start and to answer small queries. */
const MIN_MEMORY_MIB = 256;
/** Between two probes of all services. A process that hangs is ended 6 seconds after the first probe without an answer. */
const PROBE_MS = 4 * SECOND_MS;

/** Runs each service as a process on this machine. */
export function createEmbeddedDriver(options: Options): Required<Omit<Driver, 'listUse'>> {
  const { directory, mibPerGb, clock, log, onChange, restore, findPort = findFreePort } = options;
  const entries = new Map<string, Entry>();
  /** One change at a time per service. */
  const changes = createKeyedQueue({ concurrency: 1, onCanceled: canceled });
  let isClosed = false;

  function getEntry(serviceId: string): Entry {
    const entry = entries.get(serviceId) ?? {};
    entries.set(serviceId, entry);
    return entry;
  }

  const toMemoryMiB = (memoryGb: number) => Math.max(MIN_MEMORY_MIB, Math.round(memoryGb * mibPerGb));

  async function start(id: string, entry: Entry, memoryGb: number, signal: AbortSignal): Promise<void> {
    if (isClosed) throw new AppError('unavailable', 'The control plane is stopping');
    const installation = findInstallation();
    if ('obstacle' in installation) throw new AppError('unavailable', installation.obstacle);
    const startedMs = clock.monotonicMs();
    const running = await startService(
      {
        ...installation,
        directory: getServiceDirectory(directory, id),
        memoryMiB: toMemoryMiB(memoryGb),
        log,
        findPort,
      },
      signal,
    );
    Object.assign(entry, { running, memoryGb, meter: createLoadMeter(running, clock), probe: createProbe(running) });
    probes.startAfterPause();
    log.info({ service: id, pid: running.pid, startMs: clock.monotonicMs() - startedMs }, 'an embedded service runs');
    void running.ended.then((reason) => {
      if (entry.running !== running) return;
      delete entry.running;
      entry.failure = entry.probe?.getFailure() ?? `ClickHouse stopped: the process ended with ${reason}`;
      log.warn({ service: id, reason: entry.failure }, 'an embedded service stopped unexpectedly');
      onChange?.(id);
    });
  }

  async function stop(entry: Entry): Promise<void> {
    if (entry.restoring) return cancelRestore(entry);
    const { running, probe } = entry;
    if (!running) return;
    delete entry.running;
    // A process that hangs would not flush anything either.
    if (await probe?.isHung()) {
      running.kill();
      await running.ended;
    } else await stopService(running, log);
  }

  /** Ends the processes that hang; the reconciler starts them again. */
  const probes = createBackgroundLoop({
    async run() {
      await Promise.all(
        [...entries.values()].map(async ({ running, probe }) => {
          if (running && (await probe?.isHung())) running.kill();
        }),
      );
    },
    everyMs: PROBE_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to probe the embedded services'),
  });

  /** Its data is removed before the next start. */
  async function cancelRestore(entry: Entry): Promise<void> {
    const { restoring } = entry;
    const canceled = restoring?.cancel();
    entry.restoring = undefined;
    await end(entry);
    await canceled;
  }

  /** Returns the backup whose data is to be restored. */
  async function prepareRestore(service: DrivenService, entry: Entry, folder: ServiceDirectory) {
    const backupId = findWantedBackup(service, folder);
    if (backupId === undefined) return undefined;
    await cancelRestore(entry);
    await removePartialData(folder);
    return backupId;
  }

  /** The data of the backup is restored while the service is observed. */
  function beginRestore(service: DrivenService, backupId: string, entry: Entry, folder: ServiceDirectory): void {
    const { running } = entry;
    if (!running) return;
    const run: RunRestore = restore ?? (() => Promise.reject(new Error('this node has no backups')));
    const restoring = startRestore(run, { service, backupId, upstream: running.upstream }, folder, (failure) => {
      if (entry.restoring !== restoring) return;
      entry.restoring = undefined;
      entry.restoreFailure = failure;
      if (failure !== undefined) {
        log.warn({ service: service.id, reason: failure }, 'failed to restore a backup');
        delete entry.running;
        running.kill();
      }
      onChange?.(service.id);
    });
    entry.restoring = restoring;
  }

  /** Ends the process at once. Its rows are no longer needed. */
  async function end(entry: Entry): Promise<void> {
    const { running } = entry;
    delete entry.running;
    running?.kill();
    await running?.ended;
  }

  /** The connections of a process close before its end is reported. A service that is only slow is not restarted. */
  async function endIfRefused({ running }: Entry, signal: AbortSignal): Promise<void> {
    if (!running) return;
    const result = await query(running.upstream, 'SELECT 1', limitTime(ANSWER_MS, signal)).catch((error) => error);
    if (!isRefused(result)) return;
    running.kill();
    await running.ended;
  }

  async function run(service: DrivenService, entry: Entry, memoryGb: number, signal: AbortSignal): Promise<void> {
    const { id } = service;
    const folder = getServiceDirectory(directory, id);
    // The size changes afterwards.
    if (entry.restoring && entry.running) return;
    const backupId = await prepareRestore(service, entry, folder);
    const isNew = !hasDirectory(folder);
    if (isNew) await end(entry);
    await endIfRefused(entry, signal);
    const isResized = entry.running && entry.running.memoryMiB !== toMemoryMiB(memoryGb);
    if (entry.running && !isResized) {
      entry.memoryGb = memoryGb;
      return;
    }
    entry.transition = toTransition(entry, isNew, isResized === true);
    await stop(entry);
    try {
      await start(id, entry, memoryGb, signal);
      entry.failure = undefined;
      if (backupId !== undefined) beginRestore(service, backupId, entry, folder);
    } catch (error) {
      if (!signal.aborted) entry.failure = (error as Error).message;
      throw error;
    }
  }

  /** Without `folder` its data is missing: it is not created again. */
  async function rest(state: 'idle' | 'stopped', entry: Entry, folder: ServiceDirectory | undefined): Promise<void> {
    entry.transition = 'stopping';
    if (folder) createServiceDirectory(folder);
    await stop(entry);
    Object.assign(entry, { rest: state, failure: undefined, restoreFailure: undefined });
  }

  async function remove(id: string, entry: Entry, folder: ServiceDirectory): Promise<void> {
    entry.transition = 'stopping';
    await cancelRestore(entry);
    await removeServiceDirectory(folder);
    entries.delete(id);
  }

  return {
    isInterruptedByResize: true,
    canIdle: () => true,

    async observe(service: DrivenService, signal: AbortSignal): Promise<Observed> {
      const folder = getServiceDirectory(directory, service.id);
      const entry = entries.get(service.id) ?? {};
      if (entry.transition) return { state: entry.transition };
      if (entry.restoring && entry.running) return entry.restoring.observe();
      if (entry.restoreFailure !== undefined)
        return { state: 'degraded', reason: entry.restoreFailure, obstacle: entry.restoreFailure };
      if ((service.hasRun || entry.running) && !hasDirectory(folder)) return toMissing(service, folder, entry);
      if (entry.running) return observeRunning(entry, entry.running, signal);
      if (entry.failure !== undefined) return { state: 'degraded', reason: entry.failure };
      if (!hasDirectory(folder)) return { state: 'deleted' };
      const storedBytes = entry.meter?.getStoredBytes();
      return { state: entry.rest ?? 'stopped', ...(storedBytes !== undefined && { load: { storedBytes } }) };
    },

    async converge(service: DrivenService, desired: Desired, signal: AbortSignal): Promise<void> {
      const { id } = service;
      const folder = getServiceDirectory(directory, id);
      await changes.run(
        id,
        async () => {
          const entry = getEntry(id);
          const closing = new AbortController();
          entry.cancel = () => closing.abort();
          try {
            if (desired.state === 'running')
              await run(service, entry, desired.memoryGb, AbortSignal.any([signal, closing.signal]));
            else if (desired.state === 'deleted') await remove(id, entry, folder);
            else await rest(desired.state, entry, service.hasRun && !hasDirectory(folder) ? undefined : folder);
          } catch (error) {
            if (error instanceof AppError) throw error;
            throw new AppError('unavailable', `The service could not be changed: ${(error as Error).message}`, {
              cause: error,
            });
          } finally {
            entry.transition = undefined;
            entry.cancel = undefined;
          }
        },
        signal,
      );
    },

    async listBlockers(serviceId: string, signal: AbortSignal): Promise<IdleBlocker[]> {
      const { running, backups = 0 } = entries.get(serviceId) ?? {};
      if (running && backups > 0) return [{ type: 'backup', detail: 'A backup is in progress' }];
      return running ? listBlockers(running.upstream, limitTime(ANSWER_MS, signal)) : [];
    },

    async listSlowQueries(serviceId: string, signal: AbortSignal): Promise<SlowQuery[] | undefined> {
      const running = entries.get(serviceId)?.running;
      return running && listSlowQueries(running.upstream, limitTime(ANSWER_MS, signal));
    },

    openBackup(serviceId: string): BackupAccess | undefined {
      const entry = entries.get(serviceId);
      if (!entry?.running || entry.restoring) return undefined;
      entry.backups = (entry.backups ?? 0) + 1;
      const close = () => {
        entry.backups = (entry.backups ?? 1) - 1;
      };
      return { upstream: entry.running.backupUpstream, close };
    },

    async release(serviceId: string): Promise<void> {
      const entry = entries.get(serviceId);
      if (!entry) return;
      entry.cancel?.();
      await changes.run(serviceId, () => stop(entry));
      entries.delete(serviceId);
    },

    async close(): Promise<void> {
      isClosed = true;
      await probes.close();
      for (const entry of entries.values()) entry.cancel?.();
      await Promise.all([...entries].map(([id, entry]) => changes.run(id, () => stop(entry))));
    },
  };
}
