import type { Endpoint } from './endpoint.ts';

export const LANGUAGES = ['Node.js', 'Python', 'Java', 'Go', '.NET', 'Collector'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A placeholder: the server has only a hash of a token. */
export const TOKEN_PLACEHOLDER = 'INGEST_TOKEN';

interface Snippet {
  text: string;
  /** Below it. */
  note: string;
}

/** The variables of all SDKs. Header values are percent-encoded. */
const listVariables = ({ http }: Endpoint, token: string): string[] => [
  `export OTEL_EXPORTER_OTLP_ENDPOINT=${http}`,
  `export OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20${token}`,
  'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
  'export OTEL_SERVICE_NAME=my-service',
];

const ALL_SIGNALS = [
  'export OTEL_TRACES_EXPORTER=otlp',
  'export OTEL_METRICS_EXPORTER=otlp',
  'export OTEL_LOGS_EXPORTER=otlp',
];

/** What to run or to configure, to send telemetry from a program. */
export function formatSnippet(language: Language, endpoint: Endpoint, token = TOKEN_PLACEHOLDER): Snippet {
  const variables = listVariables(endpoint, token);
  const toText = (...lines: string[]): string => [...variables, ...lines].join('\n');
  switch (language) {
    case 'Node.js':
      return {
        text: toText(...ALL_SIGNALS, 'node --require @opentelemetry/auto-instrumentations-node/register app.js'),
        note: 'Needs npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node',
      };
    case 'Python':
      return {
        text: toText(
          ...ALL_SIGNALS,
          'export OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true',
          'opentelemetry-instrument python app.py',
        ),
        note: 'Needs pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http, then opentelemetry-bootstrap -a install',
      };
    case 'Java':
      return {
        text: toText('java -javaagent:opentelemetry-javaagent.jar -jar app.jar'),
        note: 'Needs opentelemetry-javaagent.jar of the OpenTelemetry Java agent, 2.0 or later',
      };
    case 'Go':
      return {
        text: toText('go run .'),
        note: 'The exporters otlptracehttp, otlpmetrichttp and otlploghttp of go.opentelemetry.io/otel read these variables',
      };
    case '.NET':
      return {
        text: toText('dotnet run'),
        note: 'Needs dotnet add package OpenTelemetry.Exporter.OpenTelemetryProtocol, and UseOtlpExporter() in the program',
      };
    case 'Collector':
      return {
        text: formatCollector(endpoint, token),
        note: 'Part of the configuration of an OpenTelemetry Collector that has a receiver otlp',
      };
  }
}

const formatCollector = ({ http }: Endpoint, token: string): string =>
  [
    'exporters:',
    '  otlphttp/pilothouse:',
    `    endpoint: ${http}`,
    '    headers:',
    `      authorization: Bearer ${token}`,
    'service:',
    '  pipelines:',
    ...['traces', 'metrics', 'logs'].flatMap((signal) => [
      `    ${signal}:`,
      '      receivers: [otlp]',
      '      exporters: [otlphttp/pilothouse]',
    ]),
  ].join('\n');
