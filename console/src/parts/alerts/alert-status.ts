import type { Alert, AlertInput } from '../../api/generated.ts';
import { formatNumber } from '../format/format.ts';

type AlertStatus = Alert['status'];
/** `new`: no window was evaluated, so there is no state. */
export type ShownStatus = AlertStatus | 'new';
export type Condition = NonNullable<AlertInput['condition']>;
type Threshold = Pick<AlertInput, 'thresholdType'> & { threshold: number; thresholdMax?: number | null | undefined };

/** In the order of lists: what needs attention first. */
export const STATUS_LABELS: Readonly<Record<ShownStatus, string>> = {
  firing: 'Firing',
  failed: 'Failed',
  no_data: 'No data',
  pending: 'Pending',
  ok: 'OK',
  new: 'Not evaluated yet',
};
export const STATUSES = Object.keys(STATUS_LABELS) as ShownStatus[];

/** A new alert is stored as ok, which was not observed. */
export const getShownStatus = ({ status, evaluatedUntil }: Pick<Alert, 'status' | 'evaluatedUntil'>): ShownStatus =>
  status === 'ok' && evaluatedUntil === undefined ? 'new' : status;

/** Whether the alert sends messages while nothing is silenced. */
export const needsAttention = (alert: Alert): boolean =>
  ['firing', 'failed', 'no_data'].includes(getShownStatus(alert));

const MINUTE_MS = 60_000;
export const INTERVAL_MS: Readonly<Record<Alert['interval'], number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '12h': 720 * MINUTE_MS,
  '1d': 1440 * MINUTE_MS,
};
export const INTERVAL_LABELS: Readonly<Record<Alert['interval'], string>> = {
  '1m': '1 minute',
  '5m': '5 minutes',
  '15m': '15 minutes',
  '30m': '30 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '12h': '12 hours',
  '1d': '1 day',
};

const LATE_WINDOWS = 3;

/** Whether the state is out of date: the last windows have not been evaluated. */
export function isLate({ evaluatedUntil, interval, evaluationDelaySeconds }: Alert, now: Date): boolean {
  if (evaluatedUntil === undefined) return false;
  const delayMs = (evaluationDelaySeconds ?? 0) * 1000 + MINUTE_MS;
  return Date.parse(evaluatedUntil) + LATE_WINDOWS * INTERVAL_MS[interval] + delayMs < now.getTime();
}

export const THRESHOLD_LABELS: Readonly<Record<Alert['thresholdType'], string>> = {
  above: 'at least (≥)',
  above_exclusive: 'more than (>)',
  below: 'less than (<)',
  below_or_equal: 'at most (≤)',
  equal: 'equal to (=)',
  not_equal: 'not equal to (≠)',
  between: 'between',
  not_between: 'outside',
};

const SIGNS: Readonly<Record<string, string>> = {
  above: '≥',
  above_exclusive: '>',
  below: '<',
  below_or_equal: '≤',
  equal: '=',
  not_equal: '≠',
};

export const hasTwoLimits = (type: Alert['thresholdType']): boolean => type === 'between' || type === 'not_between';

/** "≥ 100", "outside 5 – 10". */
export function formatThreshold({ thresholdType, threshold, thresholdMax }: Threshold): string {
  if (!hasTwoLimits(thresholdType)) return `${SIGNS[thresholdType]} ${formatNumber(threshold)}`;
  const limits = `${formatNumber(threshold)} – ${formatNumber(thresholdMax ?? threshold)}`;
  return thresholdType === 'between' ? limits : `outside ${limits}`;
}

const SHOWN_DIGITS = 5;

/** A value rounded to a few digits; "–" for none. */
export const formatAlertValue = (value: number | null): string =>
  value === null ? '–' : formatNumber(Number.isInteger(value) ? value : Number(value.toPrecision(SHOWN_DIGITS)));

export const CONDITION_LABELS: Readonly<Record<Condition, string>> = {
  service_degraded_minutes: 'Minutes that a service is degraded',
  service_waking_minutes: 'Minutes that a service has been waking up',
  service_drift_minutes: 'Minutes that a service differs from its settings',
  service_backup_late_minutes: 'Minutes that the backup of a service is overdue',
  service_backup_failed_minutes: 'Minutes since the backup of a service failed',
  key_expiry_days: 'Days until an API key expires',
  budget_percent: 'Percent of a budget spent this month',
  rejected_telemetry_records: 'Rejected logs, spans and data points',
};

/** "checkout, ERROR"; empty without groups. */
export const formatGroup = (labels: readonly string[]): string =>
  labels.map((label) => (label === '' ? '(empty)' : label)).join(', ');
