import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { query } from '../../../platform/listener/query.ts';
import { readCpuSeconds } from './load.ts';
import type { RunningService } from './running-service.ts';

/** How long a probe waits: 2 seconds, and longer on a slow machine. */
const TURNS = 20;
const TURN_MS = 100;
/** Probes without an answer before a process counts as hung. */
const MAX_SILENT = 3;

/** A thread that runs, or that waits for a disk: the process is slow, and not hung. */
const BUSY = /^[RD]$/;

export type Probe = ReturnType<typeof createProbe>;

/**
 * Finds out whether a service hangs: it does not answer the cheapest query several times, and in the meantime used no
 * processor time and none of its threads could run. A service that is only busy, or on a slow machine, is not restarted.
 */
export function createProbe({ pid, upstream }: Pick<RunningService, 'pid' | 'upstream'>) {
  let failure: string | undefined;

  /** Counts turns of the event loop, not time: an answer that waits for this process to read it is not missing. */
  async function isAnswered(): Promise<boolean> {
    const abort = new AbortController();
    let isRead = false;
    const read = new Promise<void>((resolve) => {
      const end = () => {
        isRead = true;
        resolve();
      };
      query(upstream, 'SELECT 1', abort.signal).then(end, (error: NodeJS.ErrnoException) => {
        // Also a rejected query is an answer; a failed connection has a code.
        if (error.code === undefined) end();
      });
    });
    for (let turn = 0; turn < TURNS && !isRead; turn++) await Promise.race([read, delay(TURN_MS)]);
    abort.abort();
    return isRead;
  }

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
      failure = `ClickHouse did not respond to ${MAX_SILENT} probes and used no processor time; its process was ended`;
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
