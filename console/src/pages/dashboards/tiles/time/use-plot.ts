import { type RefObject, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { SeriesStyle } from '../../../../parts/costs/colors.ts';
import { formatValue, type NumberFormat } from '../../number-format.ts';
import { findCompleteness, type PartialBuckets } from './partial-buckets.ts';
import { plotOptions } from './plot-options.ts';
import { type Drawing, type Line, stackValues, sumPrevious } from './time-series.ts';

interface PlotData {
  lines: readonly Line[];
  /** The sum of the series that only the previous period has. */
  unmatchedPrevious: (number | null)[];
  styles: readonly SeriesStyle[];
  partialBuckets: PartialBuckets;
  hidden: ReadonlySet<string>;
  /** Epoch milliseconds: the start of each bucket, and the whole range. */
  buckets: readonly number[];
  start: number;
  end: number;
  zone: string;
  drawing: Drawing;
  isDark: boolean;
  format: NumberFormat;
  /** Key of the charts that show the same instant. */
  crosshair: string | undefined;
  onHover: (plot: uPlot) => void;
  onDraw: (plot: uPlot) => void;
  /** A click that is not the end of a drag. */
  onPick?: ((plot: uPlot) => void) | undefined;
  /** Called with the dragged range; epoch milliseconds. */
  onZoom: ((start: number, end: number) => void) | undefined;
}

const FONT = '11px system-ui, sans-serif';

/**
 * Renders a plot that follows the size of the element. It is recreated only if something other than data or size changes. The size comes from a
 * ResizeObserver: measuring would force a layout for every chart.
 */
export function usePlot(element: RefObject<HTMLElement | null>, plotted: PlotData): void {
  const latest = useRef(plotted);
  latest.current = plotted;
  const plot = useRef<uPlot>(undefined);
  const { lines, buckets, start, end, hidden, zone, drawing, isDark, format, crosshair, onZoom } = plotted;
  const labels = lines.map(({ label, previous }) => [label, previous !== undefined]);
  const shape = JSON.stringify([labels, [...hidden], zone, drawing, isDark, format, crosshair, onZoom !== undefined]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: shape covers everything but data and size
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      // Fractional sizes blur the canvas.
      const [width, height] = [Math.floor(entry?.contentRect.width ?? 0), Math.floor(entry?.contentRect.height ?? 0)];
      if (!element.current || width === 0 || height === 0) return;
      if (plot.current) {
        plot.current.setSize({ width, height });
        return;
      }
      const created = new uPlot(createOptions(latest, width, height), toPlotData(latest.current), element.current);
      created.over.addEventListener('click', () => latest.current.onPick?.(created));
      plot.current = created;
    });
    observer.observe(element.current);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, element]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only data changes update the plot
  useEffect(() => plot.current?.setData(toPlotData(latest.current)), [lines, buckets, start, end]);
}

function createOptions(latest: RefObject<PlotData>, width: number, height: number): uPlot.Options {
  const { lines, styles, hidden, zone, drawing, isDark, format, crosshair, onZoom } = latest.current;
  return plotOptions({
    width,
    height,
    range: () => [latest.current.start / 1000, latest.current.end / 1000],
    labels: lines.map(({ label }) => label),
    hasPrevious: hasPrevious(latest.current),
    crosshair,
    drawing,
    isHidden: (index) => hidden.has(lines[index]?.label ?? ''),
    style: {
      series: styles,
      background: isDark ? '#1b2226' : '#ffffff',
      text: isDark ? '#a3aeb6' : '#56616b',
      grid: isDark ? '#303a40' : '#e8edef',
      font: FONT,
    },
    completeness: () => findCompleteness(latest.current.partialBuckets, latest.current.buckets),
    zone,
    format: (value) => formatValue(value, { ...format, mantissa: undefined }),
    onHover: (plot) => latest.current.onHover(plot),
    onDraw: (plot) => latest.current.onDraw(plot),
    onZoom: onZoom && ((from, to) => latest.current.onZoom?.(Math.round(from * 1000), Math.round(to * 1000))),
  });
}

/** All lines have it, or none. */
const hasPrevious = ({ lines }: PlotData): boolean => lines.some(({ previous }) => previous !== undefined);

function toPlotData(data: PlotData): uPlot.AlignedData {
  const { lines, buckets, hidden, drawing, unmatchedPrevious } = data;
  const times = buckets.map((at) => at / 1000);
  if (drawing === 'line') {
    const past = hasPrevious(data) ? lines.map(({ previous = [] }) => previous) : [];
    return [times, ...lines.map((line) => line.values), ...past];
  }
  const stacked = stackValues(lines, (index) => hidden.has(lines[index]?.label ?? ''));
  if (!hasPrevious(data)) return [times, ...stacked];
  const total = sumPrevious(lines, unmatchedPrevious, hidden);
  return [times, ...stacked, total, total];
}
