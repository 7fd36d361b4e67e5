import { readdirSync, readFileSync } from 'node:fs';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import { query } from '../../../platform/listener/query.ts';
import { readCpuSeconds } from './load.ts';
import type { RunningService } from './running-service.ts';

const ANSWER_MS = 2 * SECOND_MS;
/** Probes without an answer before a process counts as hung. */
const MAX_SILENT = 3;

/** A thread that runs, or that waits for a disk: the process is slow, and not hung. */
const BUSY = /^[RD]$/;

export type Probe = ReturnType<typeof createProbe>;

/**
 * Finds out whether a service hangs: it does not answer the cheapest query several times, and meanwhile it has used no
 * processor time and none of its threads could run. A service that is only busy, or on a slow machine, is left alone.
 */
export function createProbe({ pid, upstream }: Pick<RunningService, 'pid' | 'upstream'>) {
  let failure: string | undefined;

  const isAnswered = (): Promise<boolean> =>
    query(upstream, 'SELECT 1', AbortSignal.timeout(ANSWER_MS)).then(
      () => true,
      () => false,
    );

  return {
    /** At once if it answers; otherwise within some seconds. */
    async isHung(): Promise<boolean> {
      let cpuSeconds: number | undefined;
      for (let silent = 1; silent <= MAX_SILENT; silent++) {
        if (await isAnswered()) return false;
        const states = listThreadStates(pid);
        const used = readCpuSeconds(pid);
        // Without /proc only the end of the process is noticed.
        if (states.length === 0 || states.some((state) => BUSY.test(state))) return false;
        if (silent > 1 && used !== cpuSeconds) return false;
        cpuSeconds = used;
      }
      failure = `ClickHouse did not answer ${MAX_SILENT} probes and used no processor time; its process was ended`;
      return true;
    },
    /** Why the process was ended. */
    getFailure: (): string | undefined => failure,
  };
}

/** The states of all threads, such as `S` for one that sleeps; empty if the process has ended. */
function listThreadStates(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(
      (thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[0] ?? '',
    );
  } catch {
    return [];
  }
}
