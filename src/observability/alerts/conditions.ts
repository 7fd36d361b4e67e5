/** What the control plane itself can watch, and what the value of each resource means. */
export const CONDITIONS = {
  service_degraded_minutes: 'How long each service is degraded',
  service_waking_minutes: 'How long each service has been waking up',
  service_drift_minutes: 'How long each service differs from its settings',
  service_backup_late_minutes: 'How long the next backup of each service is overdue',
  service_backup_failed_minutes: 'How long ago the last backup of each service failed',
  key_expiry_days: 'Days until each API key expires',
  budget_percent: 'The percentage of each budget that was spent this month',
  rejected_telemetry_records: 'Rejected logs, spans and data points of the window',
} as const;
export type ConditionName = keyof typeof CONDITIONS;

/** A resource with its value now. */
interface ConditionValue {
  label: string;
  value: number;
}

/** Reads the values of all resources of an organization. The window is for what is counted over time. */
export type ConditionReader = (
  organizationId: string,
  window: { startMs: number; endMs: number },
) => Promise<ConditionValue[]>;

export type ConditionReaders = Record<ConditionName, ConditionReader>;
