import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { createKeyedQueue } from '../../../kernel/tasks/queue.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import type {
  Desired,
  DrivenService,
  Driver,
  IdleBlocker,
  Load,
  Observed,
  ObservedState,
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
import { createLoadMeter, type LoadMeter } from './load.ts';
import { createProbe, type Probe } from './probe.ts';
import { type RunningService, startService, stopService } from './running-service.ts';
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
  findPort?(): Promise<number>;
}

/** What the driver knows of a service. */
interface Entry {
  running?: RunningService;
  meter?: LoadMeter;
  probe?: Probe;
  memoryGb?: number;
  /** Set while `converge` is running. */
  transition?: ObservedState | undefined;
  /** Ends a start. */
  cancel?: (() => void) | undefined;
  /** The state that was requested last, for a service without a process. */
  rest?: 'idle' | 'stopped';
  /** Why the service has no process although it should run. */
  failure?: string | undefined;
}

/** ClickHouse needs some 100 MiB to start and to answer small queries. */
const MIN_MEMORY_MIB = 256;
/** A GB of the contract is 2³⁰ bytes. */
const MIB_PER_GB = 1024;
const ANSWER_MS = 5 * SECOND_MS;
/** Between two probes of all services. A process that hangs is ended 6 seconds after the first probe without an answer. */
const PROBE_MS = 4 * SECOND_MS;

const canceled = () => new AppError('unavailable', 'The request to the service was canceled');

/** Runs each service as a process on this machine. */
export function createEmbeddedDriver(options: Options): Required<Driver> {
  const { directory, mibPerGb, clock, log, onChange, findPort = findFreePort } = options;
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
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const error = await query(running.upstream, 'SELECT 1', limit).catch((reason: Error) => reason);
    if (!(error instanceof Error && isRefused(error))) return;
    running.kill();
    await running.ended;
  }

  async function run(id: string, entry: Entry, memoryGb: number, signal: AbortSignal): Promise<void> {
    const isNew = !hasDirectory(getServiceDirectory(directory, id));
    if (isNew) await end(entry);
    await endIfRefused(entry, signal);
    const isResized = entry.running && entry.running.memoryMiB !== toMemoryMiB(memoryGb);
    if (entry.running && !isResized) {
      entry.memoryGb = memoryGb;
      return;
    }
    if (isResized) entry.transition = 'resizing';
    else entry.transition = isNew ? 'provisioning' : entry.rest === 'idle' ? 'awaking' : 'starting';
    await stop(entry);
    try {
      await start(id, entry, memoryGb, signal);
      entry.failure = undefined;
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
    Object.assign(entry, { rest: state, failure: undefined });
  }

  async function remove(id: string, entry: Entry, folder: ServiceDirectory): Promise<void> {
    entry.transition = 'stopping';
    await end(entry);
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
              await run(id, entry, desired.memoryGb, AbortSignal.any([signal, closing.signal]));
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
      const running = entries.get(serviceId)?.running;
      return running ? listBlockers(running.upstream, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])) : [];
    },

    async listSlowQueries(serviceId: string, signal: AbortSignal): Promise<SlowQuery[] | undefined> {
      const running = entries.get(serviceId)?.running;
      return running && listSlowQueries(running.upstream, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
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

/** A service that starts without its data looks intact and is not. It may be stopped and deleted. */
function toMissing({ id, hasRun }: DrivenService, { data }: ServiceDirectory, entry: Entry): Observed {
  const start = `pilothouse service start ${id} --empty`;
  const obstacle = `The data directory ${data} is missing. Restore it, or start the service without its data: ${start}`;
  const state = entry.running ? 'degraded' : (entry.rest ?? 'stopped');
  return { state, reason: obstacle, ...(hasRun && { obstacle }) };
}

/** The share of its limit that the process uses, as bytes of the size that the service has for its users. */
function toContractSize(load: Load, { memoryMiB }: RunningService, memoryGb = 0): Load {
  if (load.memoryBytes === undefined) return load;
  return { ...load, memoryBytes: Math.round((load.memoryBytes / memoryMiB) * memoryGb * MIB_PER_GB) };
}

async function observeRunning(entry: Entry, running: RunningService, signal: AbortSignal): Promise<Observed> {
  const { upstream, version, pid, memoryMiB } = running;
  const evidence = { pid, isolation: running.getIsolation() ?? 'none', memoryLimitMiB: memoryMiB };
  const seen = { replicas: 1, version, evidence, ...(entry.memoryGb !== undefined && { memoryGb: entry.memoryGb }) };
  try {
    const load = await entry.meter?.measure(AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
    return {
      state: 'running',
      ...seen,
      upstream,
      ...(load && { load: toContractSize(load, running, entry.memoryGb) }),
    };
  } catch (error) {
    if (signal.aborted) throw canceled();
    if (entry.running !== running) return { state: 'degraded', reason: entry.failure ?? 'ClickHouse stopped' };
    // A process that was ended because it hung closes its connections before its end is reported.
    const reason = entry.probe?.getFailure() ?? `ClickHouse did not answer: ${(error as Error).message}`;
    return { state: 'degraded', reason, ...seen, ...(!isRefused(error) && { upstream }) };
  }
}
