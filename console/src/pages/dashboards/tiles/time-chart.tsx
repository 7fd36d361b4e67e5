import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { coloursOf } from '../../../parts/colours.ts';
import type { NumberFormat } from '../number-format.ts';
import { formatValue } from '../number-format.ts';
import { ChartLegend } from './chart-legend.tsx';
import { ChartTip } from './chart-tip.tsx';
import { plotOptions } from './plot-options.ts';
import classes from './time-chart.module.css';
import { type Line, stacked } from './time-series.ts';

interface Props {
  /** For those who do not see it. */
  label: string;
  lines: readonly Line[];
  /** Epoch milliseconds: where each bucket begins, and the whole range. */
  buckets: readonly number[];
  start: number;
  end: number;
  zone: string;
  isBars: boolean;
  format: NumberFormat;
  /** A range was dragged over; epoch milliseconds. */
  onZoom?: ((start: number, end: number) => void) | undefined;
}

interface Hover {
  index: number;
  left: number;
  top: number;
}

const FONT = '11px system-ui, sans-serif';

export function TimeChart({ label, lines, buckets, start, end, zone, isBars, format, onZoom }: Props) {
  const isDark = useComputedColorScheme('light') === 'dark';
  const { ref, width, height } = useElementSize();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [hover, setHover] = useState<Hover>();
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const colours = useMemo(
    () =>
      coloursOf(
        lines.map((line) => line.label),
        isDark,
      ),
    [lines, isDark],
  );
  const canvas = useRef<HTMLDivElement>(null);
  const isZoomable = onZoom !== undefined;
  const formatKey = JSON.stringify(format);

  // Built anew when anything changes: cheaper than telling what did, and it takes a few milliseconds.
  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0 || height === 0) return undefined;
    const isHidden = (index: number) => hidden.has(lines[index]?.label ?? '');
    const written = JSON.parse(formatKey) as NumberFormat;
    const plot = new uPlot(
      plotOptions({
        width,
        height,
        range: [start / 1000, end / 1000],
        labels: lines.map((line) => line.label),
        isBars,
        isHidden,
        look: {
          colours,
          text: isDark ? '#a3aeb6' : '#56616b',
          grid: isDark ? '#303a40' : '#e8edef',
          font: FONT,
        },
        zone,
        format: (value) => formatValue(value, { ...written, mantissa: undefined }),
        onHover: ({ cursor: { idx, left = -1, top = -1 }, over }) =>
          setHover(
            typeof idx === 'number' && left >= 0 ? { index: idx, left: left + over.offsetLeft, top } : undefined,
          ),
        onZoom: isZoomable ? (from, to) => zoom.current?.(Math.round(from * 1000), Math.round(to * 1000)) : undefined,
      }),
      [buckets.map((at) => at / 1000), ...(isBars ? stacked(lines, isHidden) : lines.map(({ values }) => values))],
      element,
    );
    return () => plot.destroy();
  }, [width, height, lines, buckets, start, end, zone, isBars, formatKey, colours, isDark, hidden, isZoomable]);

  const toggle = (name: string) =>
    setHidden((before) =>
      before.has(name) ? new Set([...before].filter((one) => one !== name)) : new Set([...before, name]),
    );
  return (
    <div className={classes.chart} data-testid="time-chart">
      <div className={classes.plot} ref={ref} role="img" aria-label={label}>
        <div ref={canvas} className={classes.canvas} />
        {hover && (
          <ChartTip
            at={buckets[hover.index] ?? start}
            zone={zone}
            left={hover.left}
            top={hover.top}
            width={width}
            rows={lines.map((line, index) => ({
              label: line.label,
              colour: colours[index] ?? '',
              value: hidden.has(line.label) ? null : (line.values[hover.index] ?? null),
            }))}
            format={format}
          />
        )}
      </div>
      {lines.length > 1 && (
        <ChartLegend
          entries={lines.map((line, index) => ({
            label: line.label,
            colour: colours[index] ?? '',
            isHidden: hidden.has(line.label),
          }))}
          onToggle={toggle}
          onOnly={(name) =>
            setHidden((before) => {
              const others = lines.map((line) => line.label).filter((one) => one !== name);
              return others.every((one) => before.has(one)) ? new Set() : new Set(others);
            })
          }
        />
      )}
    </div>
  );
}
