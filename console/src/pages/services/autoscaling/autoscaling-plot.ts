import uPlot from 'uplot';
import { formatAxisLabels } from '../../../parts/format/times.ts';
import { PANELS, SERIES } from './autoscaling-series.ts';

interface PlotInput {
  panel: (typeof PANELS)[number];
  width: number;
  height: number;
  /** Epoch seconds. */
  range: [number, number];
  /** Epoch seconds and whether the decision was applied. */
  decisions: readonly { at: number; isApplied: boolean }[];
  /** One per series. */
  colors: readonly string[];
  isDark: boolean;
  zone: string;
  /** The panels with the same key share a cursor. */
  syncKey: string;
  onHover: (plot: uPlot) => void;
}

const FONT = '11px system-ui, sans-serif';
/** The same in every panel, so that their time axes align. */
const AXIS_WIDTH = 52;

/** One panel of the chart. The last one has the labels of the time axis. */
export function createPlotOptions(input: PlotInput): uPlot.Options {
  const { panel, width, height, range, decisions, colors, isDark, zone, syncKey, onHover } = input;
  const [text, grid] = isDark ? ['#a3aeb6', '#303a40'] : ['#56616b', '#e8edef'];
  const axis = { stroke: text, font: FONT, ticks: { show: false } };
  const isFirst = panel === PANELS[0];
  const isLast = panel === PANELS.at(-1);
  return {
    width,
    height,
    padding: [isFirst ? 10 : 6, 10, isLast ? 0 : 6, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { size: 7 },
      sync: { key: syncKey },
    },
    scales: {
      x: { time: true, range: () => range },
      // A little room above, so that the largest value is not at the edge.
      y: { range: (_plot, _min, max) => [0, (max || 1) * 1.08] },
    },
    axes: [
      {
        ...axis,
        size: isLast ? 26 : 0,
        space: 64,
        grid: { stroke: grid, width: 1 },
        values: (_plot, marks, _axis, _space, step) =>
          isLast ? formatAxisLabels(marks, step, zone) : marks.map(() => ''),
      },
      { ...axis, size: AXIS_WIDTH, space: 26, grid: { stroke: grid, width: 1 } },
    ],
    series: [
      {},
      ...panel.series.map((position) => {
        const { label = '', isStepped = false } = SERIES[position] ?? {};
        const paths = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.();
        const color = colors[position] ?? text;
        return {
          label,
          stroke: color,
          width: 2,
          ...(label !== 'Memory used' && { fill: `${color}1f` }),
          spanGaps: false,
          points: { show: false },
          ...(paths && { paths }),
        };
      }),
    ],
    hooks: { setCursor: [onHover], draw: [(plot) => drawDecisions(plot, decisions, text, isFirst)] },
  };
}

/** A vertical line per decision; in the first panel with a triangle, which is filled if the decision was applied. */
function drawDecisions(
  plot: uPlot,
  decisions: readonly { at: number; isApplied: boolean }[],
  color: string,
  hasTriangles: boolean,
): void {
  const { ctx, bbox } = plot;
  const size = 5 * uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = uPlot.pxRatio;
  for (const { at, isApplied } of decisions) {
    const x = Math.round(plot.valToPos(at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    if (!hasTriangles) continue;
    ctx.beginPath();
    ctx.moveTo(x - size, bbox.top);
    ctx.lineTo(x + size, bbox.top);
    ctx.lineTo(x, bbox.top + size * 1.6);
    ctx.closePath();
    if (isApplied) ctx.fill();
    else ctx.stroke();
  }
  ctx.restore();
}
