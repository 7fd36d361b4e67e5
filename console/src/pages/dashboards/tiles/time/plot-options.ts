import uPlot from 'uplot';
import type { SeriesStyle } from '../../../../parts/costs/colors.ts';
import { formatAxisLabels } from '../../../../parts/format/times.ts';
import { syncCrosshair } from './crosshair.ts';
import { buildCompletePaths, drawPartial } from './draw-partial.ts';
import type { Completeness } from './partial-buckets.ts';
import type { Drawing } from './time-series.ts';

interface PlotStyle {
  series: readonly SeriesStyle[];
  /** Of the tile. */
  background: string;
  text: string;
  grid: string;
  font: string;
}

interface PlotInput {
  width: number;
  height: number;
  /** Epoch seconds. */
  range: () => [number, number];
  labels: readonly string[];
  /** Each line has a second one, of the previous period; a stack has one, of its total. */
  hasPrevious: boolean;
  /** Key of the charts that show the same instant. */
  crosshair: string | undefined;
  drawing: Drawing;
  isHidden: (index: number) => boolean;
  /** Changes with the data. */
  completeness: () => Completeness;
  style: PlotStyle;
  zone: string;
  format: (value: number) => string;
  onHover: (plot: uPlot) => void;
  onDraw: (plot: uPlot) => void;
  /** Epoch seconds. */
  onZoom: ((from: number, to: number) => void) | undefined;
}

/** Shorter than the dashes of series. */
const PREVIOUS_DASH = [3, 4];
/** Shorter drags count as clicks. */
const MIN_DRAG_PX = 6;
/** Above this number lines are one pixel wide: less overlap, and six times faster to draw without a GPU. */
const MAX_WIDE_LINES = 8;

export function plotOptions(given: PlotInput): uPlot.Options {
  const { width, height, range, labels, drawing, isHidden, completeness, style, zone, format, onZoom } = given;
  const { hasPrevious, crosshair } = given;
  const isBars = drawing === 'stacked_bar';
  const build = isBars ? uPlot.paths.bars?.({ size: [0.82, 48], align: 1 }) : uPlot.paths.linear?.();
  const lineWidth = labels.length > MAX_WIDE_LINES ? 1 : 1.75;
  const axis = { stroke: style.text, font: style.font, ticks: { show: false } };
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
      ...(crosshair !== undefined && { sync: syncCrosshair(crosshair) }),
    },
    scales: {
      x: { time: true, range },
      y: { range: (_plot, min, max) => computeYRange(min, max) },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 64,
        grid: { show: false },
        values: (_plot, marks, _axis, _space, step) => formatAxisLabels(marks, step, zone),
      },
      {
        ...axis,
        size: (_plot, texts) => 14 + 6.6 * Math.max(...(texts ?? ['']).map((text) => text.length)),
        space: (_plot, _axis, _min, _max, length) => Math.max(28, length / 12),
        grid: { stroke: style.grid, width: 1 },
        values: (_plot, marks) => marks.map(format),
      },
    ],
    series: [
      {},
      ...labels.map((label, index) => ({
        ...createSeries(label, style.series[index] ?? { color: style.text, dash: [] }, drawing, lineWidth),
        show: !isHidden(index),
        ...(build && { paths: buildCompletePaths(build, completeness) }),
      })),
      ...(hasPrevious && drawing === 'line' ? labels : []).map((label, index) => ({
        ...createSeries(label, { color: style.series[index]?.color ?? style.text, dash: PREVIOUS_DASH }, drawing, 1.25),
        alpha: 0.75,
        show: !isHidden(index),
      })),
      ...(hasPrevious && drawing !== 'line' ? createPreviousTotal(style, isBars) : []),
    ],
    hooks: {
      setCursor: [given.onHover],
      draw: [given.onDraw],
      drawSeries: build
        ? [
            (plot, index) =>
              index <= labels.length &&
              drawPartial(plot, index, build, { completeness: completeness(), isBars, style }),
          ]
        : [],
      setSelect: [
        (plot) => {
          if (plot.select.width < MIN_DRAG_PX) return;
          const { left, width: selectedWidth } = plot.select;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + selectedWidth, 'x'));
        },
      ],
    },
  };
}

function createSeries(label: string, { color, dash }: SeriesStyle, drawing: Drawing, lineWidth: number): uPlot.Series {
  return drawing === 'stacked_bar'
    ? { label, stroke: color, fill: color, width: 0, points: { show: false } }
    : {
        label,
        stroke: color,
        // Opaque: each area covers the lower part of the one before it.
        ...(drawing === 'stacked_line' && { fill: color }),
        width: lineWidth,
        ...(dash.length > 0 && { dash: [...dash] }),
        spanGaps: false,
        points: {
          show: false,
          size: 5,
          fill: color,
          filter: (plot, index) => findIsolatedPoints(plot.data[index] ?? []),
        },
      };
}

/** Twice the same line: the first one separates the second from the colors of the stack. Over bars, steps as wide as their intervals. */
function createPreviousTotal({ text, background }: PlotStyle, isBars: boolean): uPlot.Series[] {
  const paths = isBars ? uPlot.paths.stepped?.({ align: 1, extend: true }) : uPlot.paths.linear?.();
  const create = (color: string, dash: number[], width: number) => ({
    ...createSeries('Total of the previous period', { color, dash }, 'line', width),
    ...(paths && { paths }),
  });
  return [create(background, [], 4), create(text, PREVIOUS_DASH, 1.75)];
}

/** Points without neighbors, which a line would not show. */
function findIsolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  const hasValue = (index: number) => values[index] !== null && values[index] !== undefined;
  for (let index = 0; index < values.length; index += 1)
    if (hasValue(index) && !hasValue(index - 1) && !hasValue(index + 1)) found.push(index);
  return found;
}

/** Includes 0, with padding above and below the data. */
function computeYRange(min: number | null, max: number | null): [number, number] {
  const [low, high] = [Math.min(min ?? 0, 0), Math.max(max ?? 0, 0)];
  if (low === high) return [0, 1];
  const padding = (high - low) * 0.06;
  return [low < 0 ? low - padding : 0, high > 0 ? high + padding : 0];
}
