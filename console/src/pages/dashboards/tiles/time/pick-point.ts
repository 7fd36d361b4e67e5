import type uPlot from 'uplot';
import type { Drawing } from './time-series.ts';

/** A point of a chart, and where it was clicked in pixels. */
export interface PickedPoint {
  line: number;
  bucket: number;
  left: number;
  top: number;
}

/** The index of the bucket under the pointer: the nearest point of lines, the bar that starts there. */
export function findBucket(plot: uPlot, drawing: Drawing): number | undefined {
  const { idx, left = -1 } = plot.cursor;
  if (typeof idx !== 'number' || drawing !== 'stacked_bar') return idx ?? undefined;
  const isBefore = plot.posToVal(left, 'x') < (plot.data[0][idx] ?? 0);
  return isBefore ? Math.max(idx - 1, 0) : idx;
}

/** The nearest line, or the part of the stack under the pointer. Undefined if the bucket has no values. The previous period follows the `lines`. */
export function pickPoint(plot: uPlot, drawing: Drawing, lines: number): PickedPoint | undefined {
  const { left = -1, top = -1 } = plot.cursor;
  const bucket = findBucket(plot, drawing);
  if (bucket === undefined || left < 0) return undefined;
  const tops = plot.series.slice(1, lines + 1).flatMap(({ show }, line) => {
    const value = plot.data[line + 1]?.[bucket];
    return show && typeof value === 'number' ? [{ line, at: plot.valToPos(value, 'y') }] : [];
  });
  const below = drawing === 'line' ? [] : tops.filter(({ at }) => at <= top);
  // Parts without height share their position with the one below, which is the later line.
  const found =
    below.length > 0
      ? below.reduce((best, one) => (one.at >= best.at ? one : best))
      : tops.toSorted((one, other) => Math.abs(one.at - top) - Math.abs(other.at - top))[0];
  return found && { line: found.line, bucket, left: left + plot.over.offsetLeft, top: top + plot.over.offsetTop };
}
