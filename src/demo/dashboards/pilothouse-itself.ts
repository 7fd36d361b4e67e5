import type { DashboardSpec } from '../../fleet/schema.ts';
import { at, logs, MILLISECONDS, metrics, note, tile, traces } from './tile.ts';

const OWN = 'ServiceName:"pilothouse"';
const operation = ["SpanAttributes['operation']"];

const ownGauge = (metricName: string, alias: string) =>
  metrics({ metricName, metricDataType: 'gauge', aggFn: 'max', where: OWN, alias });
const storeQuantile = (metricName: string, alias: string) =>
  metrics({ metricName, metricDataType: 'histogram', aggFn: 'quantile', level: 0.99, where: OWN, alias });

/** What the server writes about itself: its requests, its store, its process. */
export const pilothouseItself: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f903',
  name: 'Pilothouse itself',
  tags: ['demo', 'pilothouse'],
  tiles: [
    tile('number', 'requests', 'Requests', at(0, 0, 6, 4), [logs({ aggFn: 'count', where: OWN })]),
    tile(
      'number',
      'refused',
      'Share refused or failed',
      at(6, 0, 6, 4),
      [
        logs({ aggFn: 'count', where: `${OWN} LogAttributes.http.response.status_code:>=400` }),
        logs({ aggFn: 'count', where: OWN, numberFormat: { output: 'percent' } }),
      ],
      true,
    ),
    tile('number', 'p99', 'p99, ms', at(12, 0, 6, 4), [
      traces({ aggFn: 'quantile', level: 0.99, field: MILLISECONDS, where: OWN }),
    ]),
    tile('number', 'memory', 'Memory', at(18, 0, 6, 4), [
      { ...ownGauge('process.memory.rss', 'resident'), numberFormat: { output: 'byte' } },
    ]),
    tile('time', 'rate', 'Requests per second', at(0, 4, 12, 6), [
      metrics({
        metricName: 'http.server.requests',
        metricDataType: 'sum',
        aggFn: 'rate',
        where: OWN,
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'latency', 'p95 (histogram), s', at(12, 4, 12, 6), [
      metrics({
        metricName: 'http.server.request.duration',
        metricDataType: 'histogram',
        aggFn: 'quantile',
        level: 0.95,
        where: OWN,
        groupBy: ["Attributes['operation']"],
      }),
    ]),
    tile('time', 'statuses', 'Answers by status', at(0, 10, 8, 6), [
      logs({
        aggFn: 'count',
        where: OWN,
        groupBy: ["LogAttributes['http.response.status_code']"],
        displayType: 'stacked_bar',
      }),
    ]),
    tile('time', 'store', 'p99 of the store, s', at(8, 10, 8, 6), [
      storeQuantile('store.commit.duration', 'commit'),
      storeQuantile('store.query.duration', 'query'),
    ]),
    tile('time', 'event-loop', 'p99 delay of the event loop, s', at(16, 10, 8, 6), [
      ownGauge('nodejs.eventloop.delay.p99', 'delay'),
    ]),
    tile('table', 'operations', 'Operations', at(0, 16, 10, 8), [
      traces({ aggFn: 'count', alias: 'requests', where: OWN, groupBy: operation, sortOrder: 'desc' }),
      traces({
        aggFn: 'quantile',
        level: 0.95,
        field: MILLISECONDS,
        alias: 'p95, ms',
        where: OWN,
        groupBy: operation,
        sortOrder: 'desc',
      }),
    ]),
    tile('search', 'log', 'Request log', at(10, 16, 14, 8), [
      logs({
        fields: ['Timestamp', 'SeverityText', 'Body', "LogAttributes['duration_ms']", "LogAttributes['request.id']"],
        where: OWN,
      }),
    ]),
    note(
      'about',
      'What you see',
      at(0, 24, 24, 3),
      'Pilothouse writes its own requests and measurements into the engine. Call it a few times, with one of the lines it printed when it started, and look again.',
    ),
  ],
};
