import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createHistogramCounts, type HistogramCounts, observe, toHistogramColumns } from './histogram-counts.ts';
import { SERVICE_NAME } from './request-lines.ts';
import { type Attributes, CUMULATIVE, type TelemetryRows, unixTime } from './rows.ts';

/** Seconds. */
const STORE_BOUNDS = [
  0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
];

/** The sampling interval of the event loop delay. Measured delays include it. */
const RESOLUTION_MS = 20;

interface Options {
  organizationId: string;
  resource: Attributes;
  startMs: number;
}

/** Metrics of the store and the process. Must be closed. */
export function openProcessMetrics({ organizationId, resource, startMs }: Options) {
  const queries = createHistogramCounts(STORE_BOUNDS);
  const commits = createHistogramCounts(STORE_BOUNDS);
  let changes = 0;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();

  return {
    store: {
      query: (seconds: number) => observe(queries, seconds),
      commit(seconds: number, count: number) {
        observe(commits, seconds);
        changes += count;
      },
    },
    collect(rows: TelemetryRows, nowMs: number): void {
      const row = (MetricName: string, MetricUnit: string, MetricDescription: string) => ({
        OrganizationId: organizationId,
        ServiceName: SERVICE_NAME,
        ResourceAttributes: resource,
        ScopeName: 'pilothouse.process',
        MetricName,
        MetricUnit,
        MetricDescription,
        Attributes: {},
        StartTimeUnix: unixTime(startMs),
        TimeUnix: unixTime(nowMs),
      });
      const histogram = (name: string, description: string, counts: HistogramCounts) =>
        rows.histogram.push({
          ...row(name, 's', description),
          ...toHistogramColumns(counts),
          AggregationTemporality: CUMULATIVE,
        });
      histogram('store.query.duration', 'One read of the state store', queries);
      histogram('store.commit.duration', 'One transaction on the state store, from begin to durable commit', commits);
      rows.sum.push({
        ...row('store.changes', '{change}', 'Changes written to the state store; several may share a commit'),
        Value: changes,
        AggregationTemporality: CUMULATIVE,
        IsMonotonic: true,
      });
      const { rss, heapUsed } = process.memoryUsage();
      const p99Seconds = Math.max(0, delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000);
      delay.reset();
      rows.gauge.push(
        { ...row('process.memory.rss', 'By', 'Resident memory of the process'), Value: rss },
        {
          ...row('nodejs.heap.used', 'By', 'Heap memory in use, including garbage not yet collected'),
          Value: heapUsed,
        },
        { ...row('nodejs.eventloop.delay.p99', 's', 'Event loop delay, 99th percentile'), Value: p99Seconds },
      );
    },
    close: () => void delay.disable(),
  };
}
