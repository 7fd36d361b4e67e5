import { isUuid } from '../../kernel/ids.ts';
import type { Setting } from './setting.ts';
import { INVALID, nonEmpty, oneOfTwo, parseHeaders, parseSize, wholeNumber } from './setting-parsers.ts';

/** Telemetry that is received, and the server's own with its export and its retention. */
export const TELEMETRY_SETTINGS = {
  telemetry: {
    flag: '--telemetry',
    argument: '<on|off>',
    variable: 'PILOTHOUSE_TELEMETRY',
    help: "Write the server's own logs, traces and metrics to the engine",
    fallback: 'on',
    parse: oneOfTwo('on', 'off'),
    rule: 'must be on or off',
  },
  telemetryOrganization: {
    flag: '--telemetry-organization',
    argument: '<id>',
    variable: 'PILOTHOUSE_TELEMETRY_ORGANIZATION',
    help: 'Organization that owns the telemetry of the process, the store and unauthenticated requests',
    parse: (text): string | typeof INVALID => (isUuid(text) ? text.toLowerCase() : INVALID),
    rule: 'must be the id of an organization',
  },
  telemetryRetentionDays: {
    flag: '--telemetry-retention',
    argument: '<days>',
    variable: 'PILOTHOUSE_TELEMETRY_RETENTION',
    help: 'Remove logs, traces and metrics in the engine after this many days',
    fallback: '30',
    parse: wholeNumber(1, 3650),
    rule: 'must be a whole number of days from 1 to 3650',
  },
  otlpPort: {
    flag: '--otlp-port',
    argument: '<number>',
    variable: 'PILOTHOUSE_OTLP_PORT',
    help: 'Also accept OpenTelemetry data (OTLP/HTTP) on a separate port, usually 4318; 0 picks a free port',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port number from 0 to 65535',
  },
  otlpGrpcPort: {
    flag: '--otlp-grpc-port',
    argument: '<number>',
    variable: 'PILOTHOUSE_OTLP_GRPC_PORT',
    help: 'Accept OpenTelemetry data over gRPC on this port, usually 4317; 0 picks a free port',
    parse: wholeNumber(0, 65535),
    rule: 'must be a port number from 0 to 65535',
  },
  ingestRowsPerMinute: {
    flag: '--ingest-rows',
    argument: '<number>',
    variable: 'PILOTHOUSE_INGEST_ROWS',
    help: 'Logs, spans or data points that an organization may send per minute, of each signal; unlimited by default',
    parse: wholeNumber(1, 999_999_999),
    rule: 'must be a whole number from 1 to 999999999',
  },
  ingestBytesPerMinute: {
    flag: '--ingest-bytes',
    argument: '<size>',
    variable: 'PILOTHOUSE_INGEST_BYTES',
    help: 'Bytes of requests with telemetry that an organization may send per minute, of each signal, such as 500MiB; unlimited by default',
    parse: parseSize,
    rule: 'must look like 500MiB or 2GiB',
  },
  ingestAttributeKeys: {
    flag: '--ingest-attribute-keys',
    argument: '<number>',
    variable: 'PILOTHOUSE_INGEST_ATTRIBUTE_KEYS',
    help: 'Different attribute keys that an organization may send per day, of each signal; attributes with further keys are removed',
    fallback: '2000',
    parse: wholeNumber(1, 100_000),
    rule: 'must be a whole number from 1 to 100000',
  },
  ingestMetricStreams: {
    flag: '--ingest-metric-streams',
    argument: '<number>',
    variable: 'PILOTHOUSE_INGEST_METRIC_STREAMS',
    help: 'Metric streams that an organization may send per day; data points of further ones are rejected',
    fallback: '100000',
    parse: wholeNumber(1, 5_000_000),
    rule: 'must be a whole number from 1 to 5000000',
  },
  otlpEndpoint: {
    flag: '--otlp-endpoint',
    argument: '<url>',
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    help: "Also send the server's own logs, traces and metrics to this OpenTelemetry collector, over OTLP/HTTP with JSON",
    parse: parseCollectorUrl,
    rule: 'must look like http://host:4318, without a user, a query or a fragment',
  },
  otlpHeaders: {
    flag: '--otlp-headers',
    argument: '<name=value,…>',
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    help: 'Headers for the collector, such as an API key; values may be percent-encoded',
    isSecret: true,
    parse: parseHeaders,
    rule: 'must look like name=value,name=value, with visible ASCII characters',
  },
  otlpServiceName: {
    flag: '--otlp-service-name',
    argument: '<name>',
    variable: 'OTEL_SERVICE_NAME',
    help: 'The service.name of exported telemetry',
    fallback: 'pilothouse',
    parse: nonEmpty,
    rule: 'must not be empty',
  },
} as const satisfies Record<string, Setting>;

/** The paths of the signals are appended, so it ends without a slash. */
function parseCollectorUrl(text: string): string | typeof INVALID {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username !== '' || url.password !== '' || /[?#]/.test(text)) return INVALID;
  return url.href.replace(/\/+$/, '');
}
