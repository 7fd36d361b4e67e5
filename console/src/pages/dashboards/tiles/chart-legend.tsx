import { memo } from 'react';
import classes from './time-chart.module.css';

interface Props {
  labels: readonly string[];
  colors: readonly string[];
  hidden: ReadonlySet<string>;
  onToggle: (label: string) => void;
  /** Shows only one series, or all again. */
  onIsolate: (label: string) => void;
}

/** A click toggles a series; Ctrl+click or Shift+click shows only that series. Memoized: hovering the chart does not render it again. */
export const ChartLegend = memo(function ChartLegend({ labels, colors, hidden, onToggle, onIsolate }: Props) {
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
            <span className={classes.swatch} style={{ background: colors[index] }} aria-hidden="true" />
            <span className={classes.entryText}>{label}</span>
          </button>
        </li>
      ))}
    </ul>
  );
});
