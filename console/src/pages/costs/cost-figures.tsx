import { Credits } from '../../parts/costs/credits.tsx';
import { type Breakdown, toCredits } from './breakdown.ts';
import { ChangeAmount } from './changes/change-amount.tsx';
import { listCostChanges, sumChanges } from './changes/changes.ts';
import { useCostComparison } from './changes/use-cost-changes.ts';
import classes from './costs.module.css';
import type { CostsSearch } from './search.ts';
import type { Span } from './span.ts';

/** Total, change from the period before, daily average, and the part that is not final. */
export function CostFigures(props: { breakdown: Breakdown; span: Span; search: CostsSearch }) {
  const { breakdown, span, search } = props;
  const { data, isPlaceholderData } = useCostComparison(span);
  const { total, open, days } = breakdown;
  const sums = data && !isPlaceholderData ? sumChanges(listCostChanges(data.rows, search)) : undefined;
  return (
    <dl className={classes.figures}>
      <div>
        <dt>Total</dt>
        <dd>
          <Credits chc={toCredits(total)} />
        </dd>
      </div>
      {sums && (
        <div>
          <dt>{days.length === 1 ? 'Change from the day before' : `Change from the ${days.length} days before`}</dt>
          <dd data-testid="total-change">
            <ChangeAmount {...sums} />
          </dd>
        </div>
      )}
      {days.length > 1 && (
        <div>
          <dt>Daily average</dt>
          <dd>
            <Credits chc={toCredits(Math.round(total / days.length))} />
          </dd>
        </div>
      )}
      <div>
        <dt>Not final</dt>
        <dd>
          <Credits chc={toCredits(open)} />
        </dd>
      </div>
    </dl>
  );
}
