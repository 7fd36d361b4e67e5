import { AppError } from '../../../kernel/errors.ts';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import type { DrivenService, Load, Observed, ObservedState } from '../../../management/services/driver.ts';
import { isRefused } from '../../../platform/listener/query.ts';
import type { ServiceDirectory } from './directory.ts';
import type { LoadMeter } from './load.ts';
import type { Probe } from './probe.ts';
import type { Restoring } from './restoring.ts';
import type { RunningService } from './running-service.ts';

/** What the driver knows of a service. */
export interface Entry {
  running?: RunningService;
  meter?: LoadMeter;
  probe?: Probe;
  memoryGb?: number;
  /** Set while `converge` is running. */
  transition?: ObservedState | undefined;
  /** Ends a start. */
  cancel?: (() => void) | undefined;
  /** The state that was requested last, for a service without a process. */
  rest?: 'idle' | 'stopped';
  /** Why the service has no process although it should run. */
  failure?: string | undefined;
  /** Set while the data of a backup is restored; the process runs without an endpoint. */
  restoring?: Restoring | undefined;
  /** Why the data of a backup could not be restored. The service is not started again until it was stopped. */
  restoreFailure?: string | undefined;
  /** Backups in progress. */
  backups?: number;
}

/** A GB of the contract is 2³⁰ bytes. */
const MIB_PER_GB = 1024;
export const ANSWER_MS = 5 * SECOND_MS;

export const canceled = () => new AppError('unavailable', 'The request to the service was canceled');

/** While a service starts. */
export function toTransition({ rest }: Entry, isNew: boolean, isResized: boolean): ObservedState {
  if (isResized) return 'resizing';
  if (isNew) return 'provisioning';
  return rest === 'idle' ? 'awaking' : 'starting';
}

/** A service that starts without its data looks intact and is not. It may be stopped and deleted. */
export function toMissing({ id, hasRun }: DrivenService, { data }: ServiceDirectory, entry: Entry): Observed {
  const start = `pilothouse service start ${id} --empty`;
  const obstacle = `The data directory ${data} is missing. Restore it, or start the service without its data: ${start}`;
  const state = entry.running ? 'degraded' : (entry.rest ?? 'stopped');
  return { state, reason: obstacle, ...(hasRun && { obstacle }) };
}

/** The share of its limit that the process uses, as bytes of the size that the service has for its users. */
function toContractSize(load: Load, { memoryMiB }: RunningService, memoryGb = 0): Load {
  if (load.memoryBytes === undefined) return load;
  return { ...load, memoryBytes: Math.round((load.memoryBytes / memoryMiB) * memoryGb * MIB_PER_GB) };
}

export async function observeRunning(entry: Entry, running: RunningService, signal: AbortSignal): Promise<Observed> {
  const { upstream, version, pid, memoryMiB } = running;
  const evidence = { pid, isolation: running.getIsolation() ?? 'none', memoryLimitMiB: memoryMiB };
  const seen = { replicas: 1, version, evidence, ...(entry.memoryGb !== undefined && { memoryGb: entry.memoryGb }) };
  try {
    const load = await entry.meter?.measure(limitTime(ANSWER_MS, signal));
    return {
      state: 'running',
      ...seen,
      upstream,
      ...(load && { load: toContractSize(load, running, entry.memoryGb) }),
    };
  } catch (error) {
    if (signal.aborted) throw canceled();
    if (entry.running !== running) return { state: 'degraded', reason: entry.failure ?? 'ClickHouse stopped' };
    // A process that was ended because it hung closes its connections before its end is reported.
    const reason = entry.probe?.getFailure() ?? `ClickHouse did not respond: ${(error as Error).message}`;
    return { state: 'degraded', reason, ...seen, ...(!isRefused(error) && { upstream }) };
  }
}
