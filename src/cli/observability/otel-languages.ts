/** What an SDK needs in addition to the variables that all of them read. */
interface Language {
  variables: Readonly<Record<string, string>>;
  /** How an app is started so that it sends telemetry. */
  start: string;
}

/** Without them, the Node.js SDK sends no metrics, and that of Python no logs. */
export const OTEL_LANGUAGES = {
  node: {
    variables: { OTEL_METRICS_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' },
    start:
      'npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node; then node --require @opentelemetry/auto-instrumentations-node/register app.js',
  },
  python: {
    variables: { OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED: 'true' },
    start:
      'pip install opentelemetry-distro opentelemetry-exporter-otlp && opentelemetry-bootstrap -a install; then opentelemetry-instrument python app.py',
  },
  java: { variables: {}, start: 'java -javaagent:opentelemetry-javaagent.jar -jar app.jar' },
  go: {
    variables: {},
    start: 'create the exporters with go.opentelemetry.io/contrib/exporters/autoexport, which reads these variables',
  },
  dotnet: {
    variables: {},
    start:
      'call UseOtlpExporter() of OpenTelemetry.Exporter.OpenTelemetryProtocol, which reads these variables, or use OpenTelemetry .NET Automatic Instrumentation',
  },
} as const satisfies Record<string, Language>;

export type LanguageName = keyof typeof OTEL_LANGUAGES;
export const LANGUAGE_NAMES = Object.keys(OTEL_LANGUAGES) as LanguageName[];
