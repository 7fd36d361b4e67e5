interface Options {
  /** How many tasks run at the same time. */
  concurrency: number;
  /** How many tasks may wait; the next one is rejected with `onFull`. Unlimited by default. */
  maxWaiting?: number;
  onFull?: () => Error;
  onCanceled?: () => Error;
}

/** Runs tasks in the order they were added, a limited number at a time. */
export function createQueue({
  concurrency,
  maxWaiting = Number.POSITIVE_INFINITY,
  onFull = () => new Error('The queue is full'),
  onCanceled = () => new Error('The task was canceled before it started'),
}: Options) {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function acquire(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw onCanceled();
    if (running < concurrency) {
      running++;
      return;
    }
    if (waiting.length >= maxWaiting) throw onFull();
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', cancel);
        resolve();
      };
      const cancel = () => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(onCanceled());
      };
      signal?.addEventListener('abort', cancel, { once: true });
      waiting.push(start);
    });
  }

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    /** Waits for a free slot, then runs the task. An aborted signal cancels the wait, not a running task. */
    async run<T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
      await acquire(signal);
      try {
        return await task();
      } finally {
        release();
      }
    },

    isIdle: (): boolean => running === 0,
  };
}

export type Queue = ReturnType<typeof createQueue>;

/** One queue per key (organization, token), created on first use and dropped when idle. */
export function createKeyedQueue(options: Options) {
  const queues = new Map<string, Queue>();
  return {
    async run<T>(key: string, task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
      const queue = queues.get(key) ?? createQueue(options);
      queues.set(key, queue);
      try {
        return await queue.run(task, signal);
      } finally {
        // Another task may have ended in the meantime and a new queue may have taken the key.
        if (queue.isIdle() && queues.get(key) === queue) queues.delete(key);
      }
    },

    isIdle: (key: string): boolean => !queues.has(key),
  };
}
