import { MINUTE_MS } from '../kernel/clock.ts';
import type { Scaling } from '../services/service.ts';

export const BLOCKER_TYPES = [
  'disabled',
  'driver',
  'new',
  'recent_query',
  'running_query',
  'waiting_query',
  'merge',
  'mutation',
  'backup',
] as const;

/** Why a service is not idle. */
export interface IdleBlocker {
  type: (typeof BLOCKER_TYPES)[number];
  detail: string;
}

interface Traffic {
  running: number;
  waiting: number;
  /** Epoch milliseconds of the last query that counts as use. */
  lastCountedQueryAt?: number | undefined;
}

interface Situation {
  scaling: Pick<Scaling, 'idleScaling' | 'idleTimeoutMinutes'>;
  canIdle: boolean;
  /** When the service became running, in epoch milliseconds. */
  runningSince: number;
  /** When a client last asked for the service to run: created, started or awoken by a command. */
  requestedAt: number;
  traffic: Traffic;
}

/** A query that does not count, such as a health probe, wakes a service, which then runs at least this long. */
const MIN_RUNNING_MS = 10_000;

/** What keeps a running service from idling, as far as its settings and queries tell; and when it may idle at the earliest. */
export function findIdleBlockers(
  situation: Situation,
  now: number,
): { blockers: IdleBlocker[]; idleAt: number | undefined } {
  const { scaling, canIdle, runningSince, requestedAt, traffic } = situation;
  const { idleScaling, idleTimeoutMinutes } = scaling;
  if (!canIdle)
    return { blockers: [{ type: 'driver', detail: 'The driver cannot idle this service' }], idleAt: undefined };
  if (!idleScaling) return { blockers: [{ type: 'disabled', detail: 'idleScaling is false' }], idleAt: undefined };
  const usedAt = Math.max(traffic.lastCountedQueryAt ?? 0, requestedAt);
  const idleAt = Math.max(usedAt + idleTimeoutMinutes * MINUTE_MS, runningSince + MIN_RUNNING_MS);
  const blockers: IdleBlocker[] = [];
  if (traffic.running > 0) blockers.push({ type: 'running_query', detail: `${count(traffic.running)} running` });
  if (traffic.waiting > 0) blockers.push({ type: 'waiting_query', detail: `${count(traffic.waiting)} waiting` });
  if (now < idleAt) blockers.push(formatRecent(situation, now));
  return { blockers, idleAt };
}

const count = (queries: number): string => (queries === 1 ? '1 query is' : `${queries} queries are`);

function formatRecent({ scaling, requestedAt, runningSince, traffic }: Situation, now: number): IdleBlocker {
  const { lastCountedQueryAt = 0 } = traffic;
  const timeout = `the timeout is ${scaling.idleTimeoutMinutes} minutes`;
  const isQuery = lastCountedQueryAt > requestedAt;
  const usedAt = isQuery ? lastCountedQueryAt : requestedAt;
  if (now - usedAt >= scaling.idleTimeoutMinutes * MINUTE_MS)
    return { type: 'new', detail: `The service has been running for ${formatAge(now - runningSince)} only` };
  return isQuery
    ? { type: 'recent_query', detail: `The last query started ${formatAge(now - lastCountedQueryAt)} ago; ${timeout}` }
    : { type: 'new', detail: `The service was started ${formatAge(now - requestedAt)} ago; ${timeout}` };
}

function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.floor(seconds / 60)} minutes`;
}
