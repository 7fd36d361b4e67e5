import type { CompletedRequest } from '../../kernel/metrics/request-series.ts';
import { routeTemplate, SCOPE_NAME, toSeverity } from './request-lines.ts';
import { type Attributes, CUMULATIVE, type MetricRow, type TelemetryRows, unixTime } from './rows.ts';

/** A request with the time of its end. */
export interface EndedRequest {
  request: CompletedRequest;
  endMs: number;
}

interface KeyValue {
  key: string;
  value: { stringValue: string } | { intValue: string };
}

/** OTLP's JSON has 64-bit integers as strings, and ids in hexadecimal. */
const toNanos = (time: string): string => time.replace('.', '');
const toKeyValues = (attributes: Attributes): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }));

const SPAN_KIND_SERVER = 2;
const STATUS_ERROR = 2;

/** As in our own tables: the request id without dashes is the id of the trace. */
function getIds({ requestId }: CompletedRequest): { traceId: string; spanId: string } {
  const traceId = requestId.replaceAll('-', '');
  return { traceId, spanId: traceId.slice(16) };
}

const formatName = ({ method, route, operation }: CompletedRequest): string =>
  `${method} ${routeTemplate(route) || operation}`;

function listAttributes({ method, route, status, operation, key, organizationId }: CompletedRequest): KeyValue[] {
  const texts: Attributes = { 'http.request.method': method, 'http.route': routeTemplate(route), operation };
  if (key !== undefined) texts['credential.suffix'] = key;
  if (organizationId !== undefined) texts['pilothouse.organization.id'] = organizationId;
  return [...toKeyValues(texts), { key: 'http.response.status_code', value: { intValue: String(status) } }];
}

const toSpan = ({ request, endMs }: EndedRequest): object => ({
  ...getIds(request),
  name: formatName(request),
  kind: SPAN_KIND_SERVER,
  startTimeUnixNano: toNanos(unixTime(endMs - request.ms)),
  endTimeUnixNano: toNanos(unixTime(endMs)),
  attributes: listAttributes(request),
  status: request.status >= 500 ? { code: STATUS_ERROR } : {},
});

function toLogRecord({ request, endMs }: EndedRequest): object {
  const { SeverityText, SeverityNumber } = toSeverity(request.status);
  const time = toNanos(unixTime(endMs));
  return {
    ...getIds(request),
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityText: SeverityText,
    severityNumber: SeverityNumber,
    body: { stringValue: `${formatName(request)} ${request.status}` },
    attributes: [...listAttributes(request), ...toKeyValues({ 'request.id': request.requestId })],
  };
}

/** The bodies of the three OTLP requests. */
export function createOtlpBodies(resourceAttributes: Attributes) {
  const resource = { attributes: toKeyValues(resourceAttributes) };
  const scope = { name: SCOPE_NAME };
  return {
    traces: (requests: readonly EndedRequest[]): object => ({
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: requests.map(toSpan) }] }],
    }),
    logs: (requests: readonly EndedRequest[]): object => ({
      resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: requests.map(toLogRecord) }] }],
    }),
    metrics: (rows: TelemetryRows): object => ({
      resourceMetrics: [{ resource, scopeMetrics: listScopes(rows) }],
    }),
  };
}

function listScopes({ gauge, sum, histogram }: TelemetryRows): object[] {
  const scopes = new Map<string, object[]>();
  const add = <R extends MetricRow>(rows: readonly R[], toData: (rows: readonly R[]) => object): void => {
    for (const points of groupByName(rows)) {
      const [first] = points as [R, ...R[]];
      const { MetricName: name } = first;
      const metrics = scopes.get(first.ScopeName) ?? [];
      metrics.push({ name, description: first.MetricDescription, unit: first.MetricUnit, ...toData(points) });
      scopes.set(first.ScopeName, metrics);
    }
  };
  add(gauge, (rows) => ({ gauge: { dataPoints: rows.map((row) => ({ ...toPoint(row), asDouble: row.Value })) } }));
  add(sum, (rows) => ({
    sum: {
      aggregationTemporality: CUMULATIVE,
      isMonotonic: true,
      dataPoints: rows.map((row) => ({ ...toPoint(row), asInt: String(row.Value) })),
    },
  }));
  add(histogram, (rows) => ({
    histogram: {
      aggregationTemporality: CUMULATIVE,
      dataPoints: rows.map((row) => ({
        ...toPoint(row),
        count: String(row.Count),
        sum: row.Sum,
        min: row.Min,
        max: row.Max,
        bucketCounts: row.BucketCounts.map(String),
        explicitBounds: row.ExplicitBounds,
      })),
    },
  }));
  return [...scopes].map(([name, metrics]) => ({ scope: { name }, metrics }));
}

/** Node.js 20 has no `Map.groupBy`. */
function groupByName<R extends MetricRow>(rows: readonly R[]): R[][] {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const group = groups.get(row.MetricName);
    if (group) group.push(row);
    else groups.set(row.MetricName, [row]);
  }
  return [...groups.values()];
}

function toPoint({ OrganizationId, Attributes, StartTimeUnix, TimeUnix }: MetricRow): object {
  const organization: Attributes = OrganizationId === '' ? {} : { 'pilothouse.organization.id': OrganizationId };
  return {
    attributes: toKeyValues({ ...Attributes, ...organization }),
    startTimeUnixNano: toNanos(StartTimeUnix),
    timeUnixNano: toNanos(TimeUnix),
  };
}
