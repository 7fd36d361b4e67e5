import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { createFairQueue } from '../../kernel/tasks/queue.ts';
import { type Clock, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { DrivenId, DrivenServices } from '../../management/services/driven-services.ts';
import type { Driver, DriverName, Observed, Wake } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { State } from '../../platform/state/state.ts';
import { toDrivenService } from './desired.ts';
import type { Endpoints } from './endpoints.ts';
import type { IdleBlocker } from './idle.ts';
import { createLease } from './lease.ts';
import { createServiceLoop, type ServiceLoop } from './service-loop.ts';
import { createWorker } from './worker.ts';

/** A driver, with what only some drivers can tell. */
export interface ConfiguredDriver extends Driver {
  listBlockers?(serviceId: string, signal: AbortSignal): Promise<IdleBlocker[]>;
  /** Ends what runs in this process: another one is responsible for the service now. */
  release?(serviceId: string): Promise<void>;
}

interface Options {
  state: State;
  services: DrivenServices;
  /** Those that this installation can use. */
  drivers: Partial<Record<DriverName, ConfiguredDriver>>;
  endpoints: Endpoints;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  onDrift: 'correct' | 'adopt';
  /** The id of the data directory: its embedded services run on the node that has it. */
  directoryId: string;
  onObserved(service: Readonly<Service>, observed: Observed): void;
  /** Called when this process is no longer responsible for a service. */
  onReleased(serviceId: string): void;
}

/** Changes by commands and other nodes are found by asking the store. */
const POLL_MS = 250;
const FULL_PASS_MS = MINUTE_MS;
const CONCURRENCY = 64;
const CONCURRENCY_PER_DRIVER = 16;

export type Reconciler = ReturnType<typeof createReconciler>;

/**
 * Makes services what they are asked to be. Each service is the work of one process: an embedded service of the one that
 * has the lease of its data directory, all others of the one that has the shared lease.
 */
export function createReconciler(options: Options) {
  const { state, services, drivers, endpoints, clock, log, onDrift, directoryId, onObserved, onReleased } = options;
  const loops = new Map<string, ServiceLoop & { driverName: DriverName; cancel(): void }>();
  const held = { shared: false, directory: false };
  const releasing = new Set<string>();
  const queue = createFairQueue({ concurrency: CONCURRENCY, concurrencyPerKey: CONCURRENCY_PER_DRIVER });
  const stopping = new AbortController();
  let lastFullPassMs: number | undefined;

  const discovery = createBackgroundLoop({
    run: discover,
    everyMs: POLL_MS,
    onError: (error) => log.warn({ reason: (error as Error).message }, 'failed to look for changed services'),
  });

  const openLease = (kind: keyof typeof held) =>
    createLease({
      state,
      clock,
      log,
      name: kind === 'shared' ? 'services' : `services/${directoryId}`,
      onChange(isHeld) {
        held[kind] = isHeld;
        lastFullPassMs = undefined;
        if (!isHeld) for (const [id, loop] of loops) if (getLease(loop.driverName) === kind) void release(id);
      },
    });
  const leases = { shared: openLease('shared'), directory: openLease('directory') };

  async function discover(): Promise<void> {
    if (!held.shared && !held.directory) return;
    const isFullPass = lastFullPassMs === undefined || clock.monotonicMs() - lastFullPassMs >= FULL_PASS_MS;
    const found = await (isFullPass ? services.list() : services.listUnsettled());
    for (const service of found) if (held[getLease(service.driver)]) notice(service);
    for (const service of await services.listRemovals()) await remove(service);
    if (!isFullPass) return;
    lastFullPassMs = clock.monotonicMs();
    const ids = new Set(found.map(({ id }) => id));
    for (const id of loops.keys()) if (!ids.has(id)) await release(id);
  }

  /** Starts a step if the service has changed since the last one. */
  function notice({ id, organizationId, driver, generation }: DrivenId): void {
    if (releasing.has(id)) return;
    const loop = loops.get(id) ?? follow(organizationId, id, driver);
    if (loop.getSeenGeneration() !== generation) void loop.trigger();
  }

  function follow(organizationId: string, id: string, driverName: DriverName): ServiceLoop {
    const driver = drivers[driverName] ?? createMissingDriver(driverName);
    const holdsLease = () => leases[getLease(driverName)].confirm();
    const worker = createWorker({ driver, services, endpoints, clock, log, onDrift, holdsLease });
    const canceled = new AbortController();
    const signal = AbortSignal.any([stopping.signal, canceled.signal]);
    const loop = createServiceLoop({
      organizationId,
      id,
      driver,
      worker,
      services,
      endpoints,
      clock,
      log,
      directoryId,
      holdsLease,
      signal,
      takeTurn: (step) => queue.run(driverName, step, stopping.signal),
      listBlockers: async (service, signal) => (await drivers[driverName]?.listBlockers?.(service.id, signal)) ?? [],
      onObserved,
    });
    loops.set(id, { ...loop, driverName, cancel: () => canceled.abort() });
    return loop;
  }

  async function release(id: string): Promise<void> {
    const loop = loops.get(id);
    if (!loop) return;
    loops.delete(id);
    releasing.add(id);
    try {
      loop.cancel();
      await loop.close();
      onReleased(id);
      await endpoints.close(id);
      await drivers[loop.driverName]?.release?.(id);
    } catch (error) {
      log.warn({ serviceId: id, reason: (error as Error).message }, 'failed to release a service');
    } finally {
      releasing.delete(id);
      lastFullPassMs = undefined;
    }
  }

  /** Removes what a deleted service left behind. Tried again with the next pass if it fails. */
  async function remove(service: Service): Promise<void> {
    if (!held[getLease(service.driver)]) return;
    await release(service.id);
    const driver = drivers[service.driver];
    if (!driver) return;
    try {
      await endpoints.remove(service);
      const driven = toDrivenService(service);
      const desired = { generation: service.generation, state: 'deleted', replicas: 0, memoryGb: 0 } as const;
      await driver.converge(driven, desired, stopping.signal);
      await services.removed(service);
    } catch (error) {
      log.warn({ serviceId: service.id, reason: (error as Error).message }, 'failed to remove a deleted service');
    }
  }

  return {
    async start(): Promise<void> {
      await Promise.all(Object.values(leases).map((lease) => lease.start()));
      discovery.start();
    },

    /** Called by the driver when a process ends, and by tests. */
    async check(id: string): Promise<void> {
      await loops.get(id)?.trigger();
    },

    async wake(id: string, wake: Wake): Promise<void> {
      const loop = loops.get(id);
      if (!loop) throw new AppError('unavailable', 'The service is managed by another node now');
      await loop.wake(wake);
    },

    /** Asks the store if the lease may have expired. */
    async holdsLease(id: string): Promise<boolean> {
      const loop = loops.get(id);
      return loop !== undefined && (await leases[getLease(loop.driverName)].confirm());
    },

    /** Whether this process runs the service. */
    isResponsible: (id: string): boolean => loops.get(id)?.isResponsible() ?? false,

    /** Undefined if another process is responsible for the service. */
    findIdleStatus: (id: string) => loops.get(id)?.getIdleStatus(),

    /** Stops the work; drivers and endpoints are closed by the caller. */
    async close(): Promise<void> {
      stopping.abort();
      await discovery.close();
      await Promise.all([...loops.values()].map((loop) => loop.close()));
      await Promise.all(Object.values(leases).map((lease) => lease.close()));
    },
  };
}

const getLease = (driver: DriverName) => (driver === 'embedded' ? 'directory' : 'shared');

/** A service whose driver this installation lacks stays as it is; its record says why. */
const createMissingDriver = (name: DriverName): Driver => ({
  isInterruptedByResize: false,
  canIdle: () => false,
  async observe() {
    throw new AppError('unavailable', `This server has no ${name} driver; its log says why`);
  },
  async converge() {},
  async close() {},
});
