import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../kernel/time/clock.ts';

/** How much of a fleet file is applied. The stages follow each other. */
export interface Progress {
  stage: 'plan' | 'store' | 'record';
  done: number;
  total: number;
}

/** The resources between two reports. */
const PROGRESS_STEP = 1000;
/** The time between two log lines, so that a short apply logs none. */
const LOG_INTERVAL_MS = 2000;

interface Log {
  info(details: object, message: string): void;
}

/** Logs the progress every few seconds, for an apply without a terminal. */
export function createProgressLog(log: Log, clock: Pick<Clock, 'monotonicMs'>): (progress: Progress) => void {
  let lastMs = clock.monotonicMs();
  return (progress) => {
    const now = clock.monotonicMs();
    if (now - lastMs < LOG_INTERVAL_MS) return;
    lastMs = now;
    log.info(progress, 'applying the fleet file');
  };
}

/** Each call of the result adds to the number of resources that are done. */
export function countProgress(stage: Progress['stage'], total: number, onProgress: (progress: Progress) => void) {
  let done = 0;
  return (count: number): void => {
    done += count;
    onProgress({ stage, done, total });
  };
}

/** Runs `work` on a few items at a time and reports after each time, letting timers and streams run. */
export async function inSteps<T>(
  items: readonly T[],
  work: (part: T[]) => Promise<void>,
  report: (done: number) => void,
) {
  for (let start = 0; start < items.length; start += PROGRESS_STEP) {
    const part = items.slice(start, start + PROGRESS_STEP);
    await work(part);
    report(part.length);
    await setImmediate();
  }
}
