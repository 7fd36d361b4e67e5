import type { Service } from '../../api/types.ts';
import { formatMemory, formatNumber, plural } from '../format/format.ts';

type Status = NonNullable<Service['status']>;
type Size = Status['observed'];

/** The state of the driver, which also knows `resizing`; without a driver the state of the record. */
export const getState = ({ state, status }: Pick<Service, 'state' | 'status'>): string => status?.state ?? state;

const TRANSITIONS = ['provisioning', 'starting', 'resizing', 'awaking', 'stopping'];

/** Whether the driver is at work, so that the state is about to change. */
const isInTransition = (service: Pick<Service, 'state' | 'status'>): boolean =>
  TRANSITIONS.includes(getState(service)) || service.status?.inFlight !== undefined;

const TRANSITION_POLL_MS = 1000;
const SETTLED_POLL_MS = 10_000;

/**
 * The pause before services are read again; queries pause while the page is hidden. Simulated services change by commands
 * only, so they are not read again once they have settled.
 */
export function getPollMs(services: readonly Pick<Service, 'driver' | 'state' | 'status'>[]): number | false {
  if (services.some(isInTransition)) return TRANSITION_POLL_MS;
  return services.some(({ driver }) => driver !== 'simulated') && SETTLED_POLL_MS;
}

/** "3 shards × 2 replicas"; without shards "2 replicas". */
export const formatSets = (replicas: number, shards = 1): string =>
  shards > 1 ? `${plural(shards, 'shard')} × ${plural(replicas, 'replica')}` : plural(replicas, 'replica');

/** "3 replicas with 16 GB each". Drivers may not know one of the figures, or both. */
export function formatObservedSize({ replicas, replicaMemoryGb: memory }: Size, shards = 1): string {
  if (replicas === undefined) return memory === undefined ? '' : `${formatMemory(memory)} per replica`;
  if (memory === undefined) return formatSets(replicas, shards);
  if (shards > 1) return `${formatSets(replicas, shards)} × ${formatMemory(memory)}`;
  return `${plural(replicas, 'replica')} with ${formatMemory(memory)}${replicas === 1 ? '' : ' each'}`;
}

/** "Requested 3 replicas, actual 1". A service that does not run has no size to compare. */
export function listDifferences({ state, desiredState, requested, observed }: Status): string[] {
  const { replicas, replicaMemoryGb } = observed;
  const hasOther = (actual: number | undefined, wanted: number): actual is number =>
    actual !== undefined && actual !== wanted;
  const found: string[] = [];
  if (!isStateReached(state, desiredState)) found.push(`Requested ${desiredState}, actual ${state}`);
  if (desiredState !== 'running' || state === 'idle' || state === 'stopped') return found;
  if (hasOther(replicas, requested.replicas))
    found.push(`Requested ${plural(requested.replicas, 'replica')}, actual ${formatNumber(replicas)}`);
  if (hasOther(replicaMemoryGb, requested.replicaMemoryGb))
    found.push(
      `Requested ${formatMemory(requested.replicaMemoryGb)} per replica, actual ${formatMemory(replicaMemoryGb)}`,
    );
  return found;
}

/** A service runs while its size changes. */
const isStateReached = (state: string, desired: Status['desiredState']): boolean =>
  state === desired || (state === 'resizing' && desired === 'running');

/** What runs the service, in a few words. */
export const DRIVER_LABELS: Readonly<Record<Service['driver'], string>> = {
  simulated: 'Simulated: no process runs; the state follows your commands',
  embedded: 'Embedded: a ClickHouse process on the server',
  kubernetes: 'Kubernetes: a resource of a ClickHouse operator',
  webhook: 'Webhook: a system that is called over HTTP',
};
