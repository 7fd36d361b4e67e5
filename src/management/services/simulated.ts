import { AppError } from '../../kernel/errors.ts';
import { type DesiredState, DRIVERS, type DriverName, type Observation, type ServiceState } from './driver.ts';

export const COMMANDS = ['start', 'stop', 'awake'] as const;
export type Command = (typeof COMMANDS)[number];

interface States {
  desiredState: DesiredState;
  observed: Observation;
}

/**
 * The observation at a time. A transition is stored with its end, so every node shows the same state at the same time and
 * no process has to write the end.
 */
export function observe({ desiredState, observed }: Readonly<States>, now: number): Observation {
  const { settlesAt } = observed;
  return settlesAt === undefined || now < settlesAt ? observed : { state: desiredState, since: settlesAt };
}

/** The state at the end of a transition. A service that idles counts as running: a query wakes it. */
export function getSettledState({ driver, desiredState, observed }: Readonly<States> & { driver: DriverName }) {
  if (DRIVERS[driver].isReconciled) return desiredState === 'stopped' ? 'stopped' : 'running';
  return observed.settlesAt === undefined ? observed.state : desiredState;
}

/** A new service. Without a `transitionMs` the driver reports when it runs. */
export const provision = (now: number, transitionMs: number | undefined): States => ({
  desiredState: 'running',
  observed: { state: 'provisioning', since: now, ...settleAfter(now, transitionMs) },
});

const settleAfter = (now: number, transitionMs: number | undefined): Pick<Observation, 'settlesAt'> =>
  transitionMs === undefined ? {} : { settlesAt: now + transitionMs };

const RUNNING: readonly ServiceState[] = ['running', 'provisioning', 'starting', 'awaking', 'partially_running'];
const GONE: readonly ServiceState[] = ['terminating', 'terminated', 'softdeleting', 'softdeleted'];

/**
 * The state that commands are about. A driver reports what it did before the last command, so that command decides: a
 * service that was just started counts as starting even if the driver still stops it.
 */
export function getCommandedState(service: Readonly<States>, now: number, transitionMs: number | undefined) {
  const { state } = observe(service, now);
  if (transitionMs !== undefined || GONE.includes(state)) return state;
  if (service.desiredState === 'idle') return state === 'idle' ? state : 'stopping';
  const isOff = state === 'stopped' || state === 'stopping';
  if (service.desiredState === 'stopped') return isOff ? state : 'stopping';
  return isOff || state === 'idle' ? 'starting' : state;
}

/**
 * The service after a command, or undefined if it is in the commanded state already. The last command wins, also during
 * a transition. As in the hosted service, `start` does not wake an idle service and `awake` does not start a stopped one.
 */
export function applyCommand(
  service: States,
  command: Command,
  now: number,
  transitionMs: number | undefined,
): States | undefined {
  const state = getCommandedState(service, now, transitionMs);
  if (GONE.includes(state)) throw new AppError('conflict', `The service is ${state} and accepts no commands`);
  const { reason: _, settlesAt: __, ...observed } = service.observed;
  const enter = (next: ServiceState, desiredState: DesiredState): States => ({
    desiredState,
    observed: { ...observed, state: next, since: now, ...settleAfter(now, transitionMs) },
  });
  // A service that is about to idle is stopping too, but not stopped.
  const isStopped = (state === 'stopped' || state === 'stopping') && service.desiredState === 'stopped';
  if (command === 'stop') return isStopped ? undefined : enter('stopping', 'stopped');
  if (RUNNING.includes(state)) return undefined;
  if (command === 'awake') {
    if (isStopped) throw new AppError('conflict', `The service is ${state}; send the command start instead of awake`);
    return enter('awaking', 'running');
  }
  if (state === 'idle') throw new AppError('conflict', 'The service is idle; send the command awake instead of start');
  return enter('starting', 'running');
}

/** The states in which a service can be deleted. */
export const isDeletable = (state: ServiceState): boolean =>
  state === 'stopped' || state === 'failed' || GONE.includes(state);
