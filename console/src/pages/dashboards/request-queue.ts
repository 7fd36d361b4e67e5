/** Lets a few through at a time; the others wait in the order they came. One that is given up while it waits never runs. */
export interface RequestQueue {
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
  /** The place goes to whoever waits longest, else it is free. */
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
