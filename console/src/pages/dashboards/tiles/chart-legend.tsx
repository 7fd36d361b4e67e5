import classes from './time-chart.module.css';

interface Props {
  entries: { label: string; colour: string; isHidden: boolean }[];
  onToggle: (label: string) => void;
  /** Shows one alone, or all again. */
  onOnly: (label: string) => void;
}

/** A click hides or shows a series; with Ctrl, Shift or a double click it is shown alone. */
export function ChartLegend({ entries, onToggle, onOnly }: Props) {
  return (
    <ul className={classes.legend} aria-label="Series">
      {entries.map(({ label, colour, isHidden }) => (
        <li key={label}>
          <button
            type="button"
            className={classes.entry}
            aria-pressed={!isHidden}
            title={`${label}\nClick to hide or show, Ctrl+click to show alone`}
            onClick={(event) => (event.ctrlKey || event.metaKey || event.shiftKey ? onOnly(label) : onToggle(label))}
          >
            <span className={classes.swatch} style={{ background: colour }} aria-hidden="true" />
            <span className={classes.entryText}>{label}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
