import type { KubernetesOptions, RestoreOptions, WebhookOptions } from './driver.ts';

/** `vertical` changes the size of the replicas, `horizontal` their number. */
export const AUTOSCALING_MODES = ['vertical', 'horizontal'] as const;
export type AutoscalingMode = (typeof AUTOSCALING_MODES)[number];

/** What the autoscaler does with its decisions: nothing, list them as recommendations, or resize the service. */
export const AUTOSCALER_MODES = ['off', 'recommend', 'apply'] as const;
export type AutoscalerMode = (typeof AUTOSCALER_MODES)[number];
export const DEFAULT_AUTOSCALER_MODE: AutoscalerMode = 'recommend';

/** Settings of a service that its record does not show. */
export interface ServiceSettings {
  /** base64(SHA-256(password)) of the user `default`. */
  passwordHash?: string;
  /** Hexadecimal SHA-1 of the SHA-1, for the MySQL protocol. */
  passwordDoubleSha1Hash?: string;
  backupConfiguration?: BackupConfiguration;
  /** Of a service that was created from a backup. */
  restore?: RestoreOptions;
  serviceQueryEndpoint?: QueryEndpoint;
  scalingSchedule?: ScheduleEntry[];
  autoscaling?: { mode: AutoscalerMode };
  /** With the driver of the same name only. The password is sent to the database, so it is stored encrypted. */
  kubernetes?: KubernetesOptions;
  /** With the driver of the same name only. The secret signs requests, so it is stored encrypted. */
  webhook?: WebhookOptions;
}

/** The drivers with options, which only a fleet file can declare. */
export const DECLARED_DRIVERS = ['kubernetes', 'webhook'] as const satisfies readonly (keyof ServiceSettings)[];

export interface BackupConfiguration {
  backupPeriodInHours: number;
  backupRetentionPeriodInHours: number;
  /** `HH:MM`, UTC. */
  backupStartTime?: string;
}

export const DEFAULT_BACKUP: BackupConfiguration = { backupPeriodInHours: 24, backupRetentionPeriodInHours: 24 };

export const QUERY_ENDPOINT_ROLES = ['sql_console_read_only', 'sql_console_admin'] as const;

export interface QueryEndpoint {
  id: string;
  /** Ids of keys. */
  openApiKeys: string[];
  roles: (typeof QUERY_ENDPOINT_ROLES)[number][];
  allowedOrigins: string;
}

/** A weekly recurring window, in UTC or the time zone, with settings that replace those of the service. */
export interface ScheduleEntry {
  id: string;
  name: string;
  /** 0 is Sunday. */
  weekdays: number[];
  startHourUtc: number;
  /** IANA name. With it, the weekdays and hours are local times. The public interface has no such member. */
  timeZone?: string;
  /** At most 24. A window with an end before its start continues after midnight. */
  endHourUtc: number;
  autoscalingMode?: AutoscalingMode;
  /** Memory bounds are given together, and so are replicas. */
  minReplicaMemoryGb?: number;
  maxReplicaMemoryGb?: number;
  minReplicas?: number;
  maxReplicas?: number;
  idleScaling?: boolean;
  idleTimeoutMinutes?: number;
}
