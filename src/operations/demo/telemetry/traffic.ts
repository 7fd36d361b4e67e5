import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { TableKind } from '../../../observability/own-telemetry/rows.ts';

/** Traffic is generated in steps of this length, each with its own seed, so a range can start at any step. */
export const STEP_MS = 10 * SECOND_MS;
export const METRICS_EVERY_MS = 30 * SECOND_MS;

/** The table that is written last: if it has a value for a time, all rows of that time exist. */
export const COMPLETION_TABLE: TableKind = 'gauge';
export const COMPLETION_METRIC = { serviceName: 'gateway', metricName: 'system.cpu.utilization' };

const HOUR_MS = 60 * MINUTE_MS;

/** Times after the full hour. Every hour, so that the last hour always contains an incident, at any time of day. */
export const INCIDENT = {
  startMs: 5 * MINUTE_MS,
  lengthMs: 15 * MINUTE_MS,
  /** Restarting payments ends the incident. */
  restartMs: 18 * MINUTE_MS,
};

export const midnight = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
export const fullHour = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/** The load: about 0.2 at 4:00, 1 at 16:00, about half on weekends. */
export function loadAt(ms: number): number {
  const hour = (ms - midnight(ms)) / HOUR_MS;
  const curve = 0.5 - 0.5 * Math.cos(((hour - 4) / 24) * 2 * Math.PI);
  const weekday = new Date(ms).getUTCDay();
  return (0.2 + 0.8 * curve) * (weekday === 0 || weekday === 6 ? 0.55 : 1);
}

/** The severity of the incident: 0 outside it, up to 1 during it; rises for three minutes, falls for two. */
export function severityAt(ms: number): number {
  const since = ms - fullHour(ms) - INCIDENT.startMs;
  if (since <= 0 || since >= INCIDENT.lengthMs) return 0;
  return Math.min(1, since / (3 * MINUTE_MS), (INCIDENT.lengthMs - since) / (2 * MINUTE_MS));
}

/** The start of the process that reports at `ms`: a deploy restarts all services at midnight, each incident payments. */
export function processStart(service: string, ms: number): number {
  const deployed = midnight(ms - 1);
  const restarted = fullHour(ms - 1 - INCIDENT.restartMs) + INCIDENT.restartMs;
  return service === 'payments' ? Math.max(deployed, restarted) : deployed;
}
