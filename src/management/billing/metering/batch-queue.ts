import { createKeyedQueue } from '../../../kernel/tasks/queue.ts';
import type { EventBatch } from './event-batch.ts';

/** Stores batches of one organization together; returns the number of new events of each. */
type StoreBatches = (organizationId: string, batches: readonly EventBatch[]) => Promise<number[]>;

interface WaitingBatch {
  batch: EventBatch;
  resolve(accepted: number): void;
  reject(error: unknown): void;
}

/** Inserting this many events takes a fraction of a second. */
const MAX_EVENTS_PER_GROUP = 100_000;

/**
 * Stores the batches of an organization one group at a time, since a batch must see the ids of the batches before it.
 * Batches that wait at the same time form a group: storing it costs little more than storing one batch.
 */
export function createBatchQueue(storeBatches: StoreBatches) {
  const queue = createKeyedQueue({ concurrency: 1 });
  const waitingBatches = new Map<string, WaitingBatch[]>();

  async function storeNextGroup(organizationId: string): Promise<void> {
    const waiting = waitingBatches.get(organizationId) ?? [];
    const group = takeGroup(waiting);
    if (waiting.length === 0) waitingBatches.delete(organizationId);
    // Every batch adds a task; the group of an earlier one may have included this batch.
    if (group.length === 0) return;
    try {
      const accepted = await storeBatches(
        organizationId,
        group.map(({ batch }) => batch),
      );
      for (const [index, { resolve }] of group.entries()) resolve(accepted[index] ?? 0);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return {
    /** Resolves with the number of new events once they are stored. */
    store(organizationId: string, batch: EventBatch): Promise<number> {
      return new Promise((resolve, reject) => {
        const waiting = waitingBatches.get(organizationId) ?? [];
        waitingBatches.set(organizationId, waiting);
        waiting.push({ batch, resolve, reject });
        queue.run(organizationId, () => storeNextGroup(organizationId)).catch(reject);
      });
    },

    isIdle: queue.isIdle,
  };
}

/** Removes the first batches from the list: at least one, and more up to the size of a group. */
function takeGroup(waiting: WaitingBatch[]): WaitingBatch[] {
  let events = 0;
  const end = waiting.findIndex(({ batch }, index) => {
    events += batch.hashes.length;
    return index > 0 && events > MAX_EVENTS_PER_GROUP;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}
