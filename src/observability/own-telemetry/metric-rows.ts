import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Histogram } from '../../kernel/metrics/histogram.ts';
import { mergeSeries, type RequestMetrics } from '../../kernel/metrics/request-series.ts';
import { routeTemplate, SCOPE_NAME, SERVICE_NAME } from './request-lines.ts';
import { type Attributes, CUMULATIVE, createTelemetryRows, type TelemetryRows, unixTime } from './rows.ts';

/** The sampling interval of the event loop delay. Measured delays include it. */
const RESOLUTION_MS = 20;

/** What the exporters of the server's own telemetry read. */
export interface ReadMetrics {
  requests: RequestMetrics;
  store: { read(): { queries: Histogram; commits: Histogram; changes: number } };
}

interface Options {
  metrics: ReadMetrics;
  /** The owner of metrics that belong to no organization. */
  operatorId: string;
  resource: Attributes;
  startMs: number;
}

/**
 * The metrics of the process as rows. Cumulative since its start, so a missed write costs resolution, not requests. Must be
 * closed.
 */
export function openMetricRows({ metrics, operatorId, resource, startMs }: Options) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();

  function createRow(ScopeName: string, OrganizationId: string, Attributes: Attributes, nowMs: number) {
    const times = { StartTimeUnix: unixTime(startMs), TimeUnix: unixTime(nowMs) };
    return { OrganizationId, ServiceName: SERVICE_NAME, ResourceAttributes: resource, ScopeName, Attributes, ...times };
  }

  function addRequests(rows: TelemetryRows, nowMs: number): void {
    const { listed } = metrics.requests;
    const getKey = ({ organizationId = operatorId, method, route, operation, status }: (typeof listed)[number]) =>
      `${organizationId} ${route || operation} ${method} ${status}`;
    for (const series of mergeSeries(listed, getKey)) {
      const { organizationId = operatorId, duration, operation, method, route, status } = series;
      const attributes = {
        'http.request.method': method,
        'http.route': routeTemplate(route),
        'http.response.status_code': String(status),
        operation,
      };
      const row = createRow(SCOPE_NAME, organizationId, attributes, nowMs);
      const description = 'From the first byte of a request to the last byte of its response';
      rows.histogram.push({
        ...row,
        ...name('http.server.request.duration', 's', description),
        ...toColumns(duration),
      });
      const requests = name('http.server.requests', '{request}', 'Completed requests');
      rows.sum.push({ ...row, ...requests, Value: duration.count, ...MONOTONIC });
    }
  }

  function addProcess(rows: TelemetryRows, nowMs: number): void {
    const row = createRow('pilothouse.process', operatorId, {}, nowMs);
    const { queries, commits, changes } = metrics.store.read();
    const read = name('store.query.duration', 's', 'One read of the state store');
    const commit = 'One transaction on the state store, from begin to durable commit';
    rows.histogram.push(
      { ...row, ...read, ...toColumns(queries) },
      { ...row, ...name('store.commit.duration', 's', commit), ...toColumns(commits) },
    );
    const change = name('store.changes', '{change}', 'Changes written to the state store; several may share a commit');
    rows.sum.push({ ...row, ...change, Value: changes, ...MONOTONIC });
    const { rss, heapUsed } = process.memoryUsage();
    const p99Seconds = Math.max(0, delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000);
    delay.reset();
    const heap = 'Heap memory in use, including garbage not yet collected';
    rows.gauge.push(
      { ...row, ...name('process.memory.rss', 'By', 'Resident memory of the process'), Value: rss },
      { ...row, ...name('nodejs.heap.used', 'By', heap), Value: heapUsed },
      { ...row, ...name('nodejs.eventloop.delay.p99', 's', 'Event loop delay, 99th percentile'), Value: p99Seconds },
    );
  }

  return {
    collect(nowMs: number): TelemetryRows {
      const rows = createTelemetryRows();
      addRequests(rows, nowMs);
      addProcess(rows, nowMs);
      return rows;
    },
    /** Requests that are in no row, because there are too many series. */
    countUnlisted: (): number => metrics.requests.others.reduce((sum, { duration }) => sum + duration.count, 0),
    close: () => void delay.disable(),
  };
}

const MONOTONIC = { AggregationTemporality: CUMULATIVE, IsMonotonic: true };

const name = (MetricName: string, MetricUnit: string, MetricDescription: string) => ({
  MetricName,
  MetricUnit,
  MetricDescription,
});

/** The counts are copied: the row is written later, when they may have changed. */
const toColumns = ({ bounds, counts, count, sum, min, max }: Histogram) => ({
  Count: count,
  Sum: sum,
  BucketCounts: [...counts],
  ExplicitBounds: bounds,
  Min: count === 0 ? 0 : min,
  Max: max,
  AggregationTemporality: CUMULATIVE,
});
