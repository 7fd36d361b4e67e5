import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createTimeOrderedIds } from '../../kernel/ids.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Organization } from '../../management/organizations/organization.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import type { DrivenServices } from '../../management/services/driven-services.ts';
import type { Service } from '../../management/services/service.ts';
import { getAutoscalerMode } from '../../management/services/settings/settings.ts';
import type { LeaseHandle } from '../../platform/leases/lease.ts';
import type { LeasedState, LeaseSession } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import { decideFromSummary } from './decide.ts';
import type { Decision } from './decision.ts';
import { HORIZONTAL_EVERY_MINUTES } from './horizontal.ts';
import { HISTORY_MINUTES, type LoadSummary, toMinute } from './load.ts';
import { isRepetition, type StoredDecision } from './recorded-decision.ts';
import { createRunningSummary } from './running-summary.ts';
import { getSizeLimits, getSizes } from './sizes.ts';
import { deleteOldRows, findLastDecision, insertDecision, listRecentSamples } from './store.ts';

const KEPT_MS = 90 * DAY_MS;
const ACTOR: Actor = { type: 'system', id: 'autoscaler', details: 'pilothouse autoscaler' };

interface Options {
  state: Pick<State, 'db' | 'clock'>;
  services: DrivenServices;
  organizations: Organizations;
  log: Pick<Logger, 'warn'>;
  /** Under which a service is evaluated; undefined if another process is responsible for it. */
  findSession(serviceId: string): LeaseSession | undefined;
  /** Of the process that deletes what is old. */
  lease: Pick<LeaseHandle, 'getSession'>;
}

/** What is known about a service between two passes. */
interface Tracked {
  /** Another process may have decided since an earlier session. */
  session: LeaseSession;
  load: ReturnType<typeof createRunningSummary>;
  last: StoredDecision | undefined;
  lastChangeAt: number | undefined;
  /** The ten minutes in which a decision in horizontal mode was made last. */
  evaluatedSlot: number | undefined;
  evaluatedOutOfMemory: number | undefined;
}

/**
 * Evaluates every running service that is not simulated once a minute, stores the decisions that change or recommend
 * something, and resizes services in mode `apply`. Keeps the load of 30 hours in memory, so a pass reads new samples only.
 */
