import { isUuid } from '../../kernel/ids.ts';
import type { Setting } from './setting.ts';
import { INVALID, nonEmpty, oneOfTwo, parseHeaders, wholeNumber } from './setting-parsers.ts';

/** The server's own telemetry, its export and its retention. */
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
