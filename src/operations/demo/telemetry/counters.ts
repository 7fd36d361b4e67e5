import { LATENCY_BOUNDS } from '../../../kernel/metrics/request-series.ts';
import { createSpread, errorShare, expectedSum, portions } from './latency.ts';
import { createRandom } from './random.ts';
import { SERVICE_NAMES, SERVICES, type ServiceName } from './services.ts';
import { loadAt, METRICS_EVERY_MS, midnight, processStart, severityAt } from './traffic.ts';

/** Exponential histograms have four buckets per doubling, from one millisecond up. */
export const SCALE = 2;
const EXPONENTIAL_BUCKETS = 54;
const EXPONENTIAL_BOUNDS = Array.from({ length: EXPONENTIAL_BUCKETS - 1 }, (_, at) => 2 ** ((at + 1) / 4) / 1000);

/** The services whose database calls are reported as exponential histograms. */
export const HAS_DATABASE: ReadonlySet<ServiceName> = new Set(['payments', 'search']);

/** The counters of a process since its start. */
export interface Counter {
  startMs: number;
  ok: number;
  failed: number;
  sumSeconds: number;
  maxSeconds: number;
  buckets: number[];
  exponential: number[];
  /** Counts of the last interval only. */
  lastInterval: { ok: number; failed: number };
}

const createCounter = (startMs: number): Counter => ({
  startMs,
  ok: 0,
  failed: 0,
  sumSeconds: 0,
  maxSeconds: 0,
  buckets: new Array(LATENCY_BOUNDS.length + 1).fill(0),
  exponential: new Array(EXPONENTIAL_BUCKETS).fill(0),
  lastInterval: { ok: 0, failed: 0 },
});

export type Counters = Record<ServiceName, Counter>;

/**
 * The counters at a point in time; `advance` moves them on by one interval. They depend on the time only: without `known`,
 * the day so far is added up, which takes a tenth of a second.
 */
export function createCounters(seed: string, fromMs: number, known?: Counters) {
  const overBuckets = createSpread(LATENCY_BOUNDS);
  const overExponential = createSpread(EXPONENTIAL_BOUNDS);
  const startMs = midnight(fromMs - 1);
  const counters =
    known ?? (Object.fromEntries(SERVICE_NAMES.map((name) => [name, createCounter(startMs)])) as Counters);
  if (!known) for (let ms = startMs + METRICS_EVERY_MS; ms < fromMs; ms += METRICS_EVERY_MS) advance(ms);

  /** Adds the interval that ends at `ms`. */
  function advance(ms: number): Counters {
    const severity = severityAt(ms);
    for (const name of SERVICE_NAMES) {
      const startMs = processStart(name, ms);
      if (counters[name].startMs !== startMs) counters[name] = createCounter(startMs);
      count(counters[name], name, severity, createRandom(seed, 'requests', name, ms).between(0.93, 1.07) * loadAt(ms));
    }
    return counters;
  }

  function count(counter: Counter, service: ServiceName, severity: number, load: number): void {
    const total = Math.round((SERVICES[service].peakPerSecond * load * METRICS_EVERY_MS) / 1000);
    const failed = Math.round(total * errorShare(service, severity));
    counter.lastInterval = { ok: total - failed, failed };
    counter.ok += total - failed;
    counter.failed += failed;
    for (const portion of portions(service, total, severity)) {
      counter.sumSeconds += expectedSum(portion);
      counter.maxSeconds = Math.max(counter.maxSeconds, portion.medianSeconds * Math.exp(3 * portion.spread));
      addTo(counter.buckets, overBuckets(portion));
      if (HAS_DATABASE.has(service)) addTo(counter.exponential, overExponential(portion));
    }
  }

  return { advance, now: () => counters };
}

function addTo(totals: number[], counts: number[]): void {
  for (let at = 0; at < totals.length; at++) totals[at] = (totals[at] ?? 0) + (counts[at] ?? 0);
}
