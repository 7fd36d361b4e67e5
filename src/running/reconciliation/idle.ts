import { MINUTE_MS } from '../../kernel/time/clock.ts';
import type { IdleBlocker } from '../../management/services/driver.ts';
import type { Scaling } from '../../management/services/service.ts';

interface Traffic {
  running: number;
  waiting: number;
  /** When the last query that counts as use arrived. */
  lastCountedQueryMs?: number | undefined;
}

/** All times are those of the monotonic clock, in milliseconds: a change of the system clock idles no service. */
interface Situation {
  scaling: Pick<Scaling, 'idleScaling' | 'idleTimeoutMinutes'>;
  canIdle: boolean;
  /** Without one, its queries cannot be seen and cannot wake it. */
  hasEndpoint?: boolean;
  /** When the service became running. */
  runningSinceMs: number;
  /** When a client last created, started or woke the service by a command. */
  requestedMs?: number | undefined;
  traffic: Traffic;
}

/** A query that does not count, such as a health probe, wakes a service, which then runs at least this long. */
const MIN_RUNNING_MS = 10_000;

/** What keeps a running service from idling, as far as its settings and queries tell; and when it may idle at the earliest. */
export function findIdleBlockers(
  situation: Situation,
  nowMs: number,
): { blockers: IdleBlocker[]; idleAtMs: number | undefined } {
  const { scaling, canIdle, hasEndpoint = true, runningSinceMs, traffic } = situation;
  const { idleScaling, idleTimeoutMinutes } = scaling;
  if (!canIdle)
    return { blockers: [{ type: 'driver', detail: 'The driver cannot idle this service' }], idleAtMs: undefined };
  if (!hasEndpoint)
    return {
      blockers: [
        {
          type: 'driver',
          detail: 'The service has no endpoint here: its use cannot be seen, and no query could wake it',
        },
      ],
      idleAtMs: undefined,
    };
  if (!idleScaling) return { blockers: [{ type: 'disabled', detail: 'idleScaling is false' }], idleAtMs: undefined };
  const { usedMs } = findLastUse(situation);
  const idleAtMs = Math.max(usedMs + idleTimeoutMinutes * MINUTE_MS, runningSinceMs + MIN_RUNNING_MS);
  const blockers: IdleBlocker[] = [];
  if (traffic.running > 0) blockers.push({ type: 'running_query', detail: `${count(traffic.running)} running` });
  if (traffic.waiting > 0) blockers.push({ type: 'waiting_query', detail: `${count(traffic.waiting)} waiting` });
  if (nowMs < idleAtMs) blockers.push(formatRecent(situation, nowMs));
  return { blockers, idleAtMs };
}

function findLastUse({ requestedMs = Number.NEGATIVE_INFINITY, traffic }: Situation) {
  const { lastCountedQueryMs = Number.NEGATIVE_INFINITY } = traffic;
  return { usedMs: Math.max(lastCountedQueryMs, requestedMs), isQuery: lastCountedQueryMs > requestedMs };
}

const count = (queries: number): string => (queries === 1 ? '1 query is' : `${queries} queries are`);

function formatRecent(situation: Situation, nowMs: number): IdleBlocker {
  const { scaling, runningSinceMs } = situation;
  const timeout = `the timeout is ${scaling.idleTimeoutMinutes} minutes`;
  const { usedMs, isQuery } = findLastUse(situation);
  if (nowMs - usedMs >= scaling.idleTimeoutMinutes * MINUTE_MS)
    return { type: 'new', detail: `The service has been running for only ${formatAge(nowMs - runningSinceMs)}` };
  return isQuery
    ? { type: 'recent_query', detail: `The last query started ${formatAge(nowMs - usedMs)} ago; ${timeout}` }
    : { type: 'new', detail: `The service was started ${formatAge(nowMs - usedMs)} ago; ${timeout}` };
}

function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.floor(seconds / 60)} minutes`;
}
