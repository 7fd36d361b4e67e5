/** Returns the results in the order of `calls`. */
type Run<K, A, R> = (key: K, calls: readonly A[]) => Promise<readonly R[]>;

interface Waiting<A, R> {
  call: A;
  resolve(result: R): void;
  reject(error: unknown): void;
}

interface Queue<A, R> {
  running: number;
  /** The waiting calls start at the end of this turn of the event loop. */
  isScheduled: boolean;
  waiting: Waiting<A, R>[];
}

const MAX_CALLS = 64;

/**
 * Combines calls with the same key: those of one turn of the event loop, and those that arrive while `maxRunning` of `run` run, are
 * one call of `run`. It starts after all of them were called, so a read returns no data older than its call.
 */
export function createSharedCalls<K, A, R>(run: Run<K, A, R>, maxRunning: number): (key: K, call: A) => Promise<R> {
  const queues = new Map<K, Queue<A, R>>();

  async function start(key: K, queue: Queue<A, R>, started: readonly Waiting<A, R>[]): Promise<void> {
    queue.running++;
    try {
      const results = await run(
        key,
        started.map(({ call }) => call),
      );
      for (const [index, { resolve }] of started.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of started) reject(error);
    }
    queue.running--;
    startWaiting(key, queue);
  }

  function startWaiting(key: K, queue: Queue<A, R>): void {
    while (queue.waiting.length > 0 && queue.running < maxRunning)
      void start(key, queue, queue.waiting.splice(0, MAX_CALLS));
    if (queue.running === 0 && !queue.isScheduled) queues.delete(key);
  }

  function schedule(key: K, queue: Queue<A, R>): void {
    if (queue.isScheduled || queue.running >= maxRunning) return;
    queue.isScheduled = true;
    setImmediate(() => {
      queue.isScheduled = false;
      startWaiting(key, queue);
    });
  }

  return (key, call) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? { running: 0, isScheduled: false, waiting: [] };
      queues.set(key, queue);
      queue.waiting.push({ call, resolve, reject });
      schedule(key, queue);
    });
}
