import type { Logger } from 'pino';
import type { OpenFiles } from '../kernel/open-files.ts';
import { type Clock, SECOND_MS } from '../kernel/time/clock.ts';
import { createServiceLoadMetrics } from '../observability/own-telemetry/service-load.ts';
import { readDirectoryName } from '../platform/engine/directory-id.ts';
import type { AttemptLimit } from '../platform/http/limits/attempt-limit.ts';
import type { State } from '../platform/state/state.ts';
import type { Certificate } from '../platform/tls/certificate.ts';
import { createAutoscaler } from '../running/autoscaling/autoscaler.ts';
import { createLoadRecorder } from '../running/autoscaling/load-recorder.ts';
import { createProxy } from '../running/proxy/proxy.ts';
import { createEndpoints } from '../running/reconciliation/endpoints.ts';
import { createServiceMetering } from '../running/reconciliation/metering.ts';
import { createPorts } from '../running/reconciliation/ports.ts';
import { createReconciler } from '../running/reconciliation/reconciler.ts';
import { listJobs, SERVICE_JOBS } from './background-jobs.ts';
import type { Domains } from './domains.ts';
import { createDrivers } from './drivers.ts';
import { createServiceBackups } from './service-backups.ts';
import type { Config } from './settings/config.ts';

interface Options {
  config: Config;
  /** Of this node: storages of other organizations compare it with theirs. Work on services uses that of the store. */
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  state: State;
  domains: Domains;
  /** Shared with the API. */
  attempts: AttemptLimit;
  openFiles: OpenFiles;
  certificate: Certificate | undefined;
  isDemo: boolean;
}

/** Any free port for HTTP means any free port for the native protocol too. */
function listPortRanges({ endpointPorts: http, nativePorts }: Config) {
  if (nativePorts === 'off') return { http };
  return { http, native: http.first === 0 ? http : nativePorts };
}

/** Of the time that a shutdown may take. */
const DRAIN_MS = 8 * SECOND_MS;

export type RunningServices = ReturnType<typeof createRunningServices>;

/** The services of this process with everything that works on them in the background. */
export function createRunningServices(options: Options) {
  const { config, clock: nodeClock, log, state, domains, attempts, openFiles, certificate, isDemo } = options;
  const { clock } = state;
  const { drivenServices: services, intake, loadHistory, organizations } = domains;
  const { host, drift: onDrift } = config;
  const serviceBackups = createServiceBackups({ config, clock: nodeClock, log, state, domains });
  const drivers = createDrivers({
    services,
    config,
    clock,
    log,
    restore: serviceBackups.restore,
    onChange: (serviceId) => void reconciler.check(serviceId),
  });
  const proxy = createProxy({
    ...config,
    clock,
    log,
    attempts,
    openFiles,
    certificate,
    // The passwords of the demo are public.
    isLoopbackOnly: isDemo,
    wake: (serviceId, cause) => reconciler.wake(serviceId, cause),
  });
  const ports = createPorts({
    state,
    getState: (serviceId) => reconciler.getState(serviceId),
    ranges: listPortRanges(config),
  });
  const endpoints = createEndpoints({
    proxy,
    host,
    ports,
    cert: certificate?.options.cert,
    publicUrl: config.publicUrl,
  });
  const findSession = (serviceId: string) => reconciler.findSession(serviceId);
  const metering = createServiceMetering({
    state,
    intake,
    log,
    countBackupBytes: (serviceId) => backups.countBytes(serviceId),
    countSentBytes: (serviceId) => endpoints.getTraffic(serviceId)?.sentBytes,
    findSession,
  });
  const loadMetrics = createServiceLoadMetrics({ engine: domains.engine, log });
  const loads = createLoadRecorder({ loadHistory, onRecorded: loadMetrics.write, clock, log, findSession });
  const reconciler = createReconciler({
    state,
    services,
    drivers,
    endpoints,
    log,
    onDrift,
    directoryId: readDirectoryName(config.dataDirectory),
    onObserved(service, observed) {
      metering.observed(service, observed);
      loads.observed(service, observed, endpoints.getTraffic(service.id)?.running);
    },
    onReleased(serviceId) {
      metering.released(serviceId);
      void loads.released(serviceId);
    },
  });
  const { isResponsible, leases } = reconciler;
  const autoscaler = createAutoscaler({ state, services, organizations, log, findSession, lease: leases.shared });
  const backups = serviceBackups.createWork(reconciler);
  let closing: Promise<void> | undefined;

  /** Ends the queries in flight, the work and the processes. The last usage is stored while everything is still open. */
  async function closeAll(): Promise<void> {
    await autoscaler.close();
    await backups.close();
    await endpoints.drain(DRAIN_MS);
    await metering.close();
    await endpoints.closeAll();
    await loads.close();
    await reconciler.close();
    await Promise.all(Object.values(drivers).map((driver) => driver.close()));
  }

  return {
    findIdleStatus: reconciler.findIdleStatus,
    listSlowQueries: reconciler.listSlowQueries,
    /** Undefined if this process does not run the service. */
    findSqlAccess: async (serviceId: string) => (isResponsible(serviceId) ? proxy.findSqlAccess(serviceId) : undefined),
    cancelStatement: proxy.cancelStatement,
    isRunning: isResponsible,
    flushUsage: metering.flush,
    settleBackups: backups.settleAll,
    /** For tests. */
    async settleSizes(): Promise<void> {
      await autoscaler.evaluate();
      await loads.flush();
    },

    async start(): Promise<void> {
      const jobs = { reconciliation: reconciler, usage: metering, load: loads, autoscaling: autoscaler, backups };
      for (const job of listJobs(SERVICE_JOBS, jobs)) await job.start();
    },

    close(): Promise<void> {
      closing ??= closeAll();
      return closing;
    },
  };
}
