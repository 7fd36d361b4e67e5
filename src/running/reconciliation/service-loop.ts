import { AppError } from '../../kernel/errors.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time/clock.ts';
import type { DrivenId, DrivenServices, ServiceChanges } from '../../management/services/driven-services.ts';
import {
  type BackupAccess,
  DRIVERS,
  type IdleBlocker,
  type Observed,
  type Wake,
} from '../../management/services/driver.ts';
import { getEffectiveScaling } from '../../management/services/scaling/schedule.ts';
import type { Service } from '../../management/services/service.ts';
import { toDrivenService } from './desired.ts';
import { findIdleBlockers } from './idle.ts';
import { runStep, type Step, type StepContext } from './step.ts';

export interface LoopContext extends StepContext {
  services: Pick<DrivenServices, 'find'> & ServiceChanges;
  /** The id of the data directory of this process. */
  directoryId: string;
  /** Limits how many steps run at the same time. */
  takeTurn(step: () => Promise<void>): Promise<void>;
  onObserved(service: Readonly<Service>, observed: Observed): void;
}

/** Also the pause between two observations of a service that does not change. */
const MAX_PAUSE_MS = MINUTE_MS;
const FIRST_RETRY_MS = SECOND_MS;
/** While a driver converges. */
export const PROGRESS_MS = 2 * SECOND_MS;
/** Before a service that is not idle because of a merge or a running query is checked again. */
const BLOCKED_MS = 15 * SECOND_MS;

export type ServiceLoop = ReturnType<typeof createServiceLoop>;

