import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import type { AutoscalingTimeline } from '../../api/types.ts';
import { PALETTES } from '../../parts/colors.ts';
import { formatDateTime } from '../../parts/times.ts';
import classes from './autoscaling.module.css';
import { createPlotOptions } from './autoscaling-plot.ts';
import { formatSeriesValue, SERIES, toChartRows } from './autoscaling-series.ts';
import { formatDecision } from './decision-text.ts';

/** Of the palette: different also with a color vision deficiency. */
const COLOR_SLOTS = [0, 1, 8, 7];
/** A decision this close to the pointer is in the tooltip. */
const NEAR_PX = 8;

interface Hover {
  index: number;
  left: number;
  /** Of the chart. */
  width: number;
  /** Decisions at the pointer. */
  ids: string[];
}

/** Load, size, decisions and cost on one time axis. */
export function AutoscalingChart({ timeline }: { timeline: AutoscalingTimeline }) {
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const colors = useMemo(() => COLOR_SLOTS.map((slot) => PALETTES[isDark ? 'dark' : 'light'][slot] ?? ''), [isDark]);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const element = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => toChartRows(timeline), [timeline]);
  const [hover, setHover] = useState<Hover>();

  useEffect(() => {
    let plot: uPlot | undefined;
    const marks = timeline.decisions.map(({ id, at, isApplied }) => ({ id, at: Date.parse(at) / 1000, isApplied }));
    const onHover = ({ cursor: { idx, left = -1 }, over, width, valToPos }: uPlot) => {
      const ids = marks.filter(({ at }) => Math.abs(valToPos(at, 'x') - left) <= NEAR_PX).map(({ id }) => id);
      const isInside = typeof idx === 'number' && left >= 0;
      setHover(isInside ? { index: idx, left: left + over.offsetLeft, width, ids } : undefined);
    };
    const observer = new ResizeObserver(([entry]) => {
      // Fractional sizes blur the canvas.
      const [width, height] = [Math.floor(entry?.contentRect.width ?? 0), Math.floor(entry?.contentRect.height ?? 0)];
      if (!element.current || width === 0 || height === 0) return;
      plot?.destroy();
      const range = (): [number, number] => [Date.parse(timeline.from) / 1000, Date.parse(timeline.to) / 1000];
      const options = createPlotOptions({
        width,
        height,
        range,
        decisions: () => marks,
        colors,
        isDark,
        zone,
        onHover,
      });
      plot = new uPlot(options, [rows.times.map((at) => at / 1000), ...rows.values], element.current);
    });
    if (element.current) observer.observe(element.current);
    return () => {
      observer.disconnect();
      plot?.destroy();
    };
  }, [rows, timeline, colors, isDark, zone]);

  return (
    <div data-testid="autoscaling-chart">
      <div className={classes.plot} role="img" aria-label="Load, size, decisions and cost over time">
        <div ref={element} className={classes.canvas} />
        {hover && (
          <div
            className={classes.tip}
            style={hover.left > hover.width / 2 ? { right: hover.width - hover.left + 14 } : { left: hover.left + 14 }}
          >
            <div className={classes.mark}>{formatDateTime(rows.times[hover.index] ?? 0, zone)}</div>
            {SERIES.map(({ label, unit }, index) => {
              const value = rows.values[index]?.[hover.index];
              return (
                typeof value === 'number' && (
                  <div key={label} className={classes.entry}>
                    <Swatch color={colors[index] ?? ''} /> {label} <b>{formatSeriesValue(value, unit)}</b>
                  </div>
                )
              );
            })}
            {timeline.decisions
              .filter(({ id }) => hover.ids.includes(id))
              .map((decision) => (
                <div key={decision.id}>
                  <b>{formatDecision(decision)}</b>: {decision.reason}
                </div>
              ))}
          </div>
        )}
      </div>
      <ul className={classes.legend}>
        {SERIES.map(({ label, unit }, index) => (
          <li key={label} className={classes.entry}>
            <Swatch color={colors[index] ?? ''} /> {label} ({unit})
          </li>
        ))}
        <li>▼ Applied decision</li>
        <li>▽ Recommendation</li>
      </ul>
    </div>
  );
}

const Swatch = ({ color }: { color: string }) => (
  <span className={classes.swatch} style={{ background: color }} aria-hidden="true" />
);