export function createAutoscaler({ state, services, organizations, log, findSession, lease }: Options) {
  const { clock } = state;
  const tracked = new Map<string, Tracked>();
  const nextId = createTimeOrderedIds();
  let deletedAt = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    for (const [id, { session }] of tracked) if (findSession(id) !== session) tracked.delete(id);
    const owned = (await services.list()).filter(({ id }) => findSession(id) !== undefined);
    const known = new Set(owned.map(({ id }) => id));
    for (const id of tracked.keys()) if (!known.has(id)) tracked.delete(id);
    for (const organizationId of new Set(owned.map((service) => service.organizationId))) {
      const organization = await organizations.find(state.db, organizationId);
      const ids = owned.filter((service) => service.organizationId === organizationId).map(({ id }) => id);
      if (organization) await evaluateOrganization(organization, ids);
    }
    await deleteOld(lease.getSession()?.state);
  }

  async function evaluateOrganization(organization: Organization, ids: string[]): Promise<void> {
    await addNewSamples(organization.id, ids);
    for (const id of ids) {
      try {
        const service = await services.find(organization.id, id);
        if (service) await evaluate(organization, service);
      } catch (error) {
        log.warn({ err: error, serviceId: id }, 'failed to evaluate the size of a service');
      }
      // Let requests run.
      await setImmediate();
    }
  }

  /** Reads the last minutes of the services that are known, and 30 hours of the others. */
  async function addNewSamples(organizationId: string, ids: string[]): Promise<void> {
    const oldest = clock.now() - HISTORY_MINUTES * MINUTE_MS;
    const added = ids.filter((id) => !tracked.has(id));
    const recent = ids.filter((id) => tracked.has(id));
    for (const id of added) {
      const session = findSession(id);
      if (session) tracked.set(id, await track(session, organizationId, id));
    }
    const lastMinutes = recent.map((id) => tracked.get(id)?.load.getLastMinute() ?? 0);
    const since = Math.max(oldest, Math.min(...lastMinutes, toMinute(clock.now())) * MINUTE_MS);
    for (const [from, wanted] of [
      [oldest, added],
      [since, recent],
    ] as const) {
      if (wanted.length === 0) continue;
      for (const [id, samples] of await listRecentSamples(state.db, organizationId, wanted, from))
        for (const sample of samples) tracked.get(id)?.load.add(sample);
    }
  }

  async function track(session: LeaseSession, organizationId: string, id: string): Promise<Tracked> {
    const applied = await findLastDecision(state.db, organizationId, id, { isApplied: true });
    return {
      session,
      load: createRunningSummary(),
      last: await findLastDecision(state.db, organizationId, id),
      lastChangeAt: applied?.at,
      evaluatedSlot: undefined,
      evaluatedOutOfMemory: undefined,
    };
  }

  async function evaluate(organization: Organization, service: Readonly<Service>): Promise<void> {
    const known = tracked.get(service.id);
    const mode = getAutoscalerMode(service);
    if (!known || mode === 'off' || service.desiredState !== 'running' || service.observed.state !== 'running') return;
    const now = clock.now();
    const { limits } = getSizeLimits(service, organization, now);
    const load = known.load.summarize(now);
    if (limits.mode === 'horizontal' && !isDue(known, load, now)) return;
    const input = { ...getSizes(service, now), limits, lastChangeAt: known.lastChangeAt };
    const decision = decideFromSummary(load, input, now);
    // A recommendation that no longer stands may be made again later.
    if (decision.action === 'none') known.last = undefined;
    else if (mode === 'apply') await apply(service, decision, known);
    else if (!isRepetition(decision, known.last)) await store(service, decision, known, false);
  }

  async function apply(service: Readonly<Service>, decision: Decision, known: Tracked): Promise<void> {
    // A change while the last one is still being made would overtake it.
    if (service.observed.isResizing || service.observed.inFlight) return;
    await services
      .under(known.session.state)
      .resize(ACTOR, service.organizationId, service.id, decision.to, decision.reason);
    known.lastChangeAt = decision.at;
    await store(service, decision, known, true);
  }

  async function store(service: Readonly<Service>, decision: Decision, known: Tracked, isApplied: boolean) {
    const stored: StoredDecision = { ...decision, id: nextId(decision.at), isApplied };
    await known.session.state.write((tx) => insertDecision(tx, service.organizationId, service.id, stored));
    known.last = stored;
  }

  async function deleteOld(leased: LeasedState | undefined): Promise<void> {
    const now = clock.monotonicMs();
    if (!leased || now - deletedAt < HOUR_MS) return;
    deletedAt = now;
    await leased.write((tx) => deleteOldRows(tx, clock.now() - KEPT_MS));
  }

  const loop = createBackgroundLoop({
    run,
    everyMs: MINUTE_MS,
    onError: (error) => log.warn({ err: error }, 'failed to evaluate the sizes of services'),
  });

  return {
    start: loop.start,
    close: loop.close,
    /** Evaluates all services now. */
    evaluate: loop.trigger,
  };
}

/** Once in ten minutes, and at once after a query failed for lack of memory. Remembers the evaluation. */
function isDue(known: Tracked, { outOfMemoryMinute }: LoadSummary, now: number): boolean {
  const slot = Math.floor(toMinute(now) / HORIZONTAL_EVERY_MINUTES);
  const isNew = outOfMemoryMinute !== undefined && outOfMemoryMinute !== known.evaluatedOutOfMemory;
  if (slot === known.evaluatedSlot && !isNew) return false;
  known.evaluatedSlot = slot;
  known.evaluatedOutOfMemory = outOfMemoryMinute;
  return true;
}
