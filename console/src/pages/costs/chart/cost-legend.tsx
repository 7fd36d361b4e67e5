import { formatCredits } from '../../../parts/format/format.ts';
import type { CostGroup } from '../breakdown.ts';
import classes from './cost-chart.module.css';

interface Props {
  groups: readonly CostGroup[];
  colors: ReadonlyMap<string, string>;
  hidden: ReadonlySet<string>;
  hasOpenDays: boolean;
  hasMarks: boolean;
  budgets: readonly { id: string; name: string; monthlyCHC: number }[];
  onToggle: (id: string) => void;
}

/** A click hides or shows a group in the chart. The table always lists all groups. */
export function CostLegend({ groups, colors, hidden, hasOpenDays, hasMarks, budgets, onToggle }: Props) {
  return (
    <ul className={classes.legend} aria-label="Legend">
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
            Not final
          </span>
        </li>
      )}
      {hasMarks && (
        <li>
          <span className={classes.entry}>
            <span className={classes.triangle} aria-hidden="true" />
            Scaling change
          </span>
        </li>
      )}
      {budgets.map(({ id, name, monthlyCHC }) => (
        <li key={id}>
          <span className={classes.entry}>
            <span className={classes.dash} aria-hidden="true" />
            Budget {name}: {formatCredits(monthlyCHC)} CHC per month
          </span>
        </li>
      ))}
    </ul>
  );
}
