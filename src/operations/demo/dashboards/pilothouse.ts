import { at, note, ownLogs, ownMetrics, ownTraces, tile } from '../../../observability/dashboards/templates/tile.ts';
import type { DashboardSpec } from '../../fleet/schema.ts';

const byOperation = ["SpanAttributes['operation']"];

const gauge = (metricName: string, alias: string) =>
  ownMetrics({ metricName, metricDataType: 'gauge', aggFn: 'max', alias });
const storeQuantile = (metricName: string, alias: string) =>
  ownMetrics({ metricName, metricDataType: 'histogram', aggFn: 'quantile', level: 0.99, alias });

/** The server's own telemetry: requests, store and process. */
export const pilothouse: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f903',
  name: 'Pilothouse',
  tags: ['demo', 'pilothouse'],
  tiles: [
    tile('number', 'requests', 'Requests', at(0, 0, 6, 4), [ownLogs({ aggFn: 'count' })]),
    tile(
      'number',
      'errors',
      'Error rate (4xx and 5xx)',
      at(6, 0, 6, 4),
      [
        ownLogs({ aggFn: 'count', where: 'LogAttributes.http.response.status_code:>=400' }),
        ownLogs({ aggFn: 'count', numberFormat: { output: 'percent' } }),
      ],
      true,
    ),
    tile('number', 'p99', 'p99 latency', at(12, 0, 6, 4), [
      ownTraces({ aggFn: 'quantile', level: 0.99, field: 'Duration' }),
    ]),
    tile('number', 'memory', 'Memory', at(18, 0, 6, 4), [
      { ...gauge('process.memory.rss', 'resident'), numberFormat: { output: 'byte' } },
    ]),
    tile('time', 'rate', 'Requests per second', at(0, 4, 12, 6), [
      ownMetrics({
        metricName: 'http.server.requests',
        metricDataType: 'sum',
        aggFn: 'rate',
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'latency', 'p95 latency', at(12, 4, 12, 6), [
      ownMetrics({
        metricName: 'http.server.request.duration',
        metricDataType: 'histogram',
        aggFn: 'quantile',
        level: 0.95,
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'statuses', 'Responses by status', at(0, 10, 8, 6), [
      ownLogs({
        aggFn: 'count',
        groupBy: ["LogAttributes['http.response.status_code']"],
        displayType: 'stacked_bar',
      }),
    ]),
    tile('time', 'store', 'Store p99 latency', at(8, 10, 8, 6), [
      storeQuantile('store.commit.duration', 'commit'),
      storeQuantile('store.query.duration', 'query'),
    ]),
    tile('time', 'event-loop', 'Event loop p99 delay', at(16, 10, 8, 6), [
      gauge('nodejs.eventloop.delay.p99', 'delay'),
    ]),
    tile('table', 'operations', 'Operations', at(0, 16, 10, 8), [
      ownTraces({ aggFn: 'count', alias: 'requests', groupBy: byOperation, sortOrder: 'desc' }),
      ownTraces({
        aggFn: 'quantile',
        level: 0.95,
        field: 'Duration',
        alias: 'p95',
        groupBy: byOperation,
        sortOrder: 'desc',
      }),
    ]),
    tile('search', 'log', 'Request log', at(10, 16, 14, 8), [
      ownLogs({
        fields: ['Timestamp', 'SeverityText', 'Body', "LogAttributes['duration_ms']", "LogAttributes['request.id']"],
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
