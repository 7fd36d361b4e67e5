import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { createHistogram, type Histogram, observe, toPrometheusValues } from '../../../kernel/metrics/histogram.ts';
import { type CompletedRequest, createRequestMetrics, mergeSeries } from '../../../kernel/metrics/request-series.ts';

/** Seconds. */
const ENGINE_BOUNDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const STORE_BOUNDS = [
  0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The metrics of one process. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * One text for several processes. Counters, histograms and sizes are added up; of event loop delays, the longest counts; the
 * start time is that of the first process.
 */
export function aggregateMetrics([first = [], ...others]: readonly MetricValues[]): Promise<string> {
  const instead: Partial<Record<string, 'first' | 'max'>> = { omit: 'first', average: 'max' };
  // The first process decides how a metric is combined.
  const decisive = first.map((metric) => ({ ...metric, aggregator: instead[metric.aggregator] ?? metric.aggregator }));
  return AggregatorRegistry.aggregate([decisive, ...others]).metrics();
}

/** What became of a request with telemetry. */
interface Ingested {
  accepted: number;
  rejected: number;
  /** By rules. */
  dropped: readonly { records: number }[];
  /** Records that are stored, or may be, although their sender was not told. */
  unanswered: number;
  /** Attributes. */
  removed: readonly { records: number }[];
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of a process, counted once: `/metrics` and the exporters of the server's own telemetry read them. Each server
 * has its own registry, so that two servers in one process do not share counters.
 */
export function createMetrics() {
  const registry = new Registry();
  // Process, heap, garbage collection and event loop delay (nodejs_eventloop_lag_*).
  collectDefaultMetrics({ register: registry });

  function register(name: string, help: string, type: 'counter' | 'histogram', values: () => object[]): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: values() });
    registry.registerMetric({ name, help, type, get, reset() {} } as unknown as Metric);
  }

  function registerHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const histogram = createHistogram(bounds);
    register(name, help, 'histogram', () => toPrometheusValues(name, {}, histogram));
    return histogram;
  }

  const requests = createRequestMetrics();
  const listRequests = () =>
    mergeSeries([...requests.listed, ...requests.others], ({ operation, status }) => `${operation} ${status}`).map(
      ({ operation, status, duration }) => ({ labels: { operation, status: String(status) }, duration }),
    );
  register(
    'pilothouse_request_seconds',
    'From the first byte of a request to the last byte of its response',
    'histogram',
    () =>
      listRequests().flatMap(({ labels, duration }) =>
        toPrometheusValues('pilothouse_request_seconds', labels, duration),
      ),
  );
  register('pilothouse_requests_total', 'Completed requests', 'counter', () =>
    listRequests().map(({ labels, duration }) => ({ labels, value: duration.count })),
  );
  const queries = registerHistogram('pilothouse_store_query_seconds', 'One read of the state store', STORE_BOUNDS);
  const commits = registerHistogram(
    'pilothouse_store_commit_seconds',
    'One transaction on the state store, from begin to durable commit',
    STORE_BOUNDS,
  );
  let changes = 0;
  register(
    'pilothouse_store_changes_total',
    'Changes written to the state store; several may share a commit',
    'counter',
    () => [{ labels: {}, value: changes }],
  );
  const engineQueries = new Map<string, Histogram>();
  register(
    'pilothouse_engine_query_seconds',
    'One query of the engine, including its time in the queue',
    'histogram',
    () =>
      [...engineQueries].flatMap(([outcome, histogram]) =>
        toPrometheusValues('pilothouse_engine_query_seconds', { outcome }, histogram),
      ),
  );
  const ratings = registerHistogram(
    'pilothouse_rating_day_seconds',
    "Rating one organization's usage of one day, from usage events to ledger entries",
    ENGINE_BOUNDS,
  );
  const ingested = new Counter({
    name: 'pilothouse_ingest_records_total',
    help: 'Log records, spans and data points received over OTLP, by signal and by what became of them',
    labelNames: ['signal', 'outcome'],
    registers: [registry],
  });
  const removedAttributes = new Counter({
    name: 'pilothouse_ingest_removed_attributes_total',
    help: 'Attributes that were removed from accepted records because their organization has too many attribute keys, by signal',
    labelNames: ['signal'],
    registers: [registry],
  });
  const unansweredRecords = new Counter({
    name: 'pilothouse_ingest_unanswered_records_total',
    help: 'Records that are or may be stored although their sender was not told, because it had disconnected or the engine did not confirm them; they may exist twice if it repeats the request, by signal',
    labelNames: ['signal'],
    registers: [registry],
  });
  const engineRunning = new Gauge({
    name: 'pilothouse_engine_running',
    help: '1 if the engine is running',
    registers: [registry],
  });
  const engineRestarts = new Counter({
    name: 'pilothouse_engine_restarts_total',
    help: 'Restarts of the embedded engine',
    registers: [registry],
  });

  type TelemetryCounts = () => { written: number; dropped: Record<string, number> };

  /** Registers counters whose values are read at every scrape. */
  function registerTelemetry(written: [string, string], dropped: [string, string], counts: TelemetryCounts): void {
    new Counter({
      name: written[0],
      help: written[1],
      registers: [registry],
      collect() {
        this.reset();
        this.inc(counts().written);
      },
    });
    new Counter({
      name: dropped[0],
      help: dropped[1],
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(counts().dropped)) this.inc({ reason }, count);
      },
    });
  }

  const telemetry = (counts: TelemetryCounts): void =>
    registerTelemetry(
      ['pilothouse_telemetry_written_total', "Rows of the server's own telemetry that were written"],
      ['pilothouse_telemetry_dropped_total', "Rows of the server's own telemetry that were dropped, by reason"],
      counts,
    );

  const telemetryExport = (counts: TelemetryCounts): void =>
    registerTelemetry(
      ['pilothouse_telemetry_exported_total', "Records of the server's own telemetry that the collector accepted"],
      ['pilothouse_telemetry_export_dropped_total', 'Records that were not exported to the collector, by reason'],
      counts,
    );

  /** Registers gauges of the metered usage whose values are read at every scrape. */
  function usage(counts: () => { mismatchedDays: number; unconfirmedDays: number; isEngineOwner: boolean }): void {
    const register = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    register(
      'pilothouse_usage_mismatched_days',
      'Days that are not rated because the engine does not have their usage events',
      () => counts().mismatchedDays,
    );
    register(
      'pilothouse_usage_unconfirmed_days',
      'Days that are not locked because the clock of the store is not confirmed',
      () => counts().unconfirmedDays,
    );
    register('pilothouse_engine_owner', '0 while another node owns the embedded engine', () =>
      counts().isEngineOwner ? 1 : 0,
    );
  }

  return {
    registry,
    telemetry,
    telemetryExport,
    usage,
    requests,
    request: (completed: CompletedRequest): void => requests.request(completed),
    store: {
      query: (seconds: number): void => observe(queries, seconds),
      commit(seconds: number, count: number): void {
        observe(commits, seconds);
        changes += count;
      },
      read: () => ({ queries, commits, changes }),
    },
    rating: (seconds: number): void => observe(ratings, seconds),
    ingest(signal: string, { accepted, rejected, dropped, removed, unanswered }: Ingested): void {
      ingested.inc({ signal, outcome: 'accepted' }, accepted);
      ingested.inc({ signal, outcome: 'rejected' }, rejected);
      for (const { records } of dropped) ingested.inc({ signal, outcome: 'dropped' }, records);
      if (unanswered > 0) unansweredRecords.inc({ signal }, unanswered);
      for (const { records } of removed) removedAttributes.inc({ signal }, records);
    },
    engine: {
      query(seconds: number, outcome: string): void {
        const histogram = engineQueries.get(outcome) ?? createHistogram(ENGINE_BOUNDS);
        engineQueries.set(outcome, histogram);
        observe(histogram, seconds);
      },
      running: (isRunning: boolean) => engineRunning.set(isRunning ? 1 : 0),
      restarted: () => engineRestarts.inc(),
    },
  };
}
