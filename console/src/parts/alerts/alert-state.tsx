import type { Alert } from '../../api/generated.ts';
import classes from './alert-state.module.css';
import { getShownStatus, type ShownStatus, STATUS_LABELS } from './alert-status.ts';

export const StatusText = ({ status }: { status: ShownStatus }) => (
  <span className={classes.state} data-status={status}>
    <span className={classes.dot} aria-hidden="true" />
    {STATUS_LABELS[status]}
  </span>
);

export const AlertState = ({ alert }: { alert: Alert }) => <StatusText status={getShownStatus(alert)} />;
