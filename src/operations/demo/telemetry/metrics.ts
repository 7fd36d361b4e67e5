import { LATENCY_BOUNDS } from '../../../kernel/metrics/request-series.ts';
import {
  type Attributes,
  CUMULATIVE,
  DELTA,
  type TelemetryRows,
  unixTime,
} from '../../../observability/own-telemetry/rows.ts';
import { type Counter, type Counters, HAS_DATABASE, SCALE } from './counters.ts';
import { createRandom } from './random.ts';
import { type Pod, SERVICE_NAMES, SERVICES, type ServiceName } from './services.ts';
import { loadAt, METRICS_EVERY_MS, midnight, severityAt } from './traffic.ts';

const GIB = 2 ** 30;
const HOUR_MS = 3_600_000;

interface MetricContext {
  organizationId: string;
  seed: string;
  ms: number;
}

/** Adds all metrics of one point in time, in all five kinds. */
export function addMetrics(rows: TelemetryRows, counters: Counters, at: MetricContext): void {
  addGauges(rows, counters, at);
  addCounted(rows, counters, at);
  addSummaries(rows, counters, at);
}

function row(at: MetricContext, pod: Pod, startMs: number, name: string, unit: string, attributes: Attributes = {}) {
  return {
    OrganizationId: at.organizationId,
    ServiceName: pod.service,
    ResourceAttributes: pod.resource,
    ScopeName: 'shop',
    MetricName: name,
    MetricDescription: '',
    MetricUnit: unit,
    Attributes: attributes,
    StartTimeUnix: unixTime(startMs),
    TimeUnix: unixTime(at.ms),
  };
}

function addGauges({ gauge }: TelemetryRows, counters: Counters, at: MetricContext): void {
  const load = loadAt(at.ms);
  const severity = severityAt(at.ms);
  for (const service of SERVICE_NAMES) {
    const { startMs } = counters[service];
    for (const pod of SERVICES[service].pods) {
      const random = createRandom(at.seed, pod.name, at.ms);
      const impact = service === 'payments' ? severity : 0;
      const cpu = Math.min(0.98, 0.08 + 0.5 * load + 0.25 * impact + random.between(-0.04, 0.04));
      gauge.push({ ...row(at, pod, startMs, 'system.cpu.utilization', '1'), Value: roundTo(cpu, 4) });
      // Grows with the age of the process, like a cache, and with waiting requests.
      const hours = (at.ms - startMs) / HOUR_MS;
      const memory = GIB * (0.3 + 0.25 * (1 - Math.exp(-hours / 4)) + 0.6 * impact + random.between(0, 0.02));
      gauge.push({ ...row(at, pod, startMs, 'process.memory.usage', 'By'), Value: Math.round(memory) });
    }
  }
  const depths: [ServiceName, string, number][] = [
    ['ingest', 'orders', 30 + 90 * load],
    ['payments', 'charges', 4 + 6 * load + 900 * severity],
  ];
  for (const [service, queue, typical] of depths) {
    const [pod] = SERVICES[service].pods;
    const depth = Math.round(typical * createRandom(at.seed, queue, at.ms).between(0.7, 1.3));
    gauge.push({
      ...row(at, pod, counters[service].startMs, 'queue.depth', '{message}', { 'queue.name': queue }),
      Value: depth,
    });
  }
}

