import {
  type BackupConfigurationGetResult,
  type BackupConfigurationUpdateBody,
  backupConfigurationUpdateConstraints as constraints,
} from '../../../api/generated.ts';

/** The edited configuration; an empty field is ''. */
export interface BackupDraft {
  kind: 'interval' | 'daily';
  periodHours: number | '';
  retentionHours: number | '';
  /** HH:MM in UTC. */
  startTime: string;
}

const HOURS_PER_DAY = 24;

export const toBackupDraft = (stored: BackupConfigurationGetResult): BackupDraft => ({
  kind: stored.backupStartTime === undefined ? 'interval' : 'daily',
  periodHours: stored.backupPeriodInHours,
  retentionHours: stored.backupRetentionPeriodInHours,
  startTime: stored.backupStartTime ?? '',
});

/** Only what changed. A start time makes backups daily; another period removes it. */
export function toBackupChange(
  stored: BackupConfigurationGetResult,
  draft: BackupDraft,
): BackupConfigurationUpdateBody {
  const { kind, periodHours, retentionHours, startTime } = draft;
  const isInterval = kind === 'interval' && periodHours !== '' && periodHours !== stored.backupPeriodInHours;
  const isDaily = kind === 'daily' && startTime !== '' && startTime !== stored.backupStartTime;
  const isRetention = retentionHours !== '' && retentionHours !== stored.backupRetentionPeriodInHours;
  return {
    ...(isInterval ? { backupPeriodInHours: periodHours } : {}),
    ...(isDaily ? { backupStartTime: startTime } : {}),
    ...(isRetention ? { backupRetentionPeriodInHours: retentionHours } : {}),
  };
}

type BackupErrors = Partial<Record<keyof BackupDraft, string>>;

export function validateBackup(stored: BackupConfigurationGetResult, draft: BackupDraft): BackupErrors {
  const { kind, periodHours, retentionHours, startTime } = draft;
  const period = kind === 'daily' ? HOURS_PER_DAY : periodHours;
  const keepsStart = stored.backupStartTime !== undefined && periodHours === HOURS_PER_DAY;
  const errors: BackupErrors = {};
  if (kind === 'daily' && startTime === '') errors.startTime = 'Enter a time';
  if (kind === 'interval') {
    const problem = validateHours(periodHours, constraints.backupPeriodInHours);
    if (problem) errors.periodHours = problem;
    else if (keepsStart) errors.periodHours = 'For every 24 hours, choose once a day';
  }
  const problem = validateHours(retentionHours, constraints.backupRetentionPeriodInHours);
  if (problem) errors.retentionHours = problem;
  else if (period !== '' && Number(retentionHours) < period)
    errors.retentionHours = `Must be at least the period of ${period} hours`;
  return errors;
}

function validateHours(value: number | '', limits: { minimum: number; maximum: number }): string | undefined {
  if (value === '') return 'Enter a number of hours';
  return value < limits.minimum || value > limits.maximum
    ? `Must be between ${limits.minimum} and ${limits.maximum} hours`
    : undefined;
}
