/**
 * The newest `capacity` items, each with its time and how many it stands for. What comes when it is full takes the place of the oldest, in place:
 * nothing is moved, and adding never waits.
 */
export function createRing<T>(capacity: number) {
  const items: (T | undefined)[] = new Array(capacity).fill(undefined);
  const times = new Float64Array(capacity);
  const weights = new Uint32Array(capacity);
  let first = 0;
  let length = 0;

  return {
    get length(): number {
      return length;
    },
    /** True when the oldest had to go. */
    push(item: T, timeMs: number, weight: number): boolean {
      let at = first + length;
      if (at >= capacity) at -= capacity;
      items[at] = item;
      times[at] = timeMs;
      weights[at] = weight;
      if (length < capacity) {
        length++;
        return false;
      }
      first = first + 1 === capacity ? 0 : first + 1;
      return true;
    },
    /** Removes the oldest, at most `count` of them, and hands each over. */
    take(count: number, visit: (item: T, timeMs: number, weight: number) => void): void {
      for (let left = Math.min(count, length); left > 0; left--) {
        const item = items[first] as T;
        const timeMs = times[first] as number;
        const weight = weights[first] as number;
        items[first] = undefined;
        first = first + 1 === capacity ? 0 : first + 1;
        length--;
        visit(item, timeMs, weight);
      }
    },
  };
}

export type Ring<T> = ReturnType<typeof createRing<T>>;
