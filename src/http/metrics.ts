import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const STORE_BUCKETS = [0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];

export type Metrics = ReturnType<typeof createMetrics>;

/** Everything `/metrics` shows. The registry is ours, so that two servers in one process do not share counters. */
export function createMetrics() {
  const registry = new Registry();
  // Process, heap, garbage collection and event-loop delay (nodejs_eventloop_lag_*).
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const requests = new Counter({
    name: 'pilothouse_requests_total',
    help: 'Answered requests',
    labelNames: ['operation', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'pilothouse_request_seconds',
    help: 'From the first byte of a request to the last byte of its answer',
    labelNames: ['operation', 'status'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const queries = new Histogram({
    name: 'pilothouse_store_query_seconds',
    help: 'One statement on the state store',
    buckets: STORE_BUCKETS,
    registers,
  });
  const commits = new Histogram({
    name: 'pilothouse_store_commit_seconds',
    help: 'One transaction on the state store, begin to durable commit',
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const changes = new Counter({
    name: 'pilothouse_store_changes_total',
    help: 'Changes handed to the state store; several may share a commit',
    registers,
  });

  type Labelled = { count(): void; observe(seconds: number): void };
  const labelled = new Map<string, Labelled>();

  return {
    registry,
    /** Finding the labelled child costs more than counting with it, so each is looked up once. */
    request(operation: string, status: number, seconds: number): void {
      const id = `${operation} ${status}`;
      let child = labelled.get(id);
      if (!child) {
        const labels = { operation, status: String(status) };
        const counter = requests.labels(labels);
        const histogram = latency.labels(labels);
        child = { count: () => counter.inc(), observe: (value) => histogram.observe(value) };
        labelled.set(id, child);
      }
      child.count();
      child.observe(seconds);
    },
    store: {
      query: (seconds: number) => queries.observe(seconds),
      commit(seconds: number, count: number) {
        commits.observe(seconds);
        changes.inc(count);
      },
    },
  };
}
