import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../kernel/errors.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { createFairQueue } from '../../kernel/tasks/queue.ts';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import type { DrivenId, DrivenServices } from '../../management/services/driven-services.ts';
import {
  type BackupAccess,
  DRIVERS,
  type Driver,
  type DriverName,
  type SlowQuery,
} from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { createLease, type LeaseHandle } from '../../platform/leases/lease.ts';
import type { LeasedState, LeaseSession } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import type { WakeCause } from '../proxy/gate.ts';
import { toDrivenService } from './desired.ts';
import { createServiceLoop, type LoopContext, PROGRESS_MS, type ServiceLoop } from './service-loop.ts';
import { callConverge } from './step.ts';

interface Options extends Omit<LoopContext, 'driver' | 'session' | 'services' | 'clock' | 'takeTurn'> {
  state: State;
  services: DrivenServices;
  /** The drivers that this installation can use. */
  drivers: Partial<Record<DriverName, Driver>>;
  /** Called when this process is no longer responsible for a service. */
  onReleased(serviceId: string): void;
}

/** Changes by commands and other nodes are found by asking the store. */
const POLL_MS = 250;
const FULL_PASS_MS = MINUTE_MS;
/** How long a service may take to start for a backup: a cloud may have to add machines first. */
const START_MS = 15 * MINUTE_MS;
const CONCURRENCY = 64;
const CONCURRENCY_PER_DRIVER = 16;

export type Reconciler = ReturnType<typeof createReconciler>;

/**
 * Drives each service to its desired state. Each service is the work of one process: a local service of the one that has
 * the lease of its data directory, all others of the one that has the shared lease.
 */
