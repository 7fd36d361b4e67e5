import { EngineException } from './exceptions.ts';

interface Options {
  /** How many work at the same time. */
  size: number;
  /** How many may wait for their turn; the next is refused. */
  maxWaiting: number;
}

/** Some at a time, the others in the order they came. */
export function createTurns({ size, maxWaiting }: Options) {
  const waiting: (() => void)[] = [];
  let working = 0;

  async function enter(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw cancelled();
    if (working < size) {
      working++;
      return;
    }
    if (waiting.length >= maxWaiting)
      throw new EngineException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries are waiting.');
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(cancelled());
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.push(turn);
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else working--;
  }

  /** Waits for a turn, unless the signal comes first. */
  return async <T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
    await enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

const cancelled = () => new EngineException(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled.');
