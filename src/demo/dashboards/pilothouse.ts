import type { DashboardSpec } from '../../fleet/schema.ts';
import { at, logs, MILLISECONDS, metrics, note, tile, traces } from './tile.ts';

const PILOTHOUSE = 'ServiceName:"pilothouse"';
const byOperation = ["SpanAttributes['operation']"];

const gauge = (metricName: string, alias: string) =>
  metrics({ metricName, metricDataType: 'gauge', aggFn: 'max', where: PILOTHOUSE, alias });
const storeQuantile = (metricName: string, alias: string) =>
  metrics({ metricName, metricDataType: 'histogram', aggFn: 'quantile', level: 0.99, where: PILOTHOUSE, alias });

/** The server's own telemetry: requests, store and process. */
export const pilothouse: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f903',
  name: 'Pilothouse',
  tags: ['demo', 'pilothouse'],
  tiles: [
    tile('number', 'requests', 'Requests', at(0, 0, 6, 4), [logs({ aggFn: 'count', where: PILOTHOUSE })]),
    tile(
      'number',
      'errors',
      'Error rate (4xx and 5xx)',
      at(6, 0, 6, 4),
      [
        logs({ aggFn: 'count', where: `${PILOTHOUSE} LogAttributes.http.response.status_code:>=400` }),
        logs({ aggFn: 'count', where: PILOTHOUSE, numberFormat: { output: 'percent' } }),
      ],
      true,
    ),
    tile('number', 'p99', 'p99 latency (ms)', at(12, 0, 6, 4), [
      traces({ aggFn: 'quantile', level: 0.99, field: MILLISECONDS, where: PILOTHOUSE }),
    ]),
    tile('number', 'memory', 'Memory', at(18, 0, 6, 4), [
      { ...gauge('process.memory.rss', 'resident'), numberFormat: { output: 'byte' } },
    ]),
    tile('time', 'rate', 'Requests per second', at(0, 4, 12, 6), [
      metrics({
        metricName: 'http.server.requests',
        metricDataType: 'sum',
        aggFn: 'rate',
        where: PILOTHOUSE,
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'latency', 'p95 latency (s)', at(12, 4, 12, 6), [
      metrics({
        metricName: 'http.server.request.duration',
        metricDataType: 'histogram',
        aggFn: 'quantile',
        level: 0.95,
        where: PILOTHOUSE,
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'statuses', 'Responses by status', at(0, 10, 8, 6), [
      logs({
        aggFn: 'count',
        where: PILOTHOUSE,
        groupBy: ["LogAttributes['http.response.status_code']"],
        displayType: 'stacked_bar',
      }),
    ]),
    tile('time', 'store', 'Store p99 latency (s)', at(8, 10, 8, 6), [
      storeQuantile('store.commit.duration', 'commit'),
      storeQuantile('store.query.duration', 'query'),
    ]),
    tile('time', 'event-loop', 'Event loop p99 delay (s)', at(16, 10, 8, 6), [
      gauge('nodejs.eventloop.delay.p99', 'delay'),
    ]),
    tile('table', 'operations', 'Operations', at(0, 16, 10, 8), [
      traces({ aggFn: 'count', alias: 'requests', where: PILOTHOUSE, groupBy: byOperation, sortOrder: 'desc' }),
      traces({
        aggFn: 'quantile',
        level: 0.95,
        field: MILLISECONDS,
        alias: 'p95 (ms)',
        where: PILOTHOUSE,
        groupBy: byOperation,
        sortOrder: 'desc',
      }),
    ]),
    tile('search', 'log', 'Request log', at(10, 16, 14, 8), [
      logs({
        fields: ['Timestamp', 'SeverityText', 'Body', "LogAttributes['duration_ms']", "LogAttributes['request.id']"],
        where: PILOTHOUSE,
      }),
    ]),
    note(
      'about',
      'About this dashboard',
      at(0, 24, 24, 3),
      'Pilothouse writes its own logs, traces and metrics to the engine. Run one of the curl commands printed at startup a few times, then refresh.',
    ),
  ],
};
