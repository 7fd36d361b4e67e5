import { Timestamp, useNow } from '../format/timestamp.tsx';
import classes from './budget-alerts.module.css';
import { type Budget, DELIVERY_LABELS, groupAlerts } from './budgets.ts';

/** The alerts of a budget in this month, with the state of their delivery and the reason for a failure. */
export function BudgetAlerts({ budget: { notices } }: { budget: Budget }) {
  const now = useNow();
  if (notices.length === 0) return <>None</>;
  return (
    <ul className={classes.alerts}>
      {groupAlerts(notices, now).map(({ delivery, thresholds, at, reason }) => (
        <li key={thresholds} data-delivery={delivery} data-problem={reason !== undefined}>
          <span className={classes.head}>
            {thresholds}: <b className={classes.state}>{DELIVERY_LABELS[delivery]}</b>{' '}
            <span className={classes.when}>
              <Timestamp at={at} show="ago" />
            </span>
          </span>
          {reason !== undefined && <span className={classes.reason}>{reason}</span>}
        </li>
      ))}
    </ul>
  );
}
