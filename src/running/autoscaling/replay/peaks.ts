/** In place of a value that was not measured. */
export const NOT_MEASURED = -1;

/** Values with the peak of each block of `BLOCK`: most blocks have no value of interest and are skipped. */
export interface IndexedValues {
  values: Float32Array;
  peaks: Float32Array;
}

export const BLOCK = 1 << 6;
const SHIFT = Math.log2(BLOCK);
/** `index | LAST` is the last index of a block. */
const LAST = BLOCK - 1;

export const createValues = (count: number): IndexedValues => ({
  values: new Float32Array(count),
  peaks: new Float32Array(Math.ceil(count / BLOCK)),
});

export function indexValues(values: Float32Array): IndexedValues {
  const peaks = new Float32Array(Math.ceil(values.length / BLOCK));
  for (let block = 0; block < peaks.length; block++)
    peaks[block] = values.subarray(block * BLOCK, (block + 1) * BLOCK).reduce((a, b) => Math.max(a, b), NOT_MEASURED);
  return { values, peaks };
}

/** The highest value from `first` to `last`; undefined if none was measured. */
export function findPeak({ values, peaks }: IndexedValues, first: number, last: number): number | undefined {
  let peak = NOT_MEASURED;
  for (let at = first; at <= last; ) {
    const blockPeak = peaks[at >> SHIFT] as number;
    const end = at | LAST;
    if (blockPeak <= peak) at = end + 1;
    else if ((at & LAST) === 0 && end <= last) {
      peak = blockPeak;
      at = end + 1;
    } else {
      for (; at <= end && at <= last; at++) {
        const value = values[at] as number;
        if (value > peak) peak = value;
      }
    }
  }
  return peak === NOT_MEASURED ? undefined : peak;
}

/** The first index from `first` to `last` with a value above the threshold; `last + 1` if there is none. */
export function findFirstAbove(
  { values, peaks }: IndexedValues,
  first: number,
  last: number,
  threshold: number,
): number {
  for (let at = first; at <= last; ) {
    const end = at | LAST;
    if ((peaks[at >> SHIFT] as number) <= threshold) at = end + 1;
    else for (; at <= end && at <= last; at++) if ((values[at] as number) > threshold) return at;
  }
  return last + 1;
}

/** The last index from `first` to `last` with a value that is not below the threshold; `first - 1` if there is none. */
export function findLastNotBelow(
  { values, peaks }: IndexedValues,
  first: number,
  last: number,
  threshold: number,
): number {
  for (let at = last; at >= first; ) {
    const start = at & ~LAST;
    if ((peaks[at >> SHIFT] as number) < threshold) at = start - 1;
    else for (; at >= start && at >= first; at--) if ((values[at] as number) >= threshold) return at;
  }
  return first - 1;
}
