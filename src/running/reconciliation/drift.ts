import type { Desired, Observed } from '../../management/services/driver.ts';
import type { Service } from '../../management/services/service.ts';
import { listVisibleDifferences } from './desired.ts';

/**
 * What was changed outside, as text: the desired state had been reached, and now it is not. Undefined for a service that
 * is being changed. An embedded service cannot be changed outside: it stops when the control plane does.
 */
export function findDrift(service: Readonly<Service>, observed: Observed, desired: Desired): string | undefined {
  const { observed: before, driver } = service;
  if (driver === 'embedded' || before.inFlight || before.drift) return undefined;
  if (!['running', 'stopped', 'idle'].includes(observed.state)) return undefined;
  const wasReached =
    listVisibleDifferences({ ...before, state: before.state as Observed['state'] }, desired).length === 0;
  return wasReached && before.evidence ? listVisibleDifferences(observed, desired).join(', ') : undefined;
}
