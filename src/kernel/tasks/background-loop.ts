interface Options {
  /** One pass. Passes never overlap. */
  run(): void | Promise<void>;
  /** The pause between the end of one pass and the start of the next; without it, only requests start a pass. */
  everyMs?: number;
  /** Called with the error of a failed pass; the loop continues. */
  onError(error: unknown): void;
}

/**
 * Runs work in the background. Its timers do not keep the process alive. `close` waits for the running pass; no further
 * pass starts.
 */
export function createBackgroundLoop({ run, everyMs, onError }: Options) {
  /** Ends the pause between two passes. */
  let interval: NodeJS.Timeout | undefined;
  let scheduled: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStarted = false;
  let isClosed = false;
  let isRequested = false;

  async function pass(): Promise<void> {
    clearTimers();
    try {
      await run();
    } catch (error) {
      onError(error);
    }
  }

  /** Runs one pass now, or one more after the running one. Resolves when no pass is running or requested. */
  function trigger(): Promise<void> {
    if (isClosed) return running ?? Promise.resolve();
    isRequested = true;
    running ??= (async () => {
      while (isRequested && !isClosed) {
        isRequested = false;
        await pass();
      }
      running = undefined;
      pause();
    })();
    return running;
  }

  function pause(): void {
    if (isStarted && !isClosed && everyMs !== undefined) interval = setTimeout(() => void trigger(), everyMs).unref();
  }

  /**
   * Requests a pass after a delay. Replaces an earlier request whose delay has not ended, so frequent requests are
   * combined; the pass at the end of `everyMs` is not postponed.
   */
  function schedule(delayMs: number): void {
    clearTimeout(scheduled);
    scheduled = isClosed ? undefined : setTimeout(() => void trigger(), delayMs).unref();
  }

  function clearTimers(): void {
    clearTimeout(interval);
    clearTimeout(scheduled);
    interval = undefined;
    scheduled = undefined;
  }

  return {
    /** Runs a pass now and then every `everyMs`, until `close`. */
    start(): void {
      if (isStarted) return;
      isStarted = true;
      void trigger();
    },
    /** Runs the first pass after `everyMs`. */
    startAfterPause(): void {
      if (isStarted) return;
      isStarted = true;
      if (!running) pause();
    },
    trigger,
    schedule,
    isStarted: (): boolean => isStarted,
    isScheduled: (): boolean => scheduled !== undefined,
    async close(): Promise<void> {
      isClosed = true;
      clearTimers();
      await running;
    },
  };
}
