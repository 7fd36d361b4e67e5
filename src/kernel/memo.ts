/** Remembers the results of a pure function for the inputs seen lately; starts over when it has seen too many. */
export function memoized<T>(compute: (input: string) => T, remembered = 1000): (input: string) => T {
  const results = new Map<string, T>();
  return (input) => {
    const known = results.get(input);
    if (known !== undefined) return known;
    const result = compute(input);
    if (results.size >= remembered) results.clear();
    results.set(input, result);
    return result;
  };
}
