import type { Logger } from 'pino';
import { createBackgroundLoop } from '../kernel/tasks/background-loop.ts';
import { MINUTE_MS } from '../kernel/time/clock.ts';

interface Options {
  log: Pick<Logger, 'warn'>;
  parts: readonly { run(): Promise<void> }[];
}

const REMOVE_EVERY_MS = 60 * MINUTE_MS;

/** Removes what is older than its retention period, every hour. */
export function createRetention({ log, parts }: Options) {
  async function run(): Promise<void> {
    for (const part of parts) await part.run();
  }
  const loop = createBackgroundLoop({
    run,
    everyMs: REMOVE_EVERY_MS,
    onError: (error) =>
      log.warn({ reason: (error as Error).message, err: error }, 'failed to remove old rows; retrying'),
  });
  return {
    start: loop.start,
    /** Runs one pass; throws when it fails. */
    run,
    close: loop.close,
  };
}
