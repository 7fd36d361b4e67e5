import type { Desired, DrivenService, Driver, Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { getWantedSize } from '../../management/services/wanted-size.ts';

/** The part of a service that its driver gets. */
export const toDrivenService = (service: Readonly<Service>): DrivenService => {
  const { id, organizationId, name, settings, settledGeneration, observed } = service;
  return {
    id,
    organizationId,
    name,
    // A service that is to start without its data is provisioned again.
    hasRun: settledGeneration > 0 && observed.state !== 'provisioning',
    passwordHash: settings?.passwordHash,
    kubernetes: settings?.kubernetes,
    webhook: settings?.webhook,
  };
};

/** What the driver is to bring about now. */
export function toDesired(service: Readonly<Service>, driver: Pick<Driver, 'maxReplicas'>, now: number): Desired {
  const { memoryGb, replicas } = getWantedSize(service, now);
  return {
    generation: service.generation,
    state: service.desiredState,
    memoryGb,
    replicas: Math.min(replicas, driver.maxReplicas ?? replicas),
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
export function listVisibleDifferences(
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
