import { NOT_MEASURED } from './load-series.ts';

/**
 * The maximum of each value and the `width - 1` values before it, in one pass forwards and one backwards over blocks of
 * `width` (van Herk): the cost does not depend on the width.
 */
export function computeSlidingPeaks(
  values: Float32Array,
  width: number,
  peaks: Float32Array = new Float32Array(values.length),
): Float32Array {
  const count = values.length;
  /** The maximum from each position to the end of its block. */
  const suffix = new Float32Array(width);
  for (let start = 0; start < count; start += width) {
    const end = Math.min(start + width, count);
    let prefix = NOT_MEASURED;
    for (let index = start; index < end; index++) {
      const value = values[index] as number;
      if (value > prefix) prefix = value;
      const earlier = index - start + 1 < width && start > 0 ? (suffix[index - start + 1] as number) : NOT_MEASURED;
      peaks[index] = earlier > prefix ? earlier : prefix;
    }
    if (end - start < width) break;
    let last = NOT_MEASURED;
    for (let index = end - 1; index >= start; index--) {
      const value = values[index] as number;
      if (value > last) last = value;
      suffix[index - start] = last;
    }
  }
  return peaks;
}

/** The maximum of `values` from `index - width + 1` to `index`; undefined if none was measured. */
export function findPeak(values: Float32Array | undefined, index: number, width: number): number | undefined {
  if (!values) return undefined;
  let peak = NOT_MEASURED;
  for (let at = Math.max(0, index - width + 1); at <= index; at++) {
    const value = values[at] as number;
    if (value > peak) peak = value;
  }
  return peak === NOT_MEASURED ? undefined : peak;
}
