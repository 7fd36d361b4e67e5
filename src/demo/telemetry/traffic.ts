import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../kernel/clock.ts';
import type { TableKind } from '../../telemetry/rows.ts';

/** Traffic is made in steps of this length, each from chance of its own: where a range begins does not matter. */
export const STEP_MS = 10 * SECOND_MS;
export const METRICS_EVERY_MS = 30 * SECOND_MS;

/** Written after everything else: where it has a value, the rest is there too. */
export const MARK: TableKind = 'gauge';
export const MARK_METRIC = { serviceName: 'gateway', metricName: 'system.cpu.utilization' };

const HOUR_MS = 60 * MINUTE_MS;

/** Every day at the same time, so that the last 24 hours always hold exactly one. After midnight UTC. */
export const INCIDENT = {
  startMs: 10 * HOUR_MS + 5 * MINUTE_MS,
  lengthMs: 25 * MINUTE_MS,
  /** When payments is restarted, which ends it. */
  restartMs: 10 * HOUR_MS + 27 * MINUTE_MS,
};

export const midnight = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** How busy it is: about 0.2 at four in the morning, 1 at four in the afternoon, half as much at the weekend. */
export function loadAt(ms: number): number {
  const hour = (ms - midnight(ms)) / HOUR_MS;
  const curve = 0.5 - 0.5 * Math.cos(((hour - 4) / 24) * 2 * Math.PI);
  const weekday = new Date(ms).getUTCDay();
  return (0.2 + 0.8 * curve) * (weekday === 0 || weekday === 6 ? 0.55 : 1);
}

/** How bad it is: 0 outside the incident, up to 1 within it; three minutes up, two minutes down. */
export function severityAt(ms: number): number {
  const since = ms - midnight(ms) - INCIDENT.startMs;
  if (since <= 0 || since >= INCIDENT.lengthMs) return 0;
  return Math.min(1, since / (3 * MINUTE_MS), (INCIDENT.lengthMs - since) / (2 * MINUTE_MS));
}

/** When the process that reports at `ms` began: a deploy restarts all of them at midnight, the incident payments. */
export function processStart(service: string, ms: number): number {
  const deployed = midnight(ms - 1);
  const restarted = deployed + INCIDENT.restartMs;
  return service === 'payments' && ms > restarted ? restarted : deployed;
}
