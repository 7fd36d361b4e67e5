import { type Attributes, type LogRow, unixTime } from '../../../observability/own-telemetry/rows.ts';
import type { Random } from './random.ts';
import type { Pod } from './services.ts';
import type { Trace, TraceSpan } from './trace.ts';

const SEVERITIES = { DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17 } as const;

export interface LogLine {
  pod: Pod;
  ms: number;
  severity: keyof typeof SEVERITIES;
  body: string;
  attributes?: Attributes;
  traceId?: string;
  spanId?: string;
}

export const logRow = (organizationId: string, line: LogLine): LogRow => ({
  OrganizationId: organizationId,
  ServiceName: line.pod.service,
  ResourceAttributes: line.pod.resource,
  ScopeName: 'shop',
  Timestamp: unixTime(line.ms),
  TraceId: line.traceId ?? '',
  SpanId: line.spanId ?? '',
  SeverityText: line.severity,
  SeverityNumber: SEVERITIES[line.severity],
  Body: line.body,
  LogAttributes: line.attributes ?? {},
});

const SEARCH_TERMS = [
  'red shoes',
  'rain jacket',
  'espresso machine',
  'desk lamp',
  'running socks',
  'tent',
  'usb-c hub',
] as const;
const CURRENCIES = ['EUR', 'EUR', 'GBP', 'USD'] as const;

/** The log lines of the services in a trace. */
export function journeyLogs(random: Random, trace: Trace, organizationId: string): LogRow[] {
  const order = { id: String(random.whole(100_000, 999_999)), amount: random.around(64, 0.7).toFixed(2) };
  return trace.spans.flatMap((span) => {
    const messages = [...accessLine(span), ...serviceLines(random, trace, span, order), ...failureLine(span)];
    return messages.map(({ severity, body, attributes = {} }) =>
      logRow(organizationId, {
        pod: span.pod,
        ms: span.startMs + span.durationMs,
        severity,
        body,
        attributes: { ...attributes, ...customerAttributes(trace) },
        traceId: trace.traceId,
        spanId: span.spanId,
      }),
    );
  });
}

type LogMessage = Pick<LogLine, 'severity' | 'body' | 'attributes'>;

const customerAttributes = ({ customer }: Trace): Attributes => ({
  'user.id': customer.id,
  'customer.tier': customer.tier,
  region: customer.region,
});

/** The gateway logs every request. */
function accessLine({ template, pod, status, durationMs }: TraceSpan): LogMessage[] {
  if (pod.service !== 'gateway') return [];
  return [
    {
      severity: status >= 500 ? 'ERROR' : status >= 400 ? 'WARN' : 'INFO',
      body: `${template.name} ${status} in ${Math.round(durationMs)} ms`,
      attributes: { ...template.attributes, 'http.status_code': String(status), duration_ms: durationMs.toFixed(1) },
    },
  ];
}

function serviceLines(
  random: Random,
  trace: Trace,
  span: TraceSpan,
  order: { id: string; amount: string },
): LogMessage[] {
  if (span.failure) return [];
  const { template, status, durationMs } = span;
  const orderAttributes = { 'order.id': order.id, 'order.amount': order.amount };
  switch (template.name) {
    case 'GET /search': {
      const hits = random.chance(0.06) ? 0 : random.whole(1, 400);
      const terms = random.pick(SEARCH_TERMS);
      const attributes = { 'search.query': terms, 'search.hits': String(hits), duration_ms: durationMs.toFixed(1) };
      return [{ severity: hits === 0 ? 'WARN' : 'INFO', body: `query "${terms}" found ${hits} products`, attributes }];
    }
    case 'POST /checkout':
      return status === 402
        ? [{ severity: 'WARN', body: `order ${order.id} not placed: payment declined`, attributes: orderAttributes }]
        : [{ severity: 'INFO', body: `order ${order.id} placed by ${trace.customer.id}`, attributes: orderAttributes }];
    case 'POST /charge':
      return status === 402
        ? [{ severity: 'WARN', body: 'card declined: insufficient funds', attributes: orderAttributes }]
        : [
            {
              severity: 'INFO',
              body: `charge of ${order.amount} ${random.pick(CURRENCIES)} authorized`,
              attributes: orderAttributes,
            },
          ];
    case 'SELECT ledger_entries':
      return durationMs > 1000
        ? [
            {
              severity: 'WARN',
              body: `slow query: ${Math.round(durationMs)} ms waiting for a lock on ledger_entries`,
              attributes: { ...template.attributes, duration_ms: durationMs.toFixed(1) },
            },
          ]
        : [];
    case 'orders process':
      return [{ severity: 'INFO', body: `batch of ${random.whole(40, 400)} orders written` }];
    default:
      return [];
  }
}

function failureLine({ template, pod, failure, status }: TraceSpan): LogMessage[] {
  if (!failure || pod.service === 'gateway') return [];
  return [
    {
      severity: 'ERROR',
      body: `${template.name} failed: ${failure.message}`,
      attributes: {
        ...(status > 0 && { 'http.status_code': String(status) }),
        'exception.type': failure.type,
        'exception.message': failure.message,
        'exception.stacktrace': `${failure.type}: ${failure.message}\n    at ${pod.service}/${template.name.replaceAll(/\W+/g, '-')}.ts:${40 + (template.name.length % 50)}`,
      },
    },
  ];
}
