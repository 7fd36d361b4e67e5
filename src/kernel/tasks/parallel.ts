/** Runs `work` for each item, at most `limit` at a time. After the first failure, no other item is started. */
export async function forEachParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let isFailed = false;
  const run = async (): Promise<void> => {
    while (next < items.length && !isFailed) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, run));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
