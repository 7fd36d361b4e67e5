import uPlot from 'uplot';
import type { SeriesStyle } from '../../../parts/colors.ts';
import type { Completeness } from './partial-buckets.ts';

type PathBuilder = uPlot.Series.PathBuilder;

/** Draws complete buckets only; `drawPartial` adds the others. */
export const buildCompletePaths =
  (build: PathBuilder, completeness: () => Completeness): PathBuilder =>
  (plot, index, from, to) => {
    const { first, last } = completeness();
    const [start, end] = [Math.max(from, first), Math.min(to, last)];
    return start > end ? null : build(plot, index, start, end);
  };

interface Options {
  completeness: Completeness;
  isBars: boolean;
  style: { series: readonly SeriesStyle[]; background: string; text: string };
}

/** Incomplete buckets look different, so that the newest one is not taken for a drop: dotted lines and hatched bars. */
export function drawPartial(
  plot: uPlot,
  index: number,
  build: PathBuilder,
  { completeness: { first, last, segments }, isBars, style }: Options,
): void {
  if (!plot.series[index]?.show || segments.length === 0) return;
  const { ctx, bbox } = plot;
  const color = style.series[index - 1]?.color ?? style.text;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const [from, to] of segments) {
    // A line starts at its last complete point, bars do not overlap.
    const start = isBars && from === last ? from + 1 : from;
    const end = isBars && to === first ? to - 1 : to;
    const paths = start > end ? null : build(plot, index, start, end);
    if (!paths) continue;
    if (isBars) {
      ctx.fillStyle = createHatch(ctx, color, style.background);
      if (paths.fill instanceof Path2D) ctx.fill(paths.fill);
    } else {
      ctx.strokeStyle = color;
      ctx.globalAlpha = 0.75;
      ctx.lineWidth = (plot.series[index]?.width ?? 1) * uPlot.pxRatio;
      ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
      if (paths.stroke instanceof Path2D) ctx.stroke(paths.stroke);
    }
  }
  ctx.restore();
}

/** Opaque: stacked bars are drawn over each other. */
function createHatch(ctx: CanvasRenderingContext2D, color: string, background: string): CanvasPattern | string {
  const size = 6 * uPlot.pxRatio;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [size, size];
  const cell = canvas.getContext('2d');
  if (!cell) return color;
  cell.fillStyle = background;
  cell.fillRect(0, 0, size, size);
  cell.strokeStyle = color;
  cell.lineWidth = 2 * uPlot.pxRatio;
  // Three strokes, so that the pattern continues across its edges.
  for (const shift of [-size, 0, size]) {
    cell.moveTo(shift, size);
    cell.lineTo(shift + size, 0);
  }
  cell.stroke();
  return ctx.createPattern(canvas, 'repeat') ?? color;
}
