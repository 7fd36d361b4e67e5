import { memo } from 'react';
import classes from './time-chart.module.css';

interface Props {
  labels: readonly string[];
  colors: readonly string[];
  hidden: ReadonlySet<string>;
  onToggle: (label: string) => void;
  /** Shows one alone, or all again. */
  onOnly: (label: string) => void;
}

/** A click hides or shows a series; with Ctrl, Shift or a double click it is shown alone. The pointer over the chart does not draw it anew. */
export const ChartLegend = memo(function ChartLegend({ labels, colors, hidden, onToggle, onOnly }: Props) {
  return (
    <ul className={classes.legend} aria-label="Series">
      {labels.map((label, index) => (
        <li key={label}>
          <button
            type="button"
            className={classes.entry}
            aria-pressed={!hidden.has(label)}
            title={`${label}\nClick to hide or show, Ctrl+click to show alone`}
            onClick={(event) => (event.ctrlKey || event.metaKey || event.shiftKey ? onOnly(label) : onToggle(label))}
          >
            <span className={classes.swatch} style={{ background: colors[index] }} aria-hidden="true" />
            <span className={classes.entryText}>{label}</span>
          </button>
        </li>
      ))}
    </ul>
  );
});