/** Adds the counters as sums, histograms and exponential histograms. */
function addCounted(
  { sum, histogram, exponentialHistogram }: TelemetryRows,
  counters: Counters,
  at: MetricContext,
): void {
  const cumulative = { AggregationTemporality: CUMULATIVE, IsMonotonic: true };
  for (const service of SERVICE_NAMES) {
    const counter = counters[service];
    const { startMs } = counter;
    const [pod] = SERVICES[service].pods;
    const requests = (code: string) =>
      row(at, pod, startMs, 'http.server.requests', '{request}', { 'http.status_code': code });
    sum.push({ ...requests('200'), ...cumulative, Value: counter.ok });
    sum.push({ ...requests('500'), ...cumulative, Value: counter.failed });
    histogram.push({
      ...row(at, pod, startMs, 'http.server.request.duration', 's'),
      ...totals(counter, 1),
      BucketCounts: [...counter.buckets],
      ExplicitBounds: LATENCY_BOUNDS,
      AggregationTemporality: CUMULATIVE,
    });
    if (HAS_DATABASE.has(service))
      exponentialHistogram.push({
        ...row(at, pod, startMs, 'db.client.operation.duration', 'ms'),
        ...totals(counter, 1000),
        Scale: SCALE,
        ZeroCount: 0,
        PositiveOffset: 0,
        PositiveBucketCounts: [...counter.exponential],
        NegativeOffset: 0,
        NegativeBucketCounts: [],
        AggregationTemporality: CUMULATIVE,
      });
  }
  addDeltas(sum, counters, at);
  addConnections(sum, counters, at);
}

const totals = ({ ok, failed, sumSeconds, maxSeconds }: Counter, unitsPerSecond: number) => ({
  Count: ok + failed,
  Sum: roundTo(sumSeconds * unitsPerSecond, 6),
  Min: 0.001 * unitsPerSecond,
  Max: roundTo(maxSeconds * unitsPerSecond, 6),
});

/** Delta sums: counts since the last report. */
function addDeltas(sum: TelemetryRows['sum'], counters: Counters, at: MetricContext): void {
  const delta = { AggregationTemporality: DELTA, IsMonotonic: true };
  const sinceMs = at.ms - METRICS_EVERY_MS;
  const [checkout] = SERVICES.checkout.pods;
  const [ingest] = SERVICES.ingest.pods;
  const tiers = { free: 0.5, pro: 0.35, enterprise: 0.15 };
  for (const [tier, share] of Object.entries(tiers)) {
    const placed = Math.round(counters.checkout.lastInterval.ok * share);
    sum.push({
      ...row(at, checkout, sinceMs, 'orders.placed', '{order}', { 'customer.tier': tier }),
      ...delta,
      Value: placed,
    });
  }
  const consumed = counters.ingest.lastInterval.ok * 180;
  sum.push({ ...row(at, ingest, sinceMs, 'messages.consumed', '{message}'), ...delta, Value: consumed });
}

/** Up-down counters: they may decrease. */
function addConnections(sum: TelemetryRows['sum'], counters: Counters, at: MetricContext): void {
  const severity = severityAt(at.ms);
  for (const service of ['payments', 'checkout', 'gateway'] as const) {
    const [pod] = SERVICES[service].pods;
    const impact = service === 'payments' ? 30 * severity : 0;
    const typical =
      (3 + 6 * loadAt(at.ms) + impact) * createRandom(at.seed, 'connections', service, at.ms).between(0.8, 1.2);
    const used = Math.min(20, Math.round(typical));
    sum.push({
      ...row(at, pod, counters[service].startMs, 'db.client.connections.usage', '{connection}', { state: 'used' }),
      AggregationTemporality: CUMULATIVE,
      IsMonotonic: false,
      Value: used,
    });
  }
}

function addSummaries({ summary }: TelemetryRows, counters: Counters, at: MetricContext): void {
  for (const service of ['gateway', 'search'] as const) {
    const [pod] = SERVICES[service].pods;
    const { startMs } = counters[service];
    const pause = createRandom(at.seed, 'gc', service, at.ms).between(1.2, 2.2) * (0.7 + 0.6 * loadAt(at.ms));
    const count = Math.round((at.ms - midnight(at.ms - 1)) / 5000);
    summary.push({
      ...row(at, pod, startMs, 'process.gc.pause', 'ms'),
      Count: count,
      Sum: roundTo(count * 1.9, 3),
      'ValueAtQuantiles.Quantile': [0.5, 0.9, 0.99],
      'ValueAtQuantiles.Value': [roundTo(pause, 3), roundTo(pause * 2.1, 3), roundTo(pause * 5.5, 3)],
    });
  }
}

const roundTo = (value: number, decimals: number): number => Number(value.toFixed(decimals));
