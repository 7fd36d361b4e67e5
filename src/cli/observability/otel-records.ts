import { randomBytes } from 'node:crypto';
import { newUuid } from '../../kernel/ids.ts';
import { VERSION } from '../../server/version.ts';

/** The attribute that identifies the records of one run. */
export const ID_ATTRIBUTE = 'pilothouse.send.id';
export const TEST_METRIC = 'pilothouse.send.value';

const INFO = 9;
const INTERNAL = 1;
const SPAN_MS = 5;

/** One log, one span and one data point, as OTLP/JSON. */
export interface TestRecords {
  id: string;
  traceId: string;
  sentAtMs: number;
  requests: { signal: 'logs' | 'traces' | 'metrics'; body: object }[];
}

export function createTestRecords(serviceName: string, nowMs: number): TestRecords {
  const id = newUuid();
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const toNanos = (ms: number): string => `${ms}000000`;
  const toAttribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const resource = { attributes: [toAttribute('service.name', serviceName)] };
  const scope = { name: 'pilothouse otel send', version: VERSION };
  const attributes = [toAttribute(ID_ATTRIBUTE, id)];
  const timeUnixNano = toNanos(nowMs);
  const log = {
    timeUnixNano,
    severityNumber: INFO,
    body: { stringValue: 'Sent by pilothouse otel send' },
    traceId,
    spanId,
    attributes,
  };
  const span = {
    traceId,
    spanId,
    name: 'pilothouse otel send',
    kind: INTERNAL,
    startTimeUnixNano: toNanos(nowMs - SPAN_MS),
    endTimeUnixNano: timeUnixNano,
    attributes,
  };
  const metric = { name: TEST_METRIC, gauge: { dataPoints: [{ timeUnixNano, asInt: '1', attributes }] } };
  return {
    id,
    traceId,
    sentAtMs: nowMs,
    requests: [
      { signal: 'logs', body: { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [log] }] }] } },
      { signal: 'traces', body: { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] } },
      { signal: 'metrics', body: { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [metric] }] }] } },
    ],
  };
}
