import { type SpanRow, type TelemetryRows, toNanos, unixTime } from '../../../observability/own-telemetry/rows.ts';
import { pickJourney, type SpanTemplate } from './journeys.ts';
import { journeyLogs } from './logs.ts';
import type { Random } from './random.ts';
import { type Pod, SERVICES, type ServiceName } from './services.ts';
import type { Customer, Failure, Trace, TraceSpan } from './trace.ts';
import { loadAt, STEP_MS, severityAt } from './traffic.ts';

/** Traces are sampled: this many per step at peak load. */
const TRACES_PER_STEP = 4.9;
const DATABASE_TIMEOUT_MS = 5000;

/** Adds the spans of one step and their log lines. */
export function addTraces(rows: TelemetryRows, random: Random, organizationId: string, stepMs: number): void {
  const count = random.count(TRACES_PER_STEP * loadAt(stepMs));
  for (let created = 0; created < count; created++) {
    const trace = createTrace(random, stepMs + random.next() * STEP_MS);
    for (const span of trace.spans) rows.traces.push(spanRow(trace, span, organizationId));
    rows.logs.push(...journeyLogs(random, trace, organizationId));
  }
}

function createTrace(random: Random, startMs: number): Trace {
  const { name, first } = pickJourney(random);
  const customer: Customer = {
    id: `u-${1000 + Math.floor(random.next() ** 2 * 4000)}`,
    tier: random.pick(['free', 'free', 'free', 'pro', 'pro', 'enterprise']),
    region: random.pick(['eu-central-1', 'eu-central-1', 'eu-west-1']),
  };
  const trace: Trace = { journey: name, traceId: random.hex(32), customer, spans: [] };
  addSpan(random, trace, first, startMs, '');
  return trace;
}

/** The span does half of its own work, waits for the next span, then does the rest. */
function addSpan(random: Random, trace: Trace, template: SpanTemplate, startMs: number, parentId: string): TraceSpan {
  const span: TraceSpan = {
    template,
    pod: pickPod(random, template.service, trace.customer.region),
    spanId: random.hex(16),
    parentId,
    startMs,
    durationMs: 0,
    status: 0,
    failure: undefined,
  };
  trace.spans.push(span);
  const ownMs = workMs(random, template, startMs);
  const next = template.next && addSpan(random, trace, template.next, startMs + ownMs / 2, span.spanId);
  span.durationMs = ownMs + (next?.durationMs ?? 0);
  span.failure = pickFailure(random, template, ownMs, next);
  if (template.kind === 'Server') span.status = pickStatus(random, template, span.failure, next);
  return span;
}

function pickPod(random: Random, service: ServiceName, region: string): Pod {
  const { pods } = SERVICES[service];
  return pods.find(({ resource }) => resource['cloud.region'] === region) ?? random.pick(pods);
}

function workMs(random: Random, { medianMs, isLedger }: SpanTemplate, ms: number): number {
  const severity = isLedger ? severityAt(ms) : 0;
  const took = random.around(medianMs * (1 + 60 * severity), 0.4 + 0.5 * severity);
  return isLedger ? Math.min(took, DATABASE_TIMEOUT_MS) : took;
}

function pickFailure(
  random: Random,
  template: SpanTemplate,
  ownMs: number,
  next: TraceSpan | undefined,
): Failure | undefined {
  if (template.isLedger && ownMs >= DATABASE_TIMEOUT_MS)
    return { type: 'QueryTimeoutError', message: `canceling statement due to lock timeout on ledger_entries` };
  if (next?.failure)
    return {
      type: 'UpstreamError',
      message: `${next.template.service}: ${next.template.name}: ${next.failure.message}`,
    };
  if (template.name === 'index.query' && random.chance(0.003))
    return { type: 'ShardUnavailableError', message: 'shard 4 of products did not respond' };
  if (template.name === 'INSERT orders' && random.chance(0.004))
    return { type: 'ConnectionResetError', message: 'connection reset by peer' };
  return undefined;
}

function pickStatus(
  random: Random,
  template: SpanTemplate,
  failure: Failure | undefined,
  next: TraceSpan | undefined,
): number {
  if (failure) return next?.template.isLedger ? 504 : next?.status === 504 || next?.status === 502 ? 502 : 500;
  if (next && next.status >= 400) return next.status;
  if (template.name === 'POST /charge' && random.chance(0.03)) return 402;
  if (template.name === 'GET /documents/{documentId}' && random.chance(0.02)) return 404;
  return 200;
}

function spanRow({ traceId, customer }: Trace, span: TraceSpan, organizationId: string): SpanRow {
  const { template, pod, spanId, parentId, startMs, durationMs, status, failure } = span;
  const row: SpanRow = {
    OrganizationId: organizationId,
    ServiceName: pod.service,
    ResourceAttributes: pod.resource,
    ScopeName: 'shop',
    Timestamp: unixTime(startMs),
    TraceId: traceId,
    SpanId: spanId,
    ParentSpanId: parentId,
    SpanName: template.name,
    SpanKind: template.kind,
    SpanAttributes: {
      ...template.attributes,
      ...(status > 0 && { 'http.status_code': String(status) }),
      'user.id': customer.id,
      'customer.tier': customer.tier,
    },
    Duration: toNanos(durationMs),
    StatusCode: failure ? 'Error' : 'Unset',
    StatusMessage: failure?.message ?? '',
  };
  if (failure) {
    row['Events.Timestamp'] = [unixTime(startMs + durationMs)];
    row['Events.Name'] = ['exception'];
    row['Events.Attributes'] = [{ 'exception.type': failure.type, 'exception.message': failure.message }];
  }
  return row;
}
