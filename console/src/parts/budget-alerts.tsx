import classes from './budget-alerts.module.css';
import { type Budget, DELIVERY_LABELS, explainDelivery, formatThreshold } from './budgets.ts';
import { Timestamp, useNow } from './timestamp.tsx';

/** The alerts of a budget in this month, with the state of their delivery and the reason for a failure. */
export function BudgetAlerts({ budget: { notices } }: { budget: Budget }) {
  const now = useNow();
  if (notices.length === 0) return <>None</>;
  return (
    <ul className={classes.alerts}>
      {notices.map((alert) => {
        const reason = explainDelivery(alert, now);
        return (
          <li key={alert.threshold} data-delivery={alert.delivery} data-problem={reason !== undefined}>
            <span className={classes.head}>
              {formatThreshold(alert.threshold)}: <b className={classes.state}>{DELIVERY_LABELS[alert.delivery]}</b>{' '}
              <span className={classes.when}>
                <Timestamp at={alert.lastAttemptAt ?? alert.createdAt} show="ago" />
              </span>
            </span>
            {reason !== undefined && <span className={classes.reason}>{reason}</span>}
          </li>
        );
      })}
    </ul>
  );
}
