import type { Logger } from 'pino';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import { unavailable } from '../failures.ts';
import type { EngineObserver } from '../observer.ts';
import { createSharedAttempt } from './shared-attempt.ts';

/** The part of a process that the supervisor needs. */
export interface SupervisedProcess {
  /** Resolves with the exit reason. */
  ended: Promise<string>;
  close(): Promise<void>;
}

interface Options<T extends SupervisedProcess> {
  /** Rejects with an error whose message may be shown to users. */
  start(): Promise<T>;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  observer: EngineObserver;
}

const MAX_PAUSE_MS = 30 * SECOND_MS;
/** A process that ran this long started successfully: the next crash restarts it without a pause. */
const SETTLED_MS = MINUTE_MS;

/**
 * Starts one process on first use and keeps it running. The first crash restarts it at once; after further crashes the
 * pause doubles, up to 30 seconds.
 */
export function createSupervisor<T extends SupervisedProcess>({ start, clock, log, observer }: Options<T>) {
  const launched = createSharedAttempt(launch);
  let running: T | undefined;
  let failures = 0;
  let pauseUntil = 0;
  let lastFailure: unknown;
  let isClosed = false;
  let starts = 0;
  // A failed start is recorded by `launch`, and the next query reports it.
  const restarts = createBackgroundLoop({ run: async () => void (await get()), onError() {} });

  function recordFailure(reason: unknown): void {
    lastFailure = reason;
    pauseUntil = failures === 0 ? 0 : clock.monotonicMs() + Math.min(SECOND_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    failures++;
  }

  async function launch(): Promise<T> {
    const startedAt = clock.monotonicMs();
    let child: T;
    try {
      child = await start();
    } catch (error) {
      recordFailure(error);
      throw error;
    }
    if (starts++ > 0) observer.restarted();
    running = child;
    observer.running(true);
    void child.ended.then((reason) => {
      running = undefined;
      launched.forget();
      observer.running(false);
      if (isClosed) return;
      if (clock.monotonicMs() - startedAt >= SETTLED_MS) failures = 0;
      recordFailure(unavailable(`The engine stopped: ${reason}`));
      const waitMs = Math.max(0, pauseUntil - clock.monotonicMs());
      log.warn({ reason, waitMs }, 'restarting the engine');
      restarts.schedule(waitMs);
    });
    return child;
  }

  function get(): Promise<T> {
    if (isClosed) return Promise.reject(unavailable('The engine is closed'));
    const known = launched.find();
    if (known) return known;
    const waitMs = pauseUntil - clock.monotonicMs();
    if (waitMs > 0) {
      const text = lastFailure instanceof Error ? lastFailure.message : 'The engine failed';
      return Promise.reject(unavailable(text, lastFailure, Math.ceil(waitMs / SECOND_MS)));
    }
    return launched.get();
  }

  return {
    /** Returns the running process, starting it if necessary. */
    get,
    isRunning: () => running !== undefined,
    async close(): Promise<void> {
      isClosed = true;
      await restarts.close();
      const child = await launched.find()?.catch(() => undefined);
      await child?.close();
    },
  };
}
