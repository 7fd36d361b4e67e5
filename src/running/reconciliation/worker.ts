import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { DrivenServices } from '../../management/services/driven-services.ts';
import type { Desired, Driver, Observation, Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { checkClaims, toCurrent } from './checked-observation.ts';
import { listDifferences, toDesired, toDrivenService } from './desired.ts';
import { findDrift } from './drift.ts';
import type { Endpoints } from './endpoints.ts';
import { toFailure, toObservation, toTransition } from './observation.ts';

export const RECONCILER: Actor = { type: 'system', id: 'reconciler', details: 'Reconciler' };

/** The result of one step. */
export interface Step {
  service: Readonly<Service>;
  observed: Observed | undefined;
  isReached: boolean;
  /** Why the step failed. */
  failure?: AppError;
}

interface Options {
  driver: Driver;
  services: DrivenServices;
  endpoints: Endpoints;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  onDrift: 'correct' | 'adopt';
  /** False: another process has taken over, and this one must not write any more. */
  holdsLease(): Promise<boolean>;
}

const OBSERVE_MS = 10 * SECOND_MS;
const CONVERGE_MS = 120 * SECOND_MS;
/** How long queries may take to finish before a restart of their service. */
const DRAIN_MS = 30 * SECOND_MS;

/** Moves one service towards its desired state. The caller runs one step of a service at a time. */
export function createWorker({ driver, services, endpoints, clock, log, onDrift, holdsLease }: Options) {
  async function step(service: Readonly<Service>, signal: AbortSignal): Promise<Step> {
    const desired = toDesired(service, driver, clock.now());
    try {
      return await approach(service, desired, signal);
    } catch (error) {
      const failure = toFailureError(error);
      // The control plane is stopping, or another one has taken over: the service is not to blame.
      if (signal.aborted) return { service, observed: undefined, isReached: false, failure };
      if (!(error instanceof AppError))
        log.warn({ serviceId: service.id, err: error }, 'failed to reconcile a service');
      const attempt = getAttempt(service, desired) + 1;
      const toNext = (before: Observation) => toFailure(before, desired, failure.message, attempt, clock.now());
      return { service: await store(service, toNext), observed: undefined, isReached: false, failure };
    }
  }

  async function approach(service: Readonly<Service>, desired: Desired, signal: AbortSignal): Promise<Step> {
    /** As last stored. */
    let current = service;
    const endpoint = await openEndpoint(service, desired);
    let observed = await observe(service, signal);
    // Not `unavailable`: queries that wait for the service are told at once.
    if (observed.obstacle !== undefined && desired.state === 'running')
      throw new AppError('conflict', observed.obstacle);
    if (listDifferences(observed, desired).length > 0) {
      const drift = findDrift(service, observed, desired);
      if (drift && onDrift === 'adopt' && (await adopt(service, observed, drift))) return again(service, observed);
      // What ended the service is recorded before it starts again.
      if (observed.state === 'degraded')
        current = await publish(current, (before) => toObservation(before, observed, desired, clock.now()));
      current = await publish(current, (before) => ({
        ...toTransition(before, observed, desired, clock.now()),
        ...(drift ? { drift: { since: clock.now(), text: drift } } : undefined),
        // Queries may arrive from now on; they wait.
        ...(endpoint ? { endpoint } : undefined),
      }));
      observed = await change(service, observed, desired, signal);
    }
    observed = toCurrent(observed, desired);
    endpoints.setUpstream(service.id, toUpstream(observed));
    const isReached = listDifferences(observed, desired).length === 0;
    const opened = endpoint ?? (observed.upstream && (await endpoints.follow(service, observed)));
    if (opened) endpoints.setUpstream(service.id, toUpstream(observed));
    current = await publish(
      current,
      (before) => ({
        ...toObservation(before, observed, desired, clock.now()),
        ...(opened ? { endpoint: opened } : undefined),
      }),
      isReached ? desired.generation : undefined,
    );
    return { service: current, observed, isReached };
  }

  /** A service can be stopped even if its port cannot be opened. */
  const openEndpoint = (service: Readonly<Service>, { state }: Desired) =>
    endpoints.follow(service, undefined).catch((error: unknown) => {
      if (state !== 'stopped') throw error;
      return undefined;
    });

  const observe = (service: Readonly<Service>, signal: AbortSignal): Promise<Observed> =>
    within(OBSERVE_MS, 'did not report its state', signal, (limited) =>
      driver.observe(toDrivenService(service), limited),
    ).then(checkClaims);

  async function change(
    service: Readonly<Service>,
    before: Observed,
    desired: Desired,
    signal: AbortSignal,
  ): Promise<Observed> {
    // Also a service that did not answer in time has queries. It is left alone if its size is right.
    const isRestarted = desired.state !== 'running' || before.memoryGb !== desired.memoryGb;
    const isInterrupted = driver.isInterruptedByResize && before.upstream !== undefined && isRestarted;
    if (isInterrupted) await endpoints.hold(service.id, DRAIN_MS);
    try {
      if (isInterrupted) endpoints.setUpstream(service.id, undefined);
      await within(CONVERGE_MS, 'did not accept the change', signal, (limited) =>
        driver.converge(toDrivenService(service), desired, limited),
      );
      const after = await observe(service, signal);
      endpoints.setUpstream(service.id, toUpstream(after));
      return after;
    } finally {
      if (isInterrupted) endpoints.release(service.id);
    }
  }

  /** Takes over what was changed outside. False if nothing of it can be taken over. */
  async function adopt(service: Readonly<Service>, observed: Observed, drift: string): Promise<boolean> {
    const { memoryGb, replicas } = observed;
    if (observed.state !== 'running' || memoryGb === undefined || replicas === undefined) return false;
    const { id, organizationId, size, generation } = service;
    const after = await services.resize(RECONCILER, organizationId, id, { memoryGb, replicas }, `Adopted: ${drift}`);
    return after.generation !== generation || size?.memoryGb !== memoryGb || size.replicas !== replicas;
  }

  const again = (service: Readonly<Service>, observed: Observed): Step => ({ service, observed, isReached: false });

  /** Stores an observation if it differs from the stored one. */
  async function publish(
    service: Readonly<Service>,
    toNext: (before: Observation) => Observation,
    settledGeneration?: number,
  ): Promise<Readonly<Service>> {
    const isNewlySettled = settledGeneration !== undefined && service.settledGeneration !== settledGeneration;
    if (isDeepStrictEqual(toNext(service.observed), service.observed) && !isNewlySettled) return service;
    return store(service, toNext, settledGeneration);
  }

  /** Stores an observation. A change of the state is an activity. */
  async function store(
    service: Readonly<Service>,
    toNext: (before: Observation) => Observation,
    settledGeneration?: number,
  ): Promise<Readonly<Service>> {
    if (!(await holdsLease())) return service;
    const stored = await services.observed(RECONCILER, service, ({ observed: before, generation }) => {
      // A command since then has set the state that clients see; the next step is about that command.
      if (generation !== service.generation) return { observed: before };
      const observed = toNext(before);
      return { observed, settledGeneration, activities: listActivities(before, observed) };
    });
    // Undefined: deleted meanwhile. The generation stays that of this step.
    return stored ? { ...stored, generation: service.generation } : service;
  }

  return { step };
}

/** Drivers report where to send queries only while the service can answer them, even if it is slow to. */
const toUpstream = ({ state, upstream }: Observed) => (STOPPED.includes(state) ? undefined : upstream);

const STOPPED: readonly Observed['state'][] = ['idle', 'stopping', 'stopped', 'deleted'];

const getAttempt = ({ observed }: Readonly<Service>, { generation }: Desired): number =>
  observed.inFlight?.generation === generation ? observed.inFlight.attempt : 0;

function listActivities(before: Observation, after: Observation) {
  const toShown = ({ state, isResizing }: Observation) => (isResizing ? 'resizing' : state);
  const [from, to] = [toShown(before), toShown(after)];
  const drift = after.drift && !before.drift ? [{ type: 'service_drift', after: after.drift } as const] : [];
  if (from === to) return drift;
  const reason = after.reason === undefined ? undefined : { reason: after.reason };
  const change = { type: 'service_state_change', before: { state: from }, after: { state: to, ...reason } } as const;
  return [...drift, change];
}

async function within<T>(
  ms: number,
  text: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms);
  const ended = new Promise<never>((_resolve, reject) => {
    const abort = () => reject(new AppError('unavailable', `The driver ${text} within ${ms / SECOND_MS} seconds`));
    timeout.addEventListener('abort', abort, { once: true });
  });
  return Promise.race([work(AbortSignal.any([timeout, signal])), ended]);
}

const toFailureError = (error: unknown): AppError =>
  error instanceof AppError ? error : new AppError('unavailable', 'The driver failed; the server log has the reason');
