import type { SeriesStyle } from '../../../parts/costs/colors.ts';
import classes from './time/time-chart.module.css';

/** The color of a series; stripes for a dashed line. */
export function Swatch({ color, dash: [length, gap] }: SeriesStyle) {
  const isDashed = length !== undefined && gap !== undefined;
  const background = isDashed
    ? `repeating-linear-gradient(90deg, ${color} 0 ${length / 2}px, transparent 0 ${(length + gap) / 2}px)`
    : color;
  return <span className={classes.swatch} style={{ background }} aria-hidden="true" />;
}
