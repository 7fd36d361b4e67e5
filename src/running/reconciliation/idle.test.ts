import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { findIdleBlockers } from './idle.ts';

/** Of the monotonic clock, whose start is arbitrary. */
const NOW = 80 * MINUTE_MS;
const quiet = {
  scaling: { idleScaling: true, idleTimeoutMinutes: 15 },
  canIdle: true,
  runningSinceMs: NOW - 60 * MINUTE_MS,
  requestedMs: NOW - 60 * MINUTE_MS,
  traffic: { running: 0, waiting: 0, lastCountedQueryMs: NOW - 20 * MINUTE_MS },
};

describe('a service', () => {
  it('idles after its timeout without queries', () => {
    expect(findIdleBlockers(quiet, NOW)).toEqual({ blockers: [], idleAtMs: NOW - 5 * MINUTE_MS });
  });

  it.each([
    ['its last query is recent', { traffic: { ...quiet.traffic, lastCountedQueryMs: NOW - 30_000 } }, 'recent_query'],
    ['a query is running', { traffic: { ...quiet.traffic, running: 1 } }, 'running_query'],
    ['a query is waiting', { traffic: { ...quiet.traffic, waiting: 2 } }, 'waiting_query'],
    ['it was started by a command', { requestedMs: NOW - MINUTE_MS }, 'new'],
    ['it was woken a moment ago', { runningSinceMs: NOW - 1000 }, 'new'],
    ['idling is turned off', { scaling: { ...quiet.scaling, idleScaling: false } }, 'disabled'],
    ['its driver cannot idle it', { canIdle: false }, 'driver'],
  ])('does not idle while %s', (_name, change, type) => {
    const { blockers } = findIdleBlockers({ ...quiet, ...change }, NOW);
    expect(blockers.map((blocker) => blocker.type)).toEqual([type]);
  });

  it('says since when its last query was, and when it idles', () => {
    const traffic = { ...quiet.traffic, lastCountedQueryMs: NOW - 3 * MINUTE_MS };
    expect(findIdleBlockers({ ...quiet, traffic }, NOW)).toEqual({
      blockers: [{ type: 'recent_query', detail: 'The last query started 3 minutes ago; the timeout is 15 minutes' }],
      idleAtMs: NOW + 12 * MINUTE_MS,
    });
  });
});
