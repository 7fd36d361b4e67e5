import type { Batch } from './batch.ts';

type Store = (organizationId: string, batches: readonly Batch[]) => Promise<number[]>;

interface Waiting {
  batch: Batch;
  resolve(accepted: number): void;
  reject(error: unknown): void;
}

/** Stored together at most: the insert of so many takes a fraction of a second. */
const EVENTS_TOGETHER = 100_000;

/**
 * Batches of one organization are stored one after the other: what one of them counts, the next one knows. Those that
 * wait at the same time are stored together, which costs little more than storing one.
 */
export function createTurns(store: Store) {
  const queues = new Map<string, Waiting[]>();
  const running = new Map<string, Promise<void>>();

  async function drain(organizationId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const group = nextOf(queue);
      try {
        const accepted = await store(
          organizationId,
          group.map(({ batch }) => batch),
        );
        for (const [index, { resolve }] of group.entries()) resolve(accepted[index] ?? 0);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    queues.delete(organizationId);
    running.delete(organizationId);
  }

  return {
    /** Answers how many events of the batch were new, once they are stored. */
    enter(organizationId: string, batch: Batch): Promise<number> {
      return new Promise((resolve, reject) => {
        const queue = queues.get(organizationId) ?? [];
        queue.push({ batch, resolve, reject });
        if (queues.has(organizationId)) return;
        queues.set(organizationId, queue);
        running.set(organizationId, drain(organizationId, queue));
      });
    },

    isBusy: (organizationId: string): boolean => queues.has(organizationId),

    /** Resolves when everything handed in so far is stored or has failed. */
    idle: async (): Promise<void> => void (await Promise.all(running.values())),
  };
}

function nextOf(queue: Waiting[]): Waiting[] {
  let events = 0;
  const count = queue.findIndex(({ batch }, index) => {
    events += batch.hashes.length;
    return index > 0 && events > EVENTS_TOGETHER;
  });
  return queue.splice(0, count < 0 ? queue.length : count);
}
