import { LRUCache } from 'lru-cache';

/** The most recently used entries. The option `max` of the library would allocate memory for all of them at once. */
export const createLargeCache = <K extends object | string, V extends object | number | true>(
  max: number,
): LRUCache<K, V> => new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1 });

/** Caches the results of a pure function for the most recently used inputs. */
export function memoize<T, K extends string | number = string>(compute: (input: K) => T, max = 1000): (input: K) => T {
  const results = new LRUCache<K, NonNullable<T>>({ max });
  return (input) => {
    const cached = results.get(input);
    if (cached !== undefined) return cached;
    const result = compute(input);
    if (result !== undefined && result !== null) results.set(input, result);
    return result;
  };
}

/** Computes once per object, for as long as the object lives. The result is shared, so callers must not modify it. */
export function memoizeByObject<K extends object, T>(compute: (input: K) => T): (input: K) => T {
  const results = new WeakMap<K, { result: T }>();
  return (input) => {
    const cached = results.get(input);
    if (cached) return cached.result;
    const result = compute(input);
    results.set(input, { result });
    return result;
  };
}
