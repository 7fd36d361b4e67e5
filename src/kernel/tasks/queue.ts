interface Rules {
  /** How many tasks of one key may wait; the next one is rejected with `onFull`. Unlimited by default. */
  maxWaiting?: number;
  onFull?: () => Error;
  /** How long a task may wait; then it is rejected with `onTimeout`. Unlimited by default. */
  maxWaitMs?: number;
  onTimeout?: () => Error;
  /** By default, the reason of the signal. */
  onCanceled?: () => Error;
}

interface FairOptions extends Rules {
  /** How many tasks run at the same time, over all keys. */
  concurrency: number;
  /** How many tasks of one key run at the same time. Fewer than `concurrency` keeps slots free for other keys. */
  concurrencyPerKey: number;
}

/** The tasks of one key, in the order they were added. */
interface Lane {
  running: number;
  waiting: Set<() => void>;
}

/**
 * Runs a limited number of tasks at a time, fairly between keys (organizations): a free slot goes to the waiting key with
 * the fewest running tasks, and between equals to the key that has waited longest for a turn.
 */
export function createFairQueue({
  concurrency,
  concurrencyPerKey,
  maxWaiting = Number.POSITIVE_INFINITY,
  onFull = () => new Error('The queue is full'),
  maxWaitMs,
  onTimeout = () => new Error('The task waited too long'),
  onCanceled,
}: FairOptions) {
  /** Keys with tasks; those whose task started or ended last come last. Idle keys are dropped. */
  const lanes = new Map<string, Lane>();
  let running = 0;

  const canStart = (lane: Lane): boolean => running < concurrency && lane.running < concurrencyPerKey;

  function findNext(): [string, Lane] | undefined {
    let next: [string, Lane] | undefined;
    for (const [key, lane] of lanes)
      if (lane.waiting.size > 0 && canStart(lane) && (!next || lane.running < next[1].running)) next = [key, lane];
    return next;
  }

  function occupy(key: string, lane: Lane): void {
    running++;
    lane.running++;
    moveToEnd(key, lane);
  }

  function moveToEnd(key: string, lane: Lane): void {
    lanes.delete(key);
    lanes.set(key, lane);
  }

  async function acquire(key: string, lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw onCanceled ? onCanceled() : signal.reason;
    // A key with a free slot has no waiting tasks: they are started as soon as a slot is free.
    if (canStart(lane)) return occupy(key, lane);
    if (lane.waiting.size >= maxWaiting) throw onFull();
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      };
      const start = () => {
        end();
        resolve();
      };
      const giveUp = (error: unknown) => {
        end();
        lane.waiting.delete(start);
        reject(error);
      };
      const cancel = () => giveUp(onCanceled ? onCanceled() : signal?.reason);
      const timer = maxWaitMs === undefined ? undefined : setTimeout(() => giveUp(onTimeout()), maxWaitMs);
      signal?.addEventListener('abort', cancel, { once: true });
      lane.waiting.add(start);
      if (!lanes.has(key)) lanes.set(key, lane);
    });
  }

  function release(key: string, lane: Lane): void {
    running--;
    lane.running--;
    moveToEnd(key, lane);
    for (let next = findNext(); next; next = findNext()) {
      const [chosenKey, chosen] = next;
      const [start] = chosen.waiting;
      if (!start) return;
      chosen.waiting.delete(start);
      occupy(chosenKey, chosen);
      start();
    }
  }

  return {
    /** Waits for a free slot, then runs the task. An aborted signal cancels the wait, not a running task. */
    async run<T>(key: string, task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
      const lane = lanes.get(key) ?? { running: 0, waiting: new Set() };
      try {
        await acquire(key, lane, signal);
        try {
          return await task();
        } finally {
          release(key, lane);
        }
      } finally {
        if (lane.running === 0 && lane.waiting.size === 0 && lanes.get(key) === lane) lanes.delete(key);
      }
    },

    countWaiting: (key: string): number => lanes.get(key)?.waiting.size ?? 0,
    isIdle: (key: string): boolean => !lanes.has(key),
  };
}

interface Options extends Rules {
  /** How many tasks run at the same time. */
  concurrency: number;
}

/** Runs tasks in the order they were added, a limited number at a time. */
export function createQueue({ concurrency, ...rules }: Options) {
  const queue = createFairQueue({ concurrency, concurrencyPerKey: concurrency, ...rules });
  return {
    run: <T>(task: () => T | Promise<T>, signal?: AbortSignal): Promise<T> => queue.run('', task, signal),
    isIdle: (): boolean => queue.isIdle(''),
  };
}

export type Queue = ReturnType<typeof createQueue>;

/** One queue per key (organization, token), each with its own slots. */
export const createKeyedQueue = ({ concurrency, ...rules }: Options) =>
  createFairQueue({ concurrency: Number.POSITIVE_INFINITY, concurrencyPerKey: concurrency, ...rules });
