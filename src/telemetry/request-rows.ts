import { memoized } from '../kernel/memo.ts';
import { type Attributes, type LogRow, nanosOf, type SpanRow, unixTime } from './rows.ts';

/** What the edge tells about each answered request. Nothing in it comes from the client but the suffix of a key id. */
export interface AnsweredRequest {
  requestId: string;
  operation: string;
  method: string;
  /** The template, `/v1/organizations/:organizationId`; empty when the request matched none. */
  route: string;
  status: number;
  ms: number;
  /** Last characters of the credential; undefined for strangers, as is their organization. */
  key: string | undefined;
  organizationId: string | undefined;
}

export const SERVICE_NAME = 'pilothouse';
export const SCOPE_NAME = 'pilothouse.http';

/** Whose rows they are and what wrote them. */
export interface Origin {
  organizationId: string;
  resource: Attributes;
}

/** `/services/:serviceId` as OpenTelemetry and OpenAPI write it. */
export const routeTemplate = memoized((route) => route.replaceAll(/:(\w+)/g, '{$1}'));

/** The log row and the span of one request that ended at `endMs`. `oneIn` is how many requests this one stands for. */
export function requestRows(
  request: AnsweredRequest,
  endMs: number,
  { organizationId, resource }: Origin,
  oneIn: number,
): { log: LogRow; span: SpanRow } {
  const { requestId, operation, method, status, ms, key } = request;
  const route = routeTemplate(request.route);
  const severity = severityOf(status);
  const status_code = String(status);
  // A random UUID is 32 hex digits, which is what a trace id is: from a request's id to its trace without a look-up.
  const TraceId = requestId.replaceAll('-', '');
  const SpanId = TraceId.slice(16);
  const attributes: Attributes = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status_code,
    operation,
  };
  if (key !== undefined) attributes['credential.suffix'] = key;
  if (oneIn > 1) attributes['sample.rate'] = String(oneIn);
  const origin = {
    OrganizationId: organizationId,
    ServiceName: SERVICE_NAME,
    ResourceAttributes: resource,
    ScopeName: SCOPE_NAME,
  };
  const name = `${method} ${route || operation}`;
  return {
    log: {
      ...origin,
      Timestamp: unixTime(endMs),
      TraceId,
      SpanId,
      ...severity,
      Body: `${name} ${status_code}`,
      LogAttributes: { ...attributes, 'request.id': requestId, duration_ms: String(ms) },
    },
    span: {
      ...origin,
      Timestamp: unixTime(endMs - ms),
      TraceId,
      SpanId,
      ParentSpanId: '',
      SpanName: name,
      SpanKind: 'Server',
      SpanAttributes: attributes,
      Duration: nanosOf(ms),
      StatusCode: status >= 500 ? 'Error' : 'Unset',
      StatusMessage: '',
    },
  };
}

/** OpenTelemetry's severities: what we got wrong is an error, what the caller got wrong a warning. */
function severityOf(status: number): Pick<LogRow, 'SeverityText' | 'SeverityNumber'> {
  if (status >= 500) return { SeverityText: 'ERROR', SeverityNumber: 17 };
  if (status >= 400) return { SeverityText: 'WARN', SeverityNumber: 13 };
  return { SeverityText: 'INFO', SeverityNumber: 9 };
}