/** Observes one service again and again, moves it towards its desired state and lets it idle. */
export function createServiceLoop(
  context: LoopContext,
  { organizationId, id, driver: driverName }: Omit<DrivenId, 'generation'>,
) {
  const { driver, services, endpoints, clock, log, directoryId, session } = context;
  const closing = new AbortController();
  const { signal } = closing;
  let seenGeneration: number | undefined;
  let last: Step | undefined;
  /** False for a local service whose data is on another node. */
  let isResponsible = false;
  let failures = 0;
  /** The state of the last step, and when this process first saw it, by the monotonic clock. */
  let entered: { state: string; since: number; atMs: number } | undefined;
  /** False after a restart: queries before it are not known, so the service gets its whole timeout again. */
  let isWokenHere = false;
  /** Merges, mutations and backups that kept the service from idling at the last check. */
  let work: IdleBlocker[] = [];
  /** Backups that are about to start, or run by SQL. */
  let backups = 0;

  const loop = createBackgroundLoop({
    run: () => context.takeTurn(run),
    onError(error) {
      log.warn({ serviceId: id, reason: (error as Error).message }, 'failed to store the state of a service');
      loop.schedule(MAX_PAUSE_MS);
    },
  });

  async function run(): Promise<void> {
    const service = await services.find(organizationId, id);
    if (!service || signal.aborted || !(await session.confirm())) return;
    seenGeneration = service.generation;
    isResponsible = await isPlacedHere(service);
    if (!isResponsible) return;
    last = await runStep(context, service, signal);
    failures = last.failure ? failures + 1 : 0;
    const { state, since } = last.service.observed;
    if (entered?.state !== state || entered.since !== since) entered = { state, since, atMs: last.observedMs };
    // After a suspension of this process, another one may have observed the service.
    if (await session.confirm()) context.onObserved(last.service, last.observed ?? { state: 'degraded' });
    loop.schedule(await findPause(last));
  }

  async function isPlacedHere(service: Readonly<Service>): Promise<boolean> {
    if (!DRIVERS[driverName].isLocal) return true;
    return (service.observed.placement ?? (await services.place(service, directoryId))) === directoryId;
  }

  async function findPause({ service, observed, isReached, failure }: Step): Promise<number> {
    work = [];
    if (failure) return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    if (!isReached) return PROGRESS_MS;
    if (observed?.state !== 'running') return MAX_PAUSE_MS;
    return await considerIdling(service);
  }

  /** Lets the service idle if nothing prevents it. Returns when to check again. */
  async function considerIdling(service: Readonly<Service>): Promise<number> {
    if (findBlockers(service).blockers.length === 0) work = await listWork(service);
    // A query may have arrived meanwhile.
    const { blockers, waitMs } = findBlockers(service);
    if (waitMs === undefined) return MAX_PAUSE_MS;
    if (blockers.length + work.length > 0) return Math.min(Math.max(waitMs, BLOCKED_MS), MAX_PAUSE_MS);
    const { idleTimeoutMinutes } = getEffectiveScaling(service, clock.now()).scaling;
    const after = await idle(service, `No queries for ${idleTimeoutMinutes} minutes`);
    return after.generation === service.generation ? MAX_PAUSE_MS : 0;
  }

  /** What the driver and the database say. A service whose use is not known stays as it is. */
  async function listWork(service: Readonly<Service>): Promise<IdleBlocker[]> {
    const { idleTimeoutMinutes } = getEffectiveScaling(service, clock.now()).scaling;
    try {
      const blockers = (await driver.listBlockers?.(id, signal)) ?? [];
      if (blockers.length > 0 || !driver.listUse) return blockers;
      return await driver.listUse(toDrivenService(service), idleTimeoutMinutes * MINUTE_MS, signal);
    } catch (error) {
      return [
        {
          type: 'unknown',
          detail: `The database could not be asked whether it is in use: ${(error as Error).message}`,
        },
      ];
    }
  }

  /** Queries that arrive during the change wait for it. If the service then idles, they wake it. */
  async function idle(service: Readonly<Service>, reason: string): Promise<Readonly<Service>> {
    // No query is running: this takes effect at once.
    await endpoints.hold(id, 0);
    try {
      const after = await services.idle(service, reason);
      if (after.desiredState !== 'running') endpoints.setUpstream(id, undefined);
      endpoints.update(after);
      return after;
    } finally {
      endpoints.release(id);
    }
  }

  /** `waitMs`: until the service may idle; undefined if it never does. */
  function findBlockers(service: Readonly<Service>) {
    const traffic = endpoints.getTraffic(id);
    const nowMs = clock.monotonicMs();
    // After a restart the time is counted from the first step: how long no server ran is not known for certain.
    const runningSinceMs = entered?.atMs ?? nowMs;
    // A command requests a running service; a backup, or a query that does not count as use, only needs it for a moment.
    const { cause = 'command' } = service.observed.lastWake ?? {};
    const isWokenByWork = isWokenHere && cause !== 'command';
    const { blockers, idleAtMs } = findIdleBlockers(
      {
        scaling: getEffectiveScaling(service, clock.now()).scaling,
        canIdle: driver.canIdle(toDrivenService(service)),
        hasEndpoint: traffic !== undefined,
        runningSinceMs,
        requestedMs: isWokenByWork ? undefined : runningSinceMs,
        traffic: traffic ?? { running: 0, waiting: 0 },
      },
      nowMs,
    );
    if (backups > 0) blockers.push({ type: 'backup', detail: 'A backup is in progress' });
    return { blockers, waitMs: idleAtMs === undefined ? undefined : idleAtMs - nowMs };
  }

  /** Keeps the service from idling until the result is called: it may have been without queries for long. */
  function expectBackup(): () => void {
    backups++;
    return () => {
      backups--;
    };
  }

  return {
    driverName,
    /** The generation of the last step. */
    getSeenGeneration: (): number | undefined => seenGeneration,
    trigger: loop.trigger,
    session,
    isResponsible: (): boolean => isResponsible && session.isHeld(),

    getIdleStatus() {
      const running = last?.observed?.state === 'running' ? last.service : undefined;
      const { blockers, waitMs } = running ? findBlockers(running) : { blockers: [], waitMs: undefined };
      const idleAt = waitMs === undefined ? undefined : clock.now() + waitMs;
      return { blockers: [...blockers, ...work], idleAt, traffic: endpoints.getTraffic(id) };
    },

    /** Starts the service for a query or a backup. Throws if it is stopped (`conflict`) or fails to start (`unavailable`). */
    async wake(wake: Wake): Promise<void> {
      const { observed } = await services.wake(organizationId, id, wake);
      // A backup of a service that runs says nothing about its use.
      if (wake.cause === 'query' || observed.lastWake === wake) isWokenHere = true;
      await loop.trigger();
      if (last?.failure) throw new AppError(last.failure.code, last.failure.message, { cause: last.failure });
    },

    expectBackup,

    /** Undefined if SQL cannot reach the service. It does not idle before `close`. */
    openUpstream(): BackupAccess | undefined {
      const upstream = last?.observed?.upstream;
      return upstream && { upstream, close: expectBackup() };
    },

    /** Cancels the running step and waits for its end. */
    close(): Promise<void> {
      closing.abort();
      return loop.close();
    },
  };
}
