import { MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { TelemetryRows } from '../../../observability/own-telemetry/rows.ts';
import { type LogLine, logRow } from './logs.ts';
import type { Random } from './random.ts';
import { SERVICES, type ServiceName } from './services.ts';
import { fullHour, INCIDENT, loadAt, STEP_MS, severityAt } from './traffic.ts';

type LogMessage = Omit<LogLine, 'pod' | 'ms'> & { service: ServiceName };

/** Log lines outside of requests: routine messages, and the events of the incident. */
export function addBackgroundLogs(rows: TelemetryRows, random: Random, organizationId: string, stepMs: number): void {
  for (const { service, ...message } of [...routine(random, stepMs), ...incidentLogs(stepMs)]) {
    const pod = random.pick(SERVICES[service].pods);
    rows.logs.push(logRow(organizationId, { ...message, pod, ms: stepMs + random.next() * STEP_MS }));
  }
}

function routine(random: Random, stepMs: number): LogMessage[] {
  const severity = severityAt(stepMs);
  const load = loadAt(stepMs);
  const messages: LogMessage[] = [];
  const sometimes = (probability: number, create: () => LogMessage) => {
    if (random.chance(probability)) messages.push(create());
  };
  sometimes(0.9, () => ({ service: 'gateway', severity: 'DEBUG', body: 'readiness probe succeeded' }));
  sometimes(0.4, () => {
    const ratio = random.between(0.88, 0.97).toFixed(3);
    const attributes = { 'cache.name': 'documents', 'cache.hit_ratio': ratio };
    return { service: 'search', severity: 'INFO', body: `cache hit ratio ${ratio} over the last minute`, attributes };
  });
  sometimes(0.5, () => {
    const lag = String(Math.round(random.around(80 * (0.4 + load), 0.5)));
    const attributes = { 'messaging.kafka.consumer.lag': lag, 'messaging.kafka.partition': String(random.whole(0, 7)) };
    return { service: 'ingest', severity: 'INFO', body: `consumer lag is ${lag}`, attributes };
  });
  sometimes(0.5, () => poolLine(random, load, severity));
  sometimes(0.3, () => ({
    service: 'checkout',
    severity: 'DEBUG',
    body: `${random.whole(20, 90)} expired carts removed`,
    attributes: { job: 'cart-cleanup' },
  }));
  sometimes(0.002, () => ({
    service: 'gateway',
    severity: 'ERROR',
    body: 'unhandled exception in the rate limiter: Cannot read properties of undefined',
    attributes: { 'exception.type': 'TypeError', 'exception.message': 'Cannot read properties of undefined' },
  }));
  return messages;
}

function poolLine(random: Random, load: number, severity: number): LogMessage {
  const used = Math.min(20, Math.round(3 + 6 * load + 20 * severity));
  const attributes = { 'db.client.connections.used': String(used), 'db.client.connections.max': '20' };
  if (used < 20)
    return { service: 'payments', severity: 'DEBUG', body: `connection pool: ${used} of 20 in use`, attributes };
  const body = `connection pool exhausted: 20 of 20 in use, ${random.whole(5, 60)} waiting`;
  return { service: 'payments', severity: 'WARN', body, attributes };
}

const EVENTS: { afterMs: number; messages: LogMessage[] }[] = [
  {
    afterMs: 0,
    messages: [
      {
        service: 'payments',
        severity: 'INFO',
        body: 'reconciliation started: locking ledger_entries',
        attributes: { job: 'reconciliation', 'db.system': 'postgresql' },
      },
    ],
  },
  {
    afterMs: 4 * MINUTE_MS,
    messages: [
      {
        service: 'checkout',
        severity: 'ERROR',
        body: 'circuit breaker for payments opened after 20 failures',
        attributes: { 'peer.service': 'payments', 'circuit_breaker.state': 'open' },
      },
    ],
  },
  {
    afterMs: INCIDENT.restartMs - INCIDENT.startMs,
    messages: [
      { service: 'payments', severity: 'WARN', body: 'SIGTERM received, stopping' },
      {
        service: 'payments',
        severity: 'WARN',
        body: 'reconciliation canceled',
        attributes: { job: 'reconciliation' },
      },
      { service: 'payments', severity: 'INFO', body: `payments ${SERVICES.payments.version} is listening on 8080` },
    ],
  },
  {
    afterMs: INCIDENT.lengthMs,
    messages: [
      {
        service: 'checkout',
        severity: 'INFO',
        body: 'circuit breaker for payments closed',
        attributes: { 'peer.service': 'payments', 'circuit_breaker.state': 'closed' },
      },
    ],
  },
];

const incidentLogs = (stepMs: number): LogMessage[] =>
  EVENTS.flatMap(({ afterMs, messages }) => {
    const at = fullHour(stepMs) + INCIDENT.startMs + afterMs;
    return at >= stepMs && at < stepMs + STEP_MS ? messages : [];
  });
