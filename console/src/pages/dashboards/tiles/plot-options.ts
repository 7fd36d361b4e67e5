import uPlot from 'uplot';
import { axisTexts } from '../times.ts';

export interface Look {
  colors: readonly string[];
  text: string;
  grid: string;
  font: string;
}

interface Given {
  width: number;
  height: number;
  /** Epoch seconds. */
  range: () => [number, number];
  labels: readonly string[];
  isBars: boolean;
  isHidden: (index: number) => boolean;
  look: Look;
  zone: string;
  format: (value: number) => string;
  onHover: (plot: uPlot) => void;
  /** Epoch seconds. */
  onZoom: ((from: number, to: number) => void) | undefined;
}

/** Narrower selections are clicks. */
const SMALLEST_DRAG_PX = 6;
/** More lines than this are drawn one pixel wide: they hide less of each other, and without a graphics card that is six times as fast. */
const MOST_WIDE_LINES = 8;

export function plotOptions(given: Given): uPlot.Options {
  const { width, height, range, labels, isBars, isHidden, look, zone, format, onHover, onZoom } = given;
  const lineWidth = labels.length > MOST_WIDE_LINES ? 1 : 1.75;
  const axis = { stroke: look.text, font: look.font, ticks: { show: false } };
  return {
    width,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    ...(zone === 'UTC' ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
    cursor: {
      points: { show: !isBars, size: 7 },
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      y: false,
    },
    scales: {
      x: { time: true, range },
      y: { range: (_plot, min, max) => spanOf(min, max) },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 64,
        grid: { show: false },
        values: (_plot, marks, _axis, _space, step) => axisTexts(marks, step, zone),
      },
      {
        ...axis,
        size: (_plot, texts) => 14 + 6.6 * Math.max(...(texts ?? ['']).map((text) => text.length)),
        space: (_plot, _axis, _min, _max, length) => Math.max(28, length / 12),
        grid: { stroke: look.grid, width: 1 },
        values: (_plot, marks) => marks.map(format),
      },
    ],
    series: [
      {},
      ...labels.map((label, index) =>
        seriesOf(label, look.colors[index] ?? look.text, isBars, isHidden(index), lineWidth),
      ),
    ],
    hooks: {
      setCursor: [onHover],
      setSelect: [
        (plot) => {
          if (plot.select.width < SMALLEST_DRAG_PX) return;
          const { left, width: wide } = plot.select;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + wide, 'x'));
        },
      ],
    },
  };
}

function seriesOf(label: string, color: string, isBars: boolean, isHidden: boolean, lineWidth: number): uPlot.Series {
  const bars = uPlot.paths.bars?.({ size: [0.82, 48], align: 1 });
  return isBars
    ? {
        label,
        show: !isHidden,
        stroke: color,
        fill: color,
        width: 0,
        points: { show: false },
        ...(bars ? { paths: bars } : {}),
      }
    : {
        label,
        show: !isHidden,
        stroke: color,
        width: lineWidth,
        spanGaps: false,
        points: { show: false, size: 5, fill: color, filter: (plot, index) => lonely(plot.data[index] ?? []) },
      };
}

/** Points with a gap on either side: no line would show them. */
function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined;
  for (let index = 0; index < values.length; index += 1)
    if (isThere(index) && !isThere(index - 1) && !isThere(index + 1)) found.push(index);
  return found;
}

/** From 0, or from below it where there is something below; with air above. */
function spanOf(min: number | null, max: number | null): [number, number] {
  const [low, high] = [Math.min(min ?? 0, 0), Math.max(max ?? 0, 0)];
  if (low === high) return [0, 1];
  const air = (high - low) * 0.06;
  return [low < 0 ? low - air : 0, high > 0 ? high + air : 0];
}
