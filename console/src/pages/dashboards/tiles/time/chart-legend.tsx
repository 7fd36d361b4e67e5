import { memo } from 'react';
import type { SeriesStyle } from '../../../../parts/costs/colors.ts';
import { Swatch } from '../swatch.tsx';
import classes from './time-chart.module.css';

interface Props {
  labels: readonly string[];
  styles: readonly SeriesStyle[];
  /** Explains the drawing of incomplete buckets. */
  hasPartialBuckets: boolean;
  hidden: ReadonlySet<string>;
  onToggle: (label: string) => void;
  /** Shows only one series, or all again. */
  onIsolate: (label: string) => void;
}

/** A click toggles a series; Ctrl+click or Shift+click shows only that series. Memoized: hovering the chart does not render it again. */
export const ChartLegend = memo(function ChartLegend({
  labels,
  styles,
  hasPartialBuckets,
  hidden,
  onToggle,
  onIsolate,
}: Props) {
  return (
    <ul className={classes.legend} aria-label="Series">
      {labels.map((label, index) => (
        <li key={label}>
          <button
            type="button"
            className={classes.entry}
            aria-pressed={!hidden.has(label)}
            title={`${label}\nClick to toggle, Ctrl+click to show only this series`}
            onClick={(event) => (event.ctrlKey || event.metaKey || event.shiftKey ? onIsolate(label) : onToggle(label))}
          >
            <Swatch {...(styles[index] ?? { color: '', dash: [] })} />
            <span className={classes.entryText}>{label}</span>
          </button>
        </li>
      ))}
      {hasPartialBuckets && (
        <li className={classes.partialNote}>
          <Swatch color="currentColor" dash={[4, 4]} />
          Incomplete
        </li>
      )}
    </ul>
  );
});
