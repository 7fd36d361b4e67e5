import uPlot from 'uplot';
import { formatAxisLabels } from '../../parts/times.ts';
import { SERIES, type Unit } from './autoscaling-series.ts';

interface PlotInput {
  width: number;
  height: number;
  /** Epoch seconds. */
  range: () => [number, number];
  /** Epoch seconds and whether the decision was applied. */
  decisions: () => readonly { at: number; isApplied: boolean }[];
  colors: readonly string[];
  isDark: boolean;
  zone: string;
  onHover: (plot: uPlot) => void;
}

const FONT = '11px system-ui, sans-serif';
/** Below this width the axes of CPU and cost are left out; the tooltip has the values. */
const MIN_WIDTH_OF_AXES = 620;

/** Three scales on one time axis: GB on the left, cores and cost on the right. */
export function createPlotOptions(input: PlotInput): uPlot.Options {
  const { width, height, range, decisions, colors, isDark, zone, onHover } = input;
  const [text, grid] = isDark ? ['#a3aeb6', '#303a40'] : ['#56616b', '#e8edef'];
  const axis = { stroke: text, font: FONT, ticks: { show: false } };
  const valueAxis = (scale: Unit, isLeft: boolean): uPlot.Axis => ({
    ...axis,
    scale,
    side: isLeft ? 3 : 1,
    size: 38,
    label: scale,
    labelFont: FONT,
    labelSize: 16,
    show: isLeft || width >= MIN_WIDTH_OF_AXES,
    grid: { show: isLeft, stroke: grid, width: 1 },
  });
  const fromZero = (room: number) => ({
    range: (_plot: uPlot, _min: number, max: number): [number, number] => [0, (max || 1) * room],
  });
  return {
    width,
    height,
    padding: [8, width < MIN_WIDTH_OF_AXES ? 12 : 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 7 } },
    scales: {
      x: { time: true, range },
      GB: fromZero(1.08),
      cores: fromZero(1.08),
      // Twice the room: the cost follows the size, and the two lines would hide each other.
      'CHC/h': fromZero(2),
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 64,
        grid: { show: false },
        values: (_plot, marks, _axis, _space, step) => formatAxisLabels(marks, step, zone),
      },
      valueAxis('GB', true),
      valueAxis('cores', false),
      valueAxis('CHC/h', false),
    ],
    series: [
      {},
      ...SERIES.map(({ label, unit, isStepped }, index) => {
        const paths = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.();
        return {
          label,
          scale: unit,
          stroke: colors[index] ?? text,
          width: isStepped ? 2 : 1.5,
          ...(unit === 'CHC/h' && { dash: [6, 4] }),
          ...(label === 'Size' && { fill: `${colors[index] ?? text}1f` }),
          spanGaps: false,
          points: { show: false },
          ...(paths && { paths }),
        };
      }),
    ],
    hooks: { setCursor: [onHover], draw: [(plot) => drawDecisions(plot, decisions(), text)] },
  };
}

/** A vertical line with a triangle per decision: filled if it was applied. */
function drawDecisions(plot: uPlot, decisions: readonly { at: number; isApplied: boolean }[], color: string): void {
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
