/**
 * What a node does in the background, by the clock of the store. `alerts` and `services` need a lease, `rating` the engine;
 * the others check in each transaction what another node may have done. test/faults/node-clocks.test.ts has a case for each.
 */
export const BACKGROUND_JOBS = [
  'rating',
  'notifications',
  'alerts',
  'budgets',
  'kept responses',
  'counted activities',
  'retention',
  'telemetry usage',
  'services',
] as const;

/** Of `services`, each under the lease of a service. */
export const SERVICE_JOBS = ['reconciliation', 'usage', 'load', 'autoscaling', 'backups'] as const;

interface Job {
  start(): unknown;
}

/** Started in this order. */
export const listJobs = <Name extends string>(names: readonly Name[], jobs: Record<Name, Job>): Job[] =>
  names.map((name) => jobs[name]);
