import type { Desired, Observation, Observed, ServiceState } from '../../management/services/driver.ts';
import { listDifferences } from './desired.ts';

/** What the record shows after an observation. `since` is kept while the state is the same. */
export function toObservation(before: Observation, observed: Observed, desired: Desired, now: number): Observation {
  const isReached = listDifferences(observed, desired).length === 0;
  const state = isReached ? desired.state : observed.state;
  const kept = isReached ? undefined : before.inFlight;
  // The reason for idling was stored with the desired state.
  const reason = observed.reason ?? (isReached && state === 'idle' ? before.reason : undefined);
  const shown = toState(state);
  return {
    state: shown,
    since: shown === before.state ? before.since : now,
    ...(before.placement ? { placement: before.placement } : undefined),
    ...(before.endpoint ? { endpoint: before.endpoint } : undefined),
    ...(before.lastWake ? { lastWake: before.lastWake } : undefined),
    ...(state === 'resizing' ? { isResizing: true } : undefined),
    ...(reason === undefined ? undefined : { reason }),
    ...(observed.replicas === undefined ? undefined : { replicas: observed.replicas }),
    ...(observed.memoryGb === undefined ? undefined : { memoryGb: observed.memoryGb }),
    ...(observed.shards === undefined || observed.shards === 1 ? undefined : { shards: observed.shards }),
    ...(observed.version === undefined ? undefined : { version: observed.version }),
    ...(observed.evidence === undefined ? undefined : { evidence: observed.evidence }),
    ...(kept === undefined ? undefined : { inFlight: kept }),
    ...(before.drift && !isReached ? { drift: before.drift } : undefined),
  };
}

/** While the driver moves towards the desired state. */
export function toTransition(before: Observation, observed: Observed, desired: Desired, now: number): Observation {
  const { isResizing: _, reason, inFlight, ...kept } = before;
  const { state, isResizing } = findTransition(before, observed, desired);
  const isSame = inFlight?.generation === desired.generation;
  return {
    ...kept,
    state,
    since: state === before.state ? before.since : now,
    ...(isResizing ? { isResizing } : undefined),
    ...(reason !== undefined && state === before.state ? { reason } : undefined),
    inFlight: isSame ? inFlight : { generation: desired.generation, attempt: 1, since: now },
  };
}

/** After a failed attempt. A service that should run is degraded, with `reason`. */
export function toFailure(
  before: Observation,
  desired: Desired,
  reason: string,
  attempt: number,
  now: number,
): Observation {
  const state = desired.state === 'running' ? 'degraded' : before.state;
  const { isResizing: _, ...kept } = before;
  return {
    ...kept,
    state,
    since: state === before.state ? before.since : now,
    reason,
    inFlight: { generation: desired.generation, attempt, since: before.inFlight?.since ?? now },
  };
}

/** The activities of a new observation: of drift, and of another state. */
export function listActivities(before: Observation, after: Observation) {
  const toShown = ({ state, isResizing }: Observation) => (isResizing ? 'resizing' : state);
  const [from, to] = [toShown(before), toShown(after)];
  const drift = after.drift && !before.drift ? [{ type: 'service_drift', after: after.drift } as const] : [];
  if (from === to) return drift;
  const reason = after.reason === undefined ? undefined : { reason: after.reason };
  const change = { type: 'service_state_change', before: { state: from }, after: { state: to, ...reason } } as const;
  return [...drift, change];
}

function findTransition(before: Observation, observed: Observed, desired: Desired) {
  if (desired.state !== 'running') return { state: 'stopping' as const };
  if (observed.state === 'running') return { state: 'running' as const, isResizing: true };
  // Another attempt at the same change: the service stays degraded until it runs.
  const isRepeated = before.state === 'degraded' && before.inFlight?.generation === desired.generation;
  const isKept = before.state === 'provisioning' || before.state === 'awaking' || isRepeated;
  return { state: isKept ? before.state : ('starting' as const) };
}

function toState(state: Observed['state'] | Desired['state']): ServiceState {
  if (state === 'resizing') return 'running';
  return state === 'deleted' ? 'terminated' : state;
}
