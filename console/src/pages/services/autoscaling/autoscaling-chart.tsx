import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useId, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import type { AutoscalingTimeline } from '../../../api/types.ts';
import { PALETTES } from '../../../parts/costs/colors.ts';
import { formatDateTime } from '../../../parts/format/times.ts';
import classes from './autoscaling.module.css';
import { createPlotOptions } from './autoscaling-plot.ts';
import { formatSeriesValue, PANELS, SERIES, toChartRange, toChartRows } from './autoscaling-series.ts';
import { formatDecision } from './decision-text.ts';

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

/** Memory, CPU and cost in panels above each other, with one time axis and the decisions across all of them. */
export function AutoscalingChart({ timeline }: { timeline: AutoscalingTimeline }) {
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const colors = useMemo(
    () => SERIES.map(({ colorSlot }) => PALETTES[isDark ? 'dark' : 'light'][colorSlot] ?? ''),
    [isDark],
  );
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const container = useRef<HTMLDivElement>(null);
  const syncKey = useId();
  const rows = useMemo(() => toChartRows(timeline), [timeline]);
  const [hover, setHover] = useState<Hover>();

  useEffect(() => {
    let plots: uPlot[] = [];
    const times = rows.times.map((at) => at / 1000);
    const [from, to] = toChartRange(timeline);
    const decisions = timeline.decisions.map(({ id, at, isApplied }) => ({ id, at: Date.parse(at) / 1000, isApplied }));
    const onHover = ({ cursor: { idx, left = -1 }, over, width, valToPos }: uPlot) => {
      const ids = decisions.filter(({ at }) => Math.abs(valToPos(at, 'x') - left) <= NEAR_PX).map(({ id }) => id);
      const isInside = typeof idx === 'number' && left >= 0;
      setHover(isInside ? { index: idx, left: left + over.offsetLeft, width, ids } : undefined);
    };
    const observer = new ResizeObserver(([entry]) => {
      // Fractional sizes blur the canvas.
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (!container.current || width === 0) return;
      for (const plot of plots) plot.destroy();
      plots = [...container.current.querySelectorAll<HTMLElement>('[data-canvas]')].flatMap((element, index) => {
        const panel = PANELS[index];
        if (!panel) return [];
        const options = createPlotOptions({
          panel,
          width,
          height: element.clientHeight,
          range: [from / 1000, to / 1000],
          decisions,
          colors,
          isDark,
          zone,
          syncKey,
          onHover,
        });
        return new uPlot(options, [times, ...panel.series.map((position) => rows.values[position] ?? [])], element);
      });
    });
    if (container.current) observer.observe(container.current);
    return () => {
      observer.disconnect();
      for (const plot of plots) plot.destroy();
    };
  }, [rows, timeline, colors, isDark, zone, syncKey]);

  return (
    <div data-testid="autoscaling-chart">
      <div ref={container} className={classes.panels}>
        {PANELS.map(({ title, unit, series }) => (
          <div key={title}>
            <div className={classes.legend}>
              <b>
                {title} ({unit})
              </b>
              {series.length > 1 &&
                series.map((position) => <LegendEntry key={position} position={position} colors={colors} />)}
            </div>
            <div className={classes.plot} role="img" aria-label={`${title} in ${unit} over time`}>
              <div data-canvas className={classes.canvas} />
            </div>
          </div>
        ))}
        {hover && (
          <div
            className={`ph-tip ${classes.tip}`}
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
      {timeline.decisions.length > 0 && (
        <div className={classes.legend}>
          <span>▼ Applied decision</span>
          <span>▽ Recommendation</span>
        </div>
      )}
    </div>
  );
}

const LegendEntry = ({ position, colors }: { position: number; colors: readonly string[] }) => (
  <span className={classes.entry}>
    <Swatch color={colors[position] ?? ''} /> {SERIES[position]?.label}
  </span>
);

const Swatch = ({ color }: { color: string }) => (
  <span className={classes.swatch} style={{ background: color }} aria-hidden="true" />
);
