/** Limits concurrent requests. Waiting requests run in order; aborted ones never start. */
interface RequestQueue {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createRequestQueue(maxRunning: number): RequestQueue {
  const waiting: (() => void)[] = [];
  let running = 0;

  const acquire = (signal: AbortSignal): Promise<void> | undefined => {
    if (running < maxRunning) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        waiting.splice(waiting.indexOf(proceed), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push(proceed);
    });
  };
  /** Starts the longest-waiting request, if any. */
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return {
    async run(signal, work) {
      signal.throwIfAborted();
      await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
