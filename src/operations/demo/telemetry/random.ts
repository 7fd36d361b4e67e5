export type Random = ReturnType<typeof createRandom>;

/** Pseudo-random numbers seeded by `parts`: mulberry32 over an FNV-1a hash. Not for secrets. */
export function createRandom(...parts: (string | number)[]) {
  let state = 2166136261;
  for (const character of parts.join(' ')) state = Math.imul(state ^ character.charCodeAt(0), 16777619);

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function hex(digits: number): string {
    let text = '';
    while (text.length < digits)
      text += Math.floor(next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return text.slice(0, digits);
  }

  return {
    /** From 0 to 1, exclusive. */
    next,
    hex,
    chance: (probability: number): boolean => next() < probability,
    between: (low: number, high: number): number => low + (high - low) * next(),
    whole: (low: number, high: number): number => low + Math.floor(next() * (high - low + 1)),
    pick: <T>(list: readonly [T, ...T[]]): T => list[Math.floor(next() * list.length)] ?? list[0],
    /** Log-normal, like latencies. */
    around(median: number, spread: number): number {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return median * Math.exp(spread * normal);
    },
    /** Poisson-distributed. */
    count(mean: number): number {
      const limit = Math.exp(-mean);
      let happened = 0;
      for (let left = next(); left > limit; left *= next()) happened++;
      return happened;
    },
  };
}
