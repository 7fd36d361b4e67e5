import type { Logger } from 'pino';
import type { CompletedRequest } from '../kernel/metrics/request-series.ts';
import type { Clock } from '../kernel/time/clock.ts';
import { openOtlpExport } from '../observability/own-telemetry/otlp-export.ts';
import { openSelfTelemetry } from '../observability/own-telemetry/self-telemetry.ts';
import type { Engine } from '../platform/engine/engine.ts';
import type { Metrics } from '../platform/http/monitoring/metrics.ts';
import type { Config } from './settings/config.ts';
import { VERSION } from './version.ts';

interface Options {
  config: Config;
  engine: Engine;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

type Part = Pick<ReturnType<typeof openOtlpExport>, 'request' | 'close'>;

/** The server's own telemetry: in the engine, exported to a collector, both or neither. Must be closed. */
export function openOwnTelemetry({ config, engine, clock, log, metrics }: Options) {
  const parts: Part[] = [];
  if (config.telemetry) {
    const operatorId = config.telemetryOrganization ?? '';
    const part = openSelfTelemetry({ engine, clock, log, version: VERSION, metrics, operatorId });
    metrics.telemetry(part.counts);
    parts.push(part);
  }
  if (config.otlpEndpoint !== undefined) {
    const { otlpEndpoint: endpoint, otlpHeaders: headers = {}, otlpServiceName: serviceName } = config;
    const part = openOtlpExport({ endpoint, headers, serviceName, version: VERSION, metrics, clock, log });
    metrics.telemetryExport(part.counts);
    parts.push(part);
  }
  const [first, second] = parts;
  return {
    /** Undefined if there is nothing to observe. */
    request:
      first && second
        ? (completed: CompletedRequest): void => {
            first.request(completed);
            second.request(completed);
          }
        : first?.request,
    async close(): Promise<void> {
      await Promise.all(parts.map((part) => part.close()));
    },
  };
}
