import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { AppError } from '../../kernel/errors.ts';
import { type Clock, SECOND_MS } from '../../kernel/time/clock.ts';
import { RECONCILER, type ServiceChanges } from '../../management/services/driven-services.ts';
import type { Desired, DrivenService, Driver, Observation, Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import type { LeaseSession } from '../../platform/leases/session.ts';
import { checkClaims, toCurrent } from './checked-observation.ts';
import { findDrift, listDifferences, toDesired, toDrivenService } from './desired.ts';
import type { Endpoints } from './endpoints.ts';
import { listActivities, toFailure, toObservation, toTransition } from './observation.ts';

/** The result of one step. */
export interface Step {
  service: Readonly<Service>;
  observed: Observed | undefined;
  /** When, by the monotonic clock. Before the result is stored: clients may see it while the store still confirms it. */
  observedMs: number;
  isReached: boolean;
  /** Why the step failed. */
  failure?: AppError;
}

export interface StepContext {
  driver: Driver;
  services: Pick<ServiceChanges, 'observed' | 'ownsResource' | 'resize'>;
  endpoints: Endpoints;
  /** Of the store. */
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  onDrift: 'correct' | 'adopt';
  /** When it has ended, another process may have taken over. */
  session: LeaseSession;
}

const NOT_OWNED =
  'Its resource belongs to another service, which drives it; delete this service, or give it another resource in the fleet file';
const OBSERVE_MS = 10 * SECOND_MS;
const CONVERGE_MS = 120 * SECOND_MS;
/** How long queries may take to finish before a restart of their service. */
const DRAIN_MS = 30 * SECOND_MS;

/** Moves one service towards its desired state. The caller runs one step of a service at a time. */
export async function runStep(context: StepContext, service: Readonly<Service>, signal: AbortSignal): Promise<Step> {
  const { driver, services, endpoints, clock, log } = context;
  const { id } = service;
  const desired = toDesired(service, clock.now());
  const driven = toDrivenService(service);
  /** As last stored. */
  let current = service;

  async function converge(): Promise<Step> {
    if (!(await services.ownsResource(service))) throw new AppError('conflict', NOT_OWNED);
    const endpoint = await openEndpoint();
    let observed = await observe();
    // Not `unavailable`: queries that wait for the service fail at once.
    if (observed.obstacle !== undefined && desired.state === 'running')
      throw new AppError('conflict', observed.obstacle);
    if (listDifferences(observed, desired).length > 0) {
      const drift = findDrift(service, observed, desired);
      if (drift && context.onDrift === 'adopt' && (await adopt(observed, drift))) return notReached(observed);
      // What ended the service is recorded before it starts again.
      if (observed.state === 'degraded')
        await publish((before) => toObservation(before, observed, desired, clock.now()));
      await publish((before) => ({
        ...toTransition(before, observed, desired, clock.now()),
        ...(drift ? { drift: { since: clock.now(), text: drift } } : undefined),
        // Queries may arrive from now on; they wait.
        ...(endpoint ? { endpoint } : undefined),
      }));
      observed = await change(observed);
    }
    const observedMs = clock.monotonicMs();
    observed = toCurrent(observed, desired);
    endpoints.setUpstream(id, toUpstream(observed));
    const isReached = listDifferences(observed, desired).length === 0;
    const opened = endpoint ?? (observed.upstream && (await endpoints.open(service, observed)));
    if (opened) endpoints.setUpstream(id, toUpstream(observed));
    await publish(
      (before) => ({
        ...toObservation(before, observed, desired, clock.now()),
        ...(opened ? { endpoint: opened } : undefined),
      }),
      isReached ? desired.generation : undefined,
    );
    return { service: current, observed, observedMs, isReached };
  }

  /** A service can be stopped even if its port cannot be opened. */
  const openEndpoint = () =>
    endpoints.open(service, undefined).catch((error: unknown) => {
      if (desired.state !== 'stopped') throw error;
      return undefined;
    });

  const observe = (): Promise<Observed> =>
    within(OBSERVE_MS, 'did not report its state', signal, (limited) => driver.observe(driven, limited)).then(
      checkClaims,
    );

  async function change(before: Observed): Promise<Observed> {
    // Also a service that did not answer in time has queries. It is not restarted if its size is correct.
    const isRestarted = desired.state !== 'running' || before.memoryGb !== desired.memoryGb;
    const isInterrupted = driver.isInterruptedByResize && before.upstream !== undefined && isRestarted;
    if (isInterrupted) await endpoints.hold(id, DRAIN_MS);
    try {
      if (isInterrupted) endpoints.setUpstream(id, undefined);
      await callConverge(driver, driven, desired, signal);
      const after = await observe();
      endpoints.setUpstream(id, toUpstream(after));
      return after;
    } finally {
      if (isInterrupted) endpoints.release(id);
    }
  }

  /** Adopts changes made outside Pilothouse. False if none of them can be adopted. */
  async function adopt({ state, memoryGb, replicas }: Observed, drift: string): Promise<boolean> {
    if (state !== 'running' || memoryGb === undefined || replicas === undefined) return false;
    const { organizationId, size, generation } = service;
    const after = await services.resize(RECONCILER, organizationId, id, { memoryGb, replicas }, `Adopted: ${drift}`);
    return after.generation !== generation || size?.memoryGb !== memoryGb || size.replicas !== replicas;
  }

  const notReached = (observed: Observed | undefined): Step => ({
    service: current,
    observed,
    observedMs: clock.monotonicMs(),
    isReached: false,
  });

  /** Stores an observation if it differs from the stored one. */
  async function publish(toNext: (before: Observation) => Observation, settledGeneration?: number): Promise<void> {
    const isNewlySettled = settledGeneration !== undefined && current.settledGeneration !== settledGeneration;
    if (isDeepStrictEqual(toNext(current.observed), current.observed) && !isNewlySettled) return;
    await store(toNext, settledGeneration);
  }

  /** Stores an observation. A change of the state is an activity. */
  async function store(toNext: (before: Observation) => Observation, settledGeneration?: number): Promise<void> {
    if (!(await context.session.confirm())) return;
    const stored = await services.observed(service, ({ observed: before, generation }) => {
      // A command since then has set the state that clients see; the next step is about that command.
      if (generation !== service.generation) return { observed: before };
      const observed = toNext(before);
      return { observed, settledGeneration, activities: listActivities(before, observed) };
    });
    // Undefined: deleted meanwhile. The generation stays that of this step.
    if (stored) current = { ...stored, generation: service.generation };
  }

  try {
    return await converge();
  } catch (error) {
    const failure = toFailureError(error);
    // The control plane is stopping, or another one has taken over: the service did not fail.
    if (signal.aborted) return { ...notReached(undefined), failure };
    if (!(error instanceof AppError)) log.warn({ serviceId: id, err: error }, 'failed to reconcile a service');
    const { inFlight } = service.observed;
    const attempt = (inFlight?.generation === desired.generation ? inFlight.attempt : 0) + 1;
    await store((before) => toFailure(before, desired, failure.message, attempt, clock.now()));
    return { ...notReached(undefined), failure };
  }
}

/** A driver may hang. */
export const callConverge = (driver: Driver, service: DrivenService, desired: Desired, signal: AbortSignal) =>
  within(CONVERGE_MS, 'did not accept the change', signal, (limited) => driver.converge(service, desired, limited));

/** Drivers report where to send queries only while the service can answer them, even if it is slow to. */
const toUpstream = ({ state, upstream }: Observed) => (STOPPED.includes(state) ? undefined : upstream);

const STOPPED: readonly Observed['state'][] = ['idle', 'stopping', 'stopped', 'deleted'];

/** Also ends at once when `signal` is aborted. */
async function within<T>(
  ms: number,
  text: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => {
    limit.abort(new AppError('unavailable', `The driver ${text} within ${ms / SECOND_MS} seconds`));
  }, ms).unref();
  const limited = AbortSignal.any([limit.signal, signal]);
  try {
    limited.throwIfAborted();
    const aborted = new Promise<never>((_resolve, reject) => {
      limited.addEventListener('abort', () => reject(limited.reason), { once: true });
    });
    return await Promise.race([work(limited), aborted]);
  } finally {
    clearTimeout(timer);
  }
}

const toFailureError = (error: unknown): AppError =>
  error instanceof AppError ? error : new AppError('unavailable', 'The driver failed; the server log has the reason');
