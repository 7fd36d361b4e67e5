import { isoTime } from '../../kernel/time/clock.ts';
import type { Service } from './service.ts';
import { observe } from './simulated.ts';
import { getWantedSize } from './wanted-size.ts';

const REASON = 'Simulated: no process runs, and the state follows the commands';

/** The status of a service with the simulated driver (decision S8): nothing was observed. */
export function toSimulatedStatus(service: Readonly<Service>, now: number) {
  const { desiredState, generation, settledGeneration } = service;
  const { state, since, reason = REASON } = observe(service, now);
  const wanted = getWantedSize(service, now);
  return {
    state,
    since: isoTime(since),
    reason,
    desiredState,
    generation,
    observedGeneration: settledGeneration,
    requested: { replicas: wanted.replicas, replicaMemoryGb: wanted.memoryGb },
    observed: {},
  };
}
