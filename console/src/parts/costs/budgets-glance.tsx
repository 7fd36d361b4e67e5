import { Anchor, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { forecastQuery } from '../../api/forecast-queries.ts';
import { useApi, useSession } from '../../app/context.tsx';
import { formatCredits, formatPercent } from '../format/format.ts';
import { EmptyState } from '../layout/empty-state.tsx';
import { ErrorNotice } from '../layout/error-notice.tsx';
import { Panel } from '../layout/panel.tsx';
import { BudgetAlerts } from './budget-alerts.tsx';
import { type Budget, budgetsQuery } from './budgets.ts';
import classes from './budgets-glance.module.css';

/** The budgets of the organization with the costs of this month, the forecast and the alerts. */
export function BudgetsAtAGlance() {
  const api = useApi();
  const { organizationId } = useSession();
  const budgets = useQuery(budgetsQuery(api, organizationId));
  const forecast = useQuery(forecastQuery(api, organizationId)).data;
  return (
    <Panel
      title="Budgets"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/costs" hash="budgets" {...props} />}>
          All budgets
        </Anchor>
      }
      flush
    >
      {budgets.data ? (
        budgets.data.length === 0 ? (
          <EmptyState title="No budgets yet">A budget alerts you when monthly costs reach a threshold.</EmptyState>
        ) : (
          <ul className={classes.list}>
            {budgets.data.map((budget) => (
              <BudgetItem
                key={budget.id}
                budget={budget}
                spent={forecast?.monthToDate.totalCHC}
                expected={forecast?.forecast.expectedCHC}
              />
            ))}
          </ul>
        )
      ) : budgets.error ? (
        <ErrorNotice error={budgets.error} title="Could not load budgets" retry={() => budgets.refetch()} />
      ) : (
        <Skeleton height={14} m="md" w="auto" />
      )}
    </Panel>
  );
}

interface Props {
  budget: Budget;
  /** CHC; undefined while the forecast loads. */
  spent: number | undefined;
  expected: number | undefined;
}

function BudgetItem({ budget, spent, expected }: Props) {
  const share = (chc: number | undefined) => ((chc ?? 0) / budget.monthlyCHC) * 100;
  const [spentPercent, expectedPercent] = [share(spent), share(expected)];
  const tone = spentPercent >= 100 ? 'bad' : expectedPercent >= 100 ? 'warn' : 'good';
  return (
    <li className={classes.item}>
      <div className={classes.head}>
        <span className={classes.name}>{budget.name}</span>
        <span className="ph-number">
          {spent === undefined ? '–' : formatCredits(spent)} of {formatCredits(budget.monthlyCHC)} CHC
        </span>
      </div>
      <div className={classes.bar} data-tone={tone} aria-hidden="true">
        <span className={classes.expected} style={{ width: `${Math.min(100, expectedPercent)}%` }} />
        <span className={classes.spent} style={{ width: `${Math.min(100, spentPercent)}%` }} />
      </div>
      {spent !== undefined && (
        <p className={classes.hint}>
          {formatPercent(Math.floor(spentPercent))} spent, forecast {formatPercent(Math.floor(expectedPercent))}
        </p>
      )}
      {budget.notices.length > 0 && <BudgetAlerts budget={budget} />}
    </li>
  );
}
