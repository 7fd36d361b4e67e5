import { formatCredits, formatExactCredits, formatPercentChange, formatSign } from '../../../parts/format/format.ts';
import { toCredits } from '../breakdown.ts';
import classes from '../costs.module.css';

/** "+12.30 (+45%)", in micro-credits. Without a previous cost there is no percentage. */
export function ChangeAmount({ current, previous }: { current: number; previous: number }) {
  const change = current - previous;
  const direction = change > 0 ? 'up' : change < 0 ? 'down' : 'same';
  return (
    <span
      className={`ph-number ph-fixed ${classes.change}`}
      data-direction={direction}
      title={`${formatExactCredits(toCredits(change))} CHC`}
    >
      {formatSign(change)}
      {formatCredits(Math.abs(toCredits(change)))}
      <span className={classes.percent}>{formatRelativeChange(current, previous)}</span>
    </span>
  );
}

function formatRelativeChange(current: number, previous: number): string {
  if (previous === 0) return current === 0 ? '' : 'new';
  return formatPercentChange(((current - previous) / Math.abs(previous)) * 100);
}
