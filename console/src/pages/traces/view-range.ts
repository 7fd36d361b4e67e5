/** The part of a trace on screen, in nanoseconds after its start. */
export interface ViewRange {
  start: number;
  end: number;
}

/** Below it, the marks of a ruler would be less than a nanosecond apart. */
const MIN_VIEW_NS = 10;

export const getWholeView = (durationNs: number): ViewRange => ({ start: 0, end: Math.max(durationNs, MIN_VIEW_NS) });

export function clampView({ start, end }: ViewRange, whole: ViewRange): ViewRange {
  const length = Math.min(Math.max(end - start, MIN_VIEW_NS), whole.end);
  const from = Math.min(Math.max(start, 0), whole.end - length);
  return { start: from, end: from + length };
}

/** `factor` below 1 shows less. */
export function zoomView({ start, end }: ViewRange, factor: number, whole: ViewRange): ViewRange {
  const [middle, half] = [(start + end) / 2, ((end - start) / 2) * factor];
  return clampView({ start: middle - half, end: middle + half }, whole);
}

/** The place of a time as a part of the view. */
export const getPlace = (ns: number, { start, end }: ViewRange): number => (ns - start) / (end - start);

const STEPS = [1, 2, 5, 10];
const MAX_TICKS = 6;

/** Times with round distances. */
export function listTicks({ start, end }: ViewRange): number[] {
  const least = (end - start) / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, (STEPS.find((one) => one * power >= least) ?? 10) * power);
  const ticks: number[] = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) ticks.push(Math.round(at));
  return ticks;
}

/** Parts of the view, as shares of its width. Those that are less than a pixel apart are one. */
export function mergeParts(parts: readonly { startNs: number; endNs: number }[], view: ViewRange): [number, number][] {
  const merged: [number, number][] = [];
  for (const { startNs, endNs } of parts) {
    const [from, to] = [Math.max(0, getPlace(startNs, view)), Math.min(1, getPlace(endNs, view))];
    if (to < 0 || from > 1) continue;
    const last = merged.at(-1);
    if (last && from - last[1] < PIXEL) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** About one pixel of a wide timeline. */
const PIXEL = 1 / 800;
