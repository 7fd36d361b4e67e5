/** Remembers the results of a pure function for the inputs seen lately; starts over when it has seen too many. */
export function memoized<T, K extends string | number = string>(
  compute: (input: K) => T,
  remembered = 1000,
): (input: K) => T {
  const results = new Map<K, T>();
  return (input) => {
    const known = results.get(input);
    if (known !== undefined) return known;
    const result = compute(input);
    if (results.size >= remembered) results.clear();
    results.set(input, result);
    return result;
  };
}

/** Computes once per object. What it gives is shared by everybody who asks, so nobody may change it. */
export function computedOnce<K extends object, T>(compute: (input: K) => T): (input: K) => T {
  const results = new WeakMap<K, { result: T }>();
  return (input) => {
    const known = results.get(input);
    if (known) return known.result;
    const result = compute(input);
    results.set(input, { result });
    return result;
  };
}
