interface Options {
  /** One pass. Passes never overlap. */
  run(): void | Promise<void>;
  /** The pause between two passes. Without it, passes run only on `start`, `trigger` and `schedule`. */
  everyMs?: number;
  /** Called with the error of a failed pass; the loop continues. */
  onError(error: unknown): void;
}

/**
 * Runs work in the background. Its timers do not keep the process alive. `close` waits for the running pass; no further
 * pass starts.
 */
export function createBackgroundLoop({ run, everyMs, onError }: Options) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStarted = false;
  let isClosed = false;
  let isRequested = false;

  async function pass(): Promise<void> {
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
        clear();
        await pass();
      }
      running = undefined;
      if (isStarted && everyMs !== undefined && timer === undefined) schedule(everyMs);
    })();
    return running;
  }

  /** Requests a pass after a delay. Replaces a delay that has not ended yet. */
  function schedule(delayMs: number): void {
    clear();
    if (isClosed) return;
    timer = setTimeout(() => void trigger(), delayMs).unref();
  }

  function clear(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    /** Runs the first pass immediately and further ones with a pause of `everyMs`, until `close`. */
    start(): void {
      if (isStarted) return;
      isStarted = true;
      void trigger();
    },
    trigger,
    schedule,
    isStarted: (): boolean => isStarted,
    isScheduled: (): boolean => timer !== undefined,
    async close(): Promise<void> {
      isClosed = true;
      clear();
      await running;
    },
  };
}
