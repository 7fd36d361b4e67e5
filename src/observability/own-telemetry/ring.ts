/** A ring buffer of the newest `capacity` items, each with its time and sampling weight. A full ring overwrites the oldest. */
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
    /** True if the oldest item was overwritten. */
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
    /** Removes up to `count` items, oldest first, and passes each to `visit`. */
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
