import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { assignStyles } from '../../../../parts/costs/colors.ts';
import type { NumberFormat } from '../../number-format.ts';
import { sumValues } from '../../time-values.ts';
import marks from './annotation-marks.module.css';
import { AnnotationMarks } from './annotation-marks.tsx';
import { ChartLegend } from './chart-legend.tsx';
import { ChartTooltip } from './chart-tooltip.tsx';
import { CrosshairContext, isElsewhere } from './crosshair.ts';
import type { PlotArea } from './exemplar-marks.tsx';
import { formatPart, type PartialBuckets } from './partial-buckets.ts';
import { findBucket, type PickedPoint, pickPoint } from './pick-point.ts';
import classes from './time-chart.module.css';
import { type Drawing, type Line, sumPrevious } from './time-series.ts';
import { usePlot } from './use-plot.ts';

interface Props {
  /** Accessible name. */
  label: string;
  lines: readonly Line[];
  /** The sum of the series that only the previous period has, for the total of a stack. */
  unmatchedPrevious?: (number | null)[] | undefined;
  /** Epoch milliseconds: the start of each bucket, and the whole range. */
  buckets: readonly number[];
  start: number;
  end: number;
  zone: string;
  drawing: Drawing;
  format: NumberFormat;
  partialBuckets: PartialBuckets;
  /** Called with the dragged range; epoch milliseconds. */
  onZoom?: ((start: number, end: number) => void) | undefined;
  /** Called with the point that was clicked. */
  onPick?: ((point: PickedPoint) => void) | undefined;
  /** Of the picked point. */
  menu?: ReactNode;
  /** Marks on the plot. */
  overlay?: ((area: PlotArea) => ReactNode) | undefined;
}

interface Hover {
  index: number;
  left: number;
  top: number;
  /** Width of the chart. */
  width: number;
}

const isComparedStack = (drawing: Drawing, lines: readonly Line[]): boolean =>
  drawing !== 'line' && lines.some(({ previous }) => previous !== undefined);

export function TimeChart(props: Props) {
  const { label, lines, buckets, start, end, zone, drawing, format, partialBuckets, onZoom, onPick, menu, overlay } =
    props;
  const unmatchedPrevious = props.unmatchedPrevious ?? [];
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [hover, setHover] = useState<Hover>();
  const [area, setArea] = useState<PlotArea>();
  const canvas = useRef<HTMLDivElement>(null);
  const labels = useMemo(() => lines.map((line) => line.label), [lines]);
  const styles = useMemo(() => assignStyles(labels, isDark), [labels, isDark]);
  usePlot(canvas, {
    lines,
    unmatchedPrevious,
    styles,
    partialBuckets,
    hidden,
    buckets,
    start,
    end,
    zone,
    drawing,
    isDark,
    format,
    crosshair: use(CrosshairContext),
    onHover(plot) {
      const { cursor, over, width } = plot;
      const { left = -1, top = -1 } = cursor;
      const index = findBucket(plot, drawing);
      const isHere = index !== undefined && left >= 0 && !isElsewhere(plot);
      setHover(isHere ? { index, left: left + over.offsetLeft, top, width } : undefined);
    },
    onDraw({ bbox, scales }) {
      const next = {
        left: bbox.left / uPlot.pxRatio,
        width: bbox.width / uPlot.pxRatio,
        top: bbox.top / uPlot.pxRatio,
        height: bbox.height / uPlot.pxRatio,
        min: scales.y?.min ?? 0,
        max: scales.y?.max ?? 0,
      };
      setArea((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
    },
    onPick(plot) {
      const point = onPick && pickPoint(plot, drawing, lines.length);
      if (point) onPick(point);
    },
    onZoom,
  });

  const findTotals = (index: number) => {
    const shown = lines.flatMap(({ label: name, values }) => (hidden.has(name) ? [] : [values]));
    return {
      value: sumValues(shown, buckets.length)[index] ?? null,
      previous: sumPrevious(lines, unmatchedPrevious, hidden)[index] ?? null,
    };
  };
  const toggle = useCallback(
    (name: string) =>
      setHidden((before) =>
        before.has(name) ? new Set([...before].filter((one) => one !== name)) : new Set([...before, name]),
      ),
    [],
  );
  const isolate = useCallback(
    (name: string) =>
      setHidden((before) => {
        const others = labels.filter((one) => one !== name);
        return others.every((one) => before.has(one)) ? new Set() : new Set(others);
      }),
    [labels],
  );
  return (
    <div className={classes.chart} data-testid="time-chart">
      <div className={classes.plot} data-pickable={onPick !== undefined}>
        <div ref={canvas} className={classes.canvas} role="img" aria-label={label} />
        {area && (
          <div className={marks.clip}>
            <AnnotationMarks area={area} start={start} end={end} zone={zone} />
            {overlay?.(area)}
          </div>
        )}
        {hover && !menu && (
          <ChartTooltip
            at={buckets[hover.index] ?? start}
            zone={zone}
            left={hover.left}
            top={hover.top}
            width={hover.width}
            rows={lines.map((line, index) => ({
              label: line.label,
              style: styles[index] ?? { color: '', dash: [] },
              value: hidden.has(line.label) ? null : (line.values[hover.index] ?? null),
              ...(line.previous && { previous: line.previous[hover.index] ?? null }),
            }))}
            total={isComparedStack(drawing, lines) ? findTotals(hover.index) : undefined}
            format={format}
            note={formatPart(partialBuckets, buckets, hover.index, end)}
          />
        )}
        {menu}
      </div>
      {lines.length > 1 && (
        <ChartLegend
          labels={labels}
          styles={styles}
          hasPartialBuckets={partialBuckets !== undefined}
          hidden={hidden}
          onToggle={toggle}
          onIsolate={isolate}
        />
      )}
    </div>
  );
}
