import type { Logger } from 'pino';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Intake } from '../../management/billing/metering/intake.ts';
import type { DrivenServices } from '../../management/services/driven-services.ts';
import type { DriverName, Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { State } from '../../platform/state/state.ts';
import { createProxy, type ProxyOptions } from '../proxy/proxy.ts';
import { createEndpoints } from './endpoints.ts';
import { createServiceMetering } from './metering.ts';
import { createPorts, type PortRange } from './ports.ts';
import { type ConfiguredDriver, createReconciler } from './reconciler.ts';

interface Options {
  state: State;
  services: DrivenServices;
  intake: Intake;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  attempts: ProxyOptions['attempts'];
  /** Endpoints accept only requests for a loopback name: the passwords of the demo are public. */
  isLoopbackOnly: boolean;
  /** Those that this installation can use. `onChange` is to be called when the process of a service has ended. */
  createDrivers(onChange: (serviceId: string) => void): Partial<Record<DriverName, ConfiguredDriver>>;
  directoryId: string;
  host: string;
  endpointPorts: PortRange;
  drift: 'correct' | 'adopt';
  ignoredAgents: readonly string[];
  ignoredStatements: readonly string[];
  /** `queries`: how many are running. */
  onObserved(service: Readonly<Service>, observed: Observed, queries: number | undefined): void;
  onReleased(serviceId: string): void;
}

/** Of the time that a shutdown may take. */
const DRAIN_MS = 8 * SECOND_MS;

/** Everything that makes services run: their drivers, their endpoints, the reconciler and the meters. */
export function createReconciliation(options: Options) {
  const { state, services, intake, clock, log, attempts, directoryId, host, endpointPorts, drift } = options;
  const { ignoredAgents, ignoredStatements, createDrivers, onObserved, onReleased } = options;
  const drivers = createDrivers((serviceId) => void reconciler.check(serviceId));
  const proxy = createProxy({
    clock,
    log,
    host,
    attempts,
    ignoredAgents,
    ignoredStatements,
    isLoopbackOnly: options.isLoopbackOnly,
    wake: (serviceId, { address, userAgent, kind, at }) =>
      reconciler.wake(serviceId, { at, cause: 'query', address, userAgent, statement: kind }),
  });
  const ports = createPorts({ state, range: endpointPorts });
  const endpoints = createEndpoints({ proxy, host, ports });
  const metering = createServiceMetering({
    state,
    intake,
    clock,
    log,
    countSentBytes: (id) => endpoints.getTraffic(id)?.sentBytes,
    holdsLease: (id) => reconciler.holdsLease(id),
  });
  const reconciler = createReconciler({
    state,
    services,
    drivers,
    endpoints,
    clock,
    log,
    onDrift: drift,
    directoryId,
    onObserved(service, observed) {
      metering.observed(service, observed);
      onObserved(service, observed, endpoints.getTraffic(service.id)?.running);
    },
    onReleased(serviceId) {
      metering.released(serviceId);
      onReleased(serviceId);
    },
  });

  return {
    findIdleStatus: reconciler.findIdleStatus,
    isResponsible: reconciler.isResponsible,
    /** Looks at the service now instead of after its pause. */
    check: reconciler.check,
    flushUsage: metering.flush,

    async start(): Promise<void> {
      await ports.adopt(await services.listStoredPorts());
      await reconciler.start();
      metering.start();
    },

    /** Ends the queries in flight, the work and the processes. The last usage is stored while everything is still open. */
    async close(): Promise<void> {
      await endpoints.drain(DRAIN_MS);
      await metering.close();
      await endpoints.closeAll();
      await reconciler.close();
      await Promise.all(Object.values(drivers).map((driver) => driver.close()));
    },
  };
}
