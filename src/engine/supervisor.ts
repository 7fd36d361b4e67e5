import type { Logger } from 'pino';
import { type Clock, MINUTE_MS, SECOND_MS } from '../kernel/clock.ts';
import { unavailable } from './failures.ts';
import type { EngineObserver } from './observer.ts';

/** A process as far as it has to be watched. */
export interface SupervisedProcess {
  ended: Promise<string>;
  close(): Promise<void>;
}

interface Options<T extends SupervisedProcess> {
  /** Throws an error that can be shown. */
  start(): Promise<T>;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  observer: EngineObserver;
}

const MAX_PAUSE_MS = 30 * SECOND_MS;
/** Whoever ran this long did not fail because it was started. */
const SETTLED_MS = MINUTE_MS;

/**
 * Keeps one process running from the first time it is needed. After a crash it is started again at once, after the next
 * ones a pause comes first, which doubles up to half a minute.
 */
export function createSupervisor<T extends SupervisedProcess>({ start, clock, log, observer }: Options<T>) {
  let current: Promise<T> | undefined;
  let running: T | undefined;
  let failures = 0;
  let pauseUntil = 0;
  let lastFailure: unknown;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let starts = 0;

  function recordFailure(reason: unknown): void {
    lastFailure = reason;
    pauseUntil = failures === 0 ? 0 : clock.now() + Math.min(SECOND_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    failures++;
  }

  async function launch(): Promise<T> {
    const startedAt = clock.now();
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
    void child.ended.then((how) => {
      running = undefined;
      current = undefined;
      observer.running(false);
      if (isClosed) return;
      if (clock.now() - startedAt >= SETTLED_MS) failures = 0;
      recordFailure(unavailable(`The engine ended with ${how}`));
      const waitMs = Math.max(0, pauseUntil - clock.now());
      log.warn({ how, waitMs }, 'the engine is started again');
      timer = setTimeout(() => void get().catch(() => {}), waitMs);
      timer.unref();
    });
    return child;
  }

  function get(): Promise<T> {
    if (isClosed) return Promise.reject(unavailable('The engine is closed'));
    if (current) return current;
    const waitMs = pauseUntil - clock.now();
    if (waitMs > 0) {
      const text = lastFailure instanceof Error ? lastFailure.message : 'The engine failed';
      return Promise.reject(unavailable(text, lastFailure, Math.ceil(waitMs / SECOND_MS)));
    }
    const attempt = launch();
    current = attempt;
    attempt.catch(() => {
      if (current === attempt) current = undefined;
    });
    return attempt;
  }

  return {
    /** The running process, started if need be. */
    get,
    isRunning: () => running !== undefined,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      const child = await current?.catch(() => undefined);
      await child?.close();
    },
  };
}
