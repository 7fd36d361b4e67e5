import { type Desired, DRIVERS, type DrivenService, type Observed } from '../../management/services/driver.ts';
import { getWantedSize } from '../../management/services/scaling/schedule.ts';
import type { Service } from '../../management/services/service.ts';

/** The part of a service that its driver gets. */
export const toDrivenService = (service: Readonly<Service>): DrivenService => {
  const { id, organizationId, name, settings, settledGeneration, observed } = service;
  return {
    id,
    organizationId,
    name,
    // A service that starts without its data is provisioned again.
    hasRun: settledGeneration > 0 && observed.state !== 'provisioning',
    passwordHash: settings?.passwordHash,
    restore: settings?.restore,
    kubernetes: settings?.kubernetes,
    webhook: settings?.webhook,
  };
};

/** What the driver is to bring about now. */
export function toDesired(service: Readonly<Service>, now: number): Desired {
  const { memoryGb, replicas } = getWantedSize(service, now);
  return {
    generation: service.generation,
    state: service.desiredState,
    memoryGb,
    replicas: Math.min(replicas, DRIVERS[service.driver].maxReplicas ?? replicas),
  };
}

/** The members that differ, as text; empty if the desired state is reached. */
export function listDifferences(
  observed: Pick<Observed, 'state' | 'memoryGb' | 'replicas' | 'generation'>,
  desired: Desired,
): string[] {
  const { generation = desired.generation } = observed;
  const isCurrent = generation === desired.generation;
  return [
    ...listVisibleDifferences(observed, desired),
    ...(isCurrent ? [] : [`it is at generation ${generation} instead of ${desired.generation}`]),
  ];
}

/** Differences of state and size. An idle or stopped service has no size. */
function listVisibleDifferences(
  observed: Pick<Observed, 'state' | 'memoryGb' | 'replicas'>,
  desired: Desired,
): string[] {
  const isRunning = observed.state === 'running';
  if (desired.state !== 'running') return isOff(observed) ? [] : [`it is ${observed.state}`];
  if (!isRunning) return [`it is ${observed.state}`];
  return (['memoryGb', 'replicas'] as const)
    .filter((name) => observed[name] !== undefined && observed[name] !== desired[name])
    .map((name) => `${LABELS[name]} is ${observed[name]} instead of ${desired[name]}`);
}

const LABELS = { memoryGb: 'the memory in GB', replicas: 'the number of replicas' };

/** A driver without a process cannot tell an idle service from a stopped one. */
const isOff = ({ state }: Pick<Observed, 'state'>): boolean => state === 'stopped' || state === 'idle';

/**
 * Changes made outside Pilothouse, as text: the desired state had been reached, and now it is not. Undefined for a service
 * that is being changed. A local service cannot drift: it stops when the control plane does.
 */
export function findDrift(service: Readonly<Service>, observed: Observed, desired: Desired): string | undefined {
  const { observed: before, driver } = service;
  if (DRIVERS[driver].isLocal || before.inFlight || before.drift) return undefined;
  if (!['running', 'stopped', 'idle'].includes(observed.state)) return undefined;
  const wasReached =
    listVisibleDifferences({ ...before, state: before.state as Observed['state'] }, desired).length === 0;
  return wasReached && before.evidence ? listVisibleDifferences(observed, desired).join(', ') : undefined;
}
