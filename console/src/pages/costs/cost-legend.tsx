import { formatCredits } from '../../parts/format.ts';
import type { CostGroup } from './breakdown.ts';
import classes from './cost-chart.module.css';

interface Props {
  groups: readonly CostGroup[];
  colors: ReadonlyMap<string, string>;
  hidden: ReadonlySet<string>;
  hasOpenDays: boolean;
  budgets: readonly { id: string; name: string; monthlyCHC: number }[];
  onToggle: (id: string) => void;
}

/** A click takes a part out of the bars or puts it back; the table always has all. */
export function CostLegend({ groups, colors, hidden, hasOpenDays, budgets, onToggle }: Props) {
  return (
    <ul className={classes.legend} aria-label="Parts of the bars">
      {groups.map(({ id, label }) => (
        <li key={id}>
          <button type="button" className={classes.entry} aria-pressed={!hidden.has(id)} onClick={() => onToggle(id)}>
            <span
              className={classes.swatch}
              style={{ background: colors.get(id), opacity: hidden.has(id) ? 0.25 : 1 }}
              aria-hidden="true"
            />
            {label}
          </button>
        </li>
      ))}
      {hasOpenDays && (
        <li>
          <span className={classes.entry}>
            <span className={classes.openMark} aria-hidden="true" />
            Day still open
          </span>
        </li>
      )}
      {budgets.map(({ id, name, monthlyCHC }) => (
        <li key={id}>
          <span className={classes.entry}>
            <span className={classes.dash} aria-hidden="true" />
            {name}: {formatCredits(monthlyCHC)} CHC a month
          </span>
        </li>
      ))}
    </ul>
  );
}
