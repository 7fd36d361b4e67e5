import type { Logger } from 'pino';
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
import type { Domains } from './domains.ts';
import { createDrivers } from './drivers.ts';
import { createServiceBackups } from './service-backups.ts';
import type { Config } from './settings/config.ts';

interface Options {
  config: Config;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  state: State;
  domains: Domains;
  /** Shared with the API. */
  attempts: AttemptLimit;
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
export function createRunningServices({ config, clock, log, state, domains, attempts, certificate, isDemo }: Options) {
  const { drivenServices: services, intake, loadHistory, organizations } = domains;
  const { host, drift: onDrift } = config;
  const serviceBackups = createServiceBackups({ config, clock, log, state, domains });
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
    certificate,
    // The passwords of the demo are public.
    isLoopbackOnly: isDemo,
    wake: (serviceId, cause) => reconciler.wake(serviceId, cause),
  });
  const ports = createPorts({ state, ranges: listPortRanges(config) });
  const endpoints = createEndpoints({
    proxy,
    host,
    ports,
    cert: certificate?.options.cert,
    publicUrl: config.publicUrl,
  });
  const metering = createServiceMetering({
    state,
    intake,
    clock,
    log,
    countBackupBytes: (serviceId) => backups.countBytes(serviceId),
    countSentBytes: (serviceId) => endpoints.getTraffic(serviceId)?.sentBytes,
    holdsLease: (serviceId) => reconciler.holdsLease(serviceId),
  });
  const loadMetrics = createServiceLoadMetrics({ engine: domains.engine, log });
  const loads = createLoadRecorder({ loadHistory, onRecorded: loadMetrics.write, clock, log });
  const reconciler = createReconciler({
    state,
    services,
    drivers,
    endpoints,
    clock,
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
  const { isResponsible } = reconciler;
  const autoscaler = createAutoscaler({ state, services, organizations, clock, log, isResponsible });
  const backups = serviceBackups.createWork(reconciler);
  let closing: Promise<void> | undefined;

  /** Ends the queries in flight, the work and the processes. The last usage is stored while everything is still open. */
  async function closeAll(): Promise<void> {
    await autoscaler.close();
    await backups.close();
    await endpoints.drain(DRAIN_MS);
    await metering.close();
    await endpoints.closeAll();
    await reconciler.close();
    await Promise.all(Object.values(drivers).map((driver) => driver.close()));
    await loads.close();
  }

  return {
    findIdleStatus: reconciler.findIdleStatus,
    listSlowQueries: reconciler.listSlowQueries,
    /** Undefined if this process does not run the service. */
    findSqlAccess: async (serviceId: string) => (isResponsible(serviceId) ? proxy.findSqlAccess(serviceId) : undefined),
    cancelStatement: proxy.cancelStatement,
    flushUsage: metering.flush,
    settleBackups: backups.settleAll,

    async start(): Promise<void> {
      await reconciler.start();
      metering.start();
      loads.start();
      autoscaler.start();
      backups.start();
    },

    close(): Promise<void> {
      closing ??= closeAll();
      return closing;
    },
  };
}
