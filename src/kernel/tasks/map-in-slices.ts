import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

const SLICE_MS = 10;

/** As `list.map`, but other requests run between elements once a slice of time is used up. */
export async function mapInSlices<T, R>(list: readonly T[], map: (element: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = [];
  let startedAt = performance.now();
  for (const [index, element] of list.entries()) {
    mapped.push(map(element, index));
    if (performance.now() - startedAt < SLICE_MS) continue;
    await yieldToEventLoop();
    startedAt = performance.now();
  }
  return mapped;
}