export function createReconciler(options: Options) {
  const { state, services, drivers, endpoints, log, directoryId, onReleased } = options;
  const { clock } = state;
  const loops = new Map<string, ServiceLoop>();
  /** By service: under which session its state is written. */
  const sessions = new Map<string, LeaseSession>();
  const releasing = new Set<string>();
  const removals = new Map<string, Promise<void>>();
  const queue = createFairQueue({ concurrency: CONCURRENCY, concurrencyPerKey: CONCURRENCY_PER_DRIVER });
  const stopping = new AbortController();
  let lastFullPassMs: number | undefined;

  const discovery = createBackgroundLoop({
    run: discover,
    everyMs: POLL_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to look for changed services'),
  });

  const openLease = (name: string) =>
    createLease({
      state,
      clock,
      log,
      name,
      onChange() {
        lastFullPassMs = undefined;
        // Also those of a session that was followed by another one at once: they start again from the stored state.
        for (const [id, loop] of loops) if (!loop.session.isHeld()) void release(id);
      },
    });
  const shared = openLease('services');
  const local = openLease(`services/${directoryId}`);
  const getLease = (driver: DriverName) => (DRIVERS[driver].isLocal ? local : shared);

  async function discover(): Promise<void> {
    if (!shared.isHeld() && !local.isHeld()) return;
    const isFullPass = lastFullPassMs === undefined || clock.monotonicMs() - lastFullPassMs >= FULL_PASS_MS;
    const found = await (isFullPass ? services.list() : services.listUnsettled());
    for (const service of found) notice(service);
    for (const service of await services.listRemovals()) startRemoval(service);
    if (!isFullPass) return;
    lastFullPassMs = clock.monotonicMs();
    const ids = new Set(found.map(({ id }) => id));
    for (const id of loops.keys()) if (!ids.has(id)) await release(id);
  }

  /** Starts a step if the service has changed since the last one. */
  function notice(service: DrivenId): void {
    const session = getLease(service.driver).getSession();
    if (!session || releasing.has(service.id)) return;
    const loop = loops.get(service.id) ?? startLoop(service, session);
    if (loop.getSeenGeneration() !== service.generation) void loop.trigger();
  }

  function startLoop(service: DrivenId, session: LeaseSession): ServiceLoop {
    const { id, driver: name } = service;
    const context: LoopContext = {
      ...options,
      driver: drivers[name] ?? createMissingDriver(name),
      session,
      services: { ...services, ...services.under(session.state) },
      clock,
      takeTurn: (step) => queue.run(name, step, stopping.signal),
    };
    const loop = createServiceLoop(context, service);
    loops.set(id, loop);
    sessions.set(id, session);
    return loop;
  }

  async function release(id: string): Promise<void> {
    const loop = loops.get(id);
    if (!loop) return;
    loops.delete(id);
    releasing.add(id);
    try {
      await loop.close();
      onReleased(id);
      await endpoints.close(id);
      await drivers[loop.driverName]?.release?.(id);
    } catch (error) {
      log.warn({ serviceId: id, reason: (error as Error).message }, 'failed to release a service');
    } finally {
      releasing.delete(id);
      sessions.delete(id);
      lastFullPassMs = undefined;
    }
  }

  /** The other services do not wait for it. */
  function startRemoval(service: Service): void {
    const { id } = service;
    if (!removals.has(id))
      removals.set(
        id,
        remove(service).finally(() => removals.delete(id)),
      );
  }

  /** Removes what a deleted service left behind. Tried again with the next pass if it fails. */
  async function remove(service: Service): Promise<void> {
    const session = getLease(service.driver).getSession();
    if (!session) return;
    await release(service.id);
    const driver = drivers[service.driver];
    if (!driver) return;
    sessions.set(service.id, session);
    try {
      await endpoints.remove(service);
      const driven = toDrivenService(service);
      const desired = { generation: service.generation, state: 'deleted', replicas: 0, memoryGb: 0 } as const;
      await callConverge(driver, driven, desired, stopping.signal);
      await services.under(session.state).removed(service);
    } catch (error) {
      log.warn({ serviceId: service.id, reason: (error as Error).message }, 'failed to remove a deleted service');
    } finally {
      sessions.delete(service.id);
    }
  }

  /** Of a service that this process runs. */
  function getOwnLoop(id: string): ServiceLoop {
    const loop = loops.get(id);
    if (!loop?.isResponsible()) throw new AppError('unavailable', 'Another node manages the service now');
    return loop;
  }

  return {
    /** Held by the process that runs the local services of the data directory, and by the one that runs all others. */
    leases: { local, shared } as Readonly<Record<'local' | 'shared', LeaseHandle>>,

    /** Under which the state of a service is written; undefined if another process is responsible for it. */
    findSession(id: string): LeaseSession | undefined {
      const session = sessions.get(id);
      return session?.isHeld() ? session : undefined;
    },

    /** Throws if another process is responsible for the service. */
    getState(id: string): LeasedState {
      const session = sessions.get(id);
      if (!session) throw new AppError('unavailable', 'Another node manages the service now');
      return session.state;
    },

    async start(): Promise<void> {
      await Promise.all([shared.start(), local.start()]);
      discovery.start();
    },

    /** Called by the driver when a process ends, and by tests. */
    async check(id: string): Promise<void> {
      await loops.get(id)?.trigger();
    },

    async wake(id: string, { address, userAgent, kind, at }: WakeCause): Promise<void> {
      const loop = loops.get(id);
      if (!loop) throw new AppError('unavailable', 'Another node manages the service now');
      await loop.wake({ at, cause: 'query', address, userAgent, statement: kind });
    },

    /**
     * Wakes the service if it is idle, waits until it runs, and keeps it from idling. Throws if it is stopped, or does not
     * run for another reason.
     */
    async openBackup(id: string, signal: AbortSignal): Promise<BackupAccess> {
      const started = getOwnLoop(id).expectBackup();
      const startedAtMs = clock.monotonicMs();
      try {
        for (let attempt = 1; ; attempt++) {
          // A service that was about to idle does so with the first attempt. Another process may have taken over meanwhile.
          const loop = getOwnLoop(id);
          await loop.wake({ at: clock.now(), cause: 'backup' });
          const driver = drivers[loop.driverName];
          const access = driver?.openBackup ? driver.openBackup(id) : loop.openUpstream();
          if (access) return access;
          // Other drivers only accept the change when the step has ended.
          const limitMs = driver?.openBackup ? 0 : START_MS;
          if (attempt >= 2 && clock.monotonicMs() - startedAtMs >= limitMs)
            throw new AppError('unavailable', 'The service is not running');
          await delay(PROGRESS_MS, undefined, { signal });
        }
      } finally {
        started();
      }
    },

    /** Whether this process runs the service. */
    isResponsible: (id: string): boolean => loops.get(id)?.isResponsible() ?? false,

    /** Undefined if another process is responsible for the service. */
    findIdleStatus(id: string) {
      const loop = loops.get(id);
      return loop?.isResponsible() ? loop.getIdleStatus() : undefined;
    },

    /** Undefined if another process is responsible for the service, or it does not run. */
    async listSlowQueries(id: string): Promise<SlowQuery[] | undefined> {
      const loop = loops.get(id);
      return loop?.isResponsible() ? drivers[loop.driverName]?.listSlowQueries?.(id, stopping.signal) : undefined;
    },

    /** Stops the work; drivers and endpoints are closed by the caller. */
    async close(): Promise<void> {
      stopping.abort();
      await discovery.close();
      await Promise.all([...removals.values(), ...[...loops.values()].map((loop) => loop.close())]);
      await Promise.all([shared.close(), local.close()]);
    },
  };
}

/** A service whose driver is not available stays as it is; its record has this reason. */
const createMissingDriver = (name: DriverName): Driver => ({
  isInterruptedByResize: false,
  canIdle: () => false,
  async observe() {
    throw new AppError(
      'unavailable',
      `The driver ${name} is not available on this server; the server log has the reason`,
    );
  },
  async converge() {},
  async close() {},
});
