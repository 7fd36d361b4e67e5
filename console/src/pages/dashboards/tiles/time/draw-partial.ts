import uPlot from 'uplot';
import type { SeriesStyle } from '../../../../parts/costs/colors.ts';
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
export function drawPartial(plot: uPlot, index: number, build: PathBuilder, options: Options): void {
  const { completeness, isBars, style } = options;
  const series = plot.series[index];
  if (!series?.show || completeness.segments.length === 0) return;
  const { ctx, bbox } = plot;
  const color = style.series[index - 1]?.color ?? style.text;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const segment of completeness.segments) {
    const [from, to] = isBars ? withoutComplete(segment, completeness) : segment;
    const paths = from > to ? null : build(plot, index, from, to);
    if (isBars) fillHatched(ctx, paths?.fill, color, style.background);
    else strokeDotted(ctx, paths?.stroke, color, series.width ?? 1);
  }
  ctx.restore();
}

/** A line starts at its last complete point; bars do not overlap. */
const withoutComplete = ([from, to]: [number, number], { first, last }: Completeness): [number, number] => [
  from === last ? from + 1 : from,
  to === first ? to - 1 : to,
];

function strokeDotted(ctx: CanvasRenderingContext2D, path: unknown, color: string, width: number): void {
  if (!(path instanceof Path2D)) return;
  ctx.strokeStyle = color;
  ctx.lineWidth = width * uPlot.pxRatio;
  ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
  ctx.stroke(path);
}

function fillHatched(ctx: CanvasRenderingContext2D, path: unknown, color: string, background: string): void {
  if (!(path instanceof Path2D)) return;
  ctx.fillStyle = createHatch(ctx, color, background);
  ctx.fill(path);
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
