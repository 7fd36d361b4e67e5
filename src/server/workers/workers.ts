import type { RateCounter } from '../../kernel/rate-counter.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { READERS } from '../../platform/engine/backends/embedded-backend.ts';
import type { SharedEngine } from '../../platform/engine/backends/shared-backend.ts';
import type { EngineAccess } from '../../platform/engine/engine.ts';
import { createLocalRateCounter } from '../../platform/http/limits/rate-counter.ts';
import { aggregateMetrics, type MetricValues } from '../../platform/http/monitoring/metrics.ts';
import { openRequests, type RequestHelpers } from '../requests.ts';
import type { Server } from '../server.ts';
import { MAX_STOP_MS, type Options, openBackground, openDomains, openStores, STOP_MS } from '../server-parts.ts';
import { createShutdown } from '../shutdown.ts';
import { openChannel, type Remote } from './channel.ts';
import { createWorkers, toPrimaryPort, type WorkerReports } from './processes.ts';

/** Calls from a worker to the primary process. */
interface PrimaryCalls extends RequestHelpers {
  join(): { engineOwnerNode: string; isEngineRunning: boolean };
  getEngineAccess(): Promise<EngineAccess>;
  addToRate: RateCounter['add'];
}

/** Calls from the primary process to a worker. */
interface WorkerCalls {
  readMetrics(): Promise<MetricValues>;
  setEngineRunning(isRunning: boolean): void;
  toggleDebug(): void;
  stop(): void;
  probe(): void;
}

/** Less than the first step of a shutdown has. */
const MAX_WORKER_STOP_MS = STOP_MS.requests - 0.5 * SECOND_MS;

/** Does the background work and owns the engine; `config.workers` other processes serve the requests. */
export async function startPrimary(options: Options): Promise<Server & { toggleDebug(): void }> {
  const { config, clock, log } = options;
  const shutdown = createShutdown(MAX_STOP_MS);
  const tellWorkers = (tell: (worker: Remote<WorkerCalls>) => Promise<void>): void => {
    // A worker that is ending does not need to know.
    for (const worker of workers?.list() ?? []) tell(worker).catch(() => {});
  };
  let workers: ReturnType<typeof createWorkers<PrimaryCalls, WorkerCalls>> | undefined;
  try {
    const rateCounter = createLocalRateCounter(clock);
    const stores = await openStores(options, shutdown, {
      rateCounter,
      onEngineRunning: (isRunning) => tellWorkers((worker) => worker.setEngineRunning(isRunning)),
    });
    const background = await openBackground(options, stores, shutdown);
    const { domains, services } = background;
    const { engine, metrics } = stores;
    const calls: PrimaryCalls = {
      join: () => ({ engineOwnerNode: domains.engineOwner.node, isEngineRunning: engine.isRunning() }),
      getEngineAccess: engine.getAccess,
      addToRate: rateCounter.add,
      findIdleStatus: services.findIdleStatus,
      listSlowQueries: services.listSlowQueries,
      findSqlAccess: services.findSqlAccess,
      cancelStatement: services.cancelStatement,
      listUsageWarnings: domains.usageWarnings.list,
      async listHungWorkers() {
        return workers?.listHung() ?? [];
      },
      async renderMetrics() {
        const others = (workers?.list() ?? []).map((worker) => worker.readMetrics().catch((): MetricValues => []));
        return aggregateMetrics(await Promise.all([metrics.registry.getMetricsAsJSON(), ...others]));
      },
    };
    const started = createWorkers<PrimaryCalls, WorkerCalls>({ count: config.workers, calls, clock, log });
    workers = started;
    shutdown.add('requests', STOP_MS.requests, () =>
      Promise.all([started.close(MAX_WORKER_STOP_MS), background.close()]),
    );
    const addresses = await started.start();
    await background.start();
    return {
      ...addresses,
      domains,
      reconciliation: services,
      toggleDebug: () => tellWorkers((worker) => worker.toggleDebug()),
      close: shutdown.run,
    };
  } catch (error) {
    // The reason is reported even if closing fails too.
    await shutdown.run().catch(() => {});
    throw error;
  }
}

/** The connection of a worker to the primary process. */
export function joinPrimary({ toggleDebug }: { toggleDebug(): void }) {
  let metrics: (() => Promise<MetricValues>) | undefined;
  let isEngineRunning = false;
  let onEngineStop: (() => void) | undefined;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const calls: WorkerCalls = {
    readMetrics: async () => (await metrics?.()) ?? [],
    setEngineRunning(isRunning) {
      isEngineRunning = isRunning;
      if (!isRunning) onEngineStop?.();
    },
    toggleDebug,
    stop: () => stop(),
    probe() {},
  };
  const primary = openChannel<WorkerCalls, PrimaryCalls & WorkerReports>(toPrimaryPort(), calls);
  return {
    primary,
    /** Resolves when the primary process stops. */
    stopped,
    offerMetrics(read: () => Promise<MetricValues>): void {
      metrics = read;
    },
    setEngineRunning: calls.setEngineRunning,
    /** The queries that may run at the same time are divided among the workers. */
    shareEngine: (workers: number): SharedEngine => ({
      getAccess: primary.getEngineAccess,
      isRunning: () => isEngineRunning,
      onStop(listener) {
        onEngineStop = listener;
      },
      concurrency: Math.max(1, Math.floor(READERS / workers)),
    }),
  };
}

/** Serves requests. Everything else is the work of the primary process. */
export async function startWorker(
  options: Options,
  { primary, offerMetrics, setEngineRunning, shareEngine }: ReturnType<typeof joinPrimary>,
): Promise<Pick<Server, 'close'>> {
  const shutdown = createShutdown(MAX_STOP_MS);
  try {
    const { engineOwnerNode, isEngineRunning } = await primary.join();
    setEngineRunning(isEngineRunning);
    const stores = await openStores(options, shutdown, {
      engine: shareEngine(options.config.workers),
      rateCounter: { add: primary.addToRate },
    });
    const domains = openDomains(options, stores, shutdown, engineOwnerNode);
    // Not spread: the functions of a channel are created when they are read.
    const { findIdleStatus, listSlowQueries, findSqlAccess, cancelStatement } = primary;
    const { listUsageWarnings, listHungWorkers, renderMetrics } = primary;
    const services = { findIdleStatus, listSlowQueries, findSqlAccess, cancelStatement };
    const helpers = { ...services, listUsageWarnings, listHungWorkers, renderMetrics };
    const { listen, close } = await openRequests(options, stores, domains, helpers);
    shutdown.add('requests', STOP_MS.requests, close);
    offerMetrics(() => stores.metrics.registry.getMetricsAsJSON());
    await primary.ready(await listen());
    return { close: shutdown.run };
  } catch (error) {
    await shutdown.run().catch(() => {});
    throw error;
  }
}
