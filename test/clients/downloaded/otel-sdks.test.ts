import { join } from 'node:path';
import { buildGoProgram, buildMavenProject, describeClient, installFromPyPi } from '../install.ts';
import { checkOtelProgram } from '../otel-program.ts';

const PYTHON_PACKAGES = [
  'opentelemetry-sdk==1.45.2',
  'opentelemetry-exporter-otlp-proto-http==1.45.1',
  'opentelemetry-exporter-otlp-proto-grpc==1.45.1',
];
const PYTHON_PROGRAM = join(import.meta.dirname, '../python/otel_app.py');
const GO_NAME = 'otel-app';
const GO_SOURCE = join(import.meta.dirname, '../go/otel');
const JAVA_SOURCE = join(import.meta.dirname, '../java/otel');

describeClient(
  "OpenTelemetry's SDK for Python",
  () => installFromPyPi(...PYTHON_PACKAGES),
  (programs) => checkOtelProgram('python', join(programs, 'python'), PYTHON_PROGRAM),
);

describeClient(
  "OpenTelemetry's SDK for Go 1.35.0",
  () => buildGoProgram(GO_NAME, GO_SOURCE),
  (programs) => checkOtelProgram('go', join(programs, GO_NAME)),
);

describeClient(
  "OpenTelemetry's SDK for Java 1.67.0",
  () => buildMavenProject('otel-app java', JAVA_SOURCE),
  (classPath) => checkOtelProgram('java', 'java', '-cp', classPath, 'OtelApp'),
);
