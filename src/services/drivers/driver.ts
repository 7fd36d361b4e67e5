/** Runs the process of a service. `simulated` has no process: its states follow the commands (decision S8). */
export const DRIVERS = ['simulated'] as const;
export type DriverName = (typeof DRIVERS)[number];

export const SERVICE_STATES = [
  'starting',
  'stopping',
  'terminating',
  'softdeleting',
  'awaking',
  'partially_running',
  'provisioning',
  'running',
  'stopped',
  'terminated',
  'softdeleted',
  'degraded',
  'failed',
  'idle',
] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/** A service that idles is still to be running: a query wakes it. */
export type DesiredState = 'running' | 'stopped';

/** What a driver reported. Stored apart from what was asked for, so that a driver never overwrites a command. */
export interface Observation {
  state: ServiceState;
  /** Epoch milliseconds. */
  since: number;
  /** Set during a transition of the simulated driver: when the state becomes the desired one. */
  settlesAt?: number;
}

const STOPPED: readonly ServiceState[] = [
  'stopping',
  'stopped',
  'terminating',
  'terminated',
  'softdeleting',
  'softdeleted',
];

/** The desired state of a service that is declared with a state. */
export const toDesiredState = (state: ServiceState): DesiredState => (STOPPED.includes(state) ? 'stopped' : 'running');
