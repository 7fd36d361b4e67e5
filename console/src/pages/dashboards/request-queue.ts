/** Lets a few through at a time; the others wait in the order they came. One that is given up while it waits never runs. */
export interface RequestGate {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createRequestGate(most: number): RequestGate {
  const waiting: (() => void)[] = [];
  let running = 0;

  const enter = (signal: AbortSignal): Promise<void> | undefined => {
    if (running < most) {
      running += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(proceed), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(proceed);
    });
  };
  /** The place goes to whoever waits longest, else it is free. */
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return {
    async run(signal, work) {
      signal.throwIfAborted();
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
