import { at, logs, metrics, note, tile, traces } from '../../../observability/dashboards/templates/tile.ts';
import type { DashboardSpec } from '../../fleet/schema.ts';

const SERVER = 'SpanKind:"Server"';
const byService = ['ServiceName'];

const ABOUT = `The services of a small online shop: **gateway** calls **search** and **checkout**; **checkout** calls **payments**, which uses a ledger database; **ingest** reads a queue.

Every hour at **:05** a reconciliation job locks the table \`ledger_entries\`, and for 15 minutes payments waits for its database: latency rises to the timeout of 5 s, charges fail with 504, the failures reach checkout and gateway, the queue of charges grows, and the connection pool runs out. The incident ends when payments is restarted at :18. The restart also resets its counters, which rates take into account.`;

/** Health of the demo shop. */
export const serviceHealth: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f902',
  name: 'Service health',
  tags: ['demo', 'shop'],
  tiles: [
    tile('number', 'requests', 'Requests', at(0, 0, 6, 4), [
      metrics({
        metricName: 'http.server.requests',
        metricDataType: 'sum',
        aggFn: 'increase',
        where: 'ServiceName:"gateway"',
      }),
    ]),
    tile(
      'number',
      'errors',
      'Error rate',
      at(6, 0, 6, 4),
      [
        traces({ aggFn: 'count', where: `${SERVER} ServiceName:"gateway" StatusCode:"Error"` }),
        traces({ aggFn: 'count', where: `${SERVER} ServiceName:"gateway"`, numberFormat: { output: 'percent' } }),
      ],
      true,
    ),
    tile('number', 'p95', 'Gateway p95 latency', at(12, 0, 6, 4), [
      traces({ aggFn: 'quantile', level: 0.95, field: 'Duration', where: `${SERVER} ServiceName:"gateway"` }),
    ]),
    tile('number', 'orders', 'Orders placed', at(18, 0, 6, 4), [
      metrics({ metricName: 'orders.placed', metricDataType: 'sum', aggFn: 'increase' }),
    ]),
    tile('time', 'rate', 'Requests per second by service', at(0, 4, 12, 6), [
      metrics({
        metricName: 'http.server.requests',
        metricDataType: 'sum',
        aggFn: 'rate',
        groupBy: byService,
      }),
    ]),
    tile(
      'time',
      'error-ratio',
      'Error rate by service',
      at(12, 4, 12, 6),
      [
        traces({ aggFn: 'count', where: `${SERVER} StatusCode:"Error"`, groupBy: byService }),
        traces({
          aggFn: 'count',
          where: SERVER,
          groupBy: byService,
          numberFormat: { output: 'percent' },
        }),
      ],
      true,
    ),
    tile('time', 'latency-traces', 'p95 latency from traces', at(0, 10, 12, 6), [
      traces({
        aggFn: 'quantile',
        level: 0.95,
        field: 'Duration',
        where: SERVER,
        groupBy: byService,
      }),
    ]),
    tile('time', 'latency-histogram', 'p95 latency from histograms', at(12, 10, 12, 6), [
      metrics({
        metricName: 'http.server.request.duration',
        metricDataType: 'histogram',
        aggFn: 'quantile',
        level: 0.95,
        groupBy: byService,
      }),
    ]),
    tile('time', 'queues', 'Queue depth', at(0, 16, 8, 6), [
      metrics({
        metricName: 'queue.depth',
        metricDataType: 'gauge',
        aggFn: 'max',
        groupBy: ["Attributes['queue.name']"],
      }),
    ]),
    tile('time', 'database', 'Database p99 latency', at(8, 16, 8, 6), [
      metrics({
        metricName: 'db.client.operation.duration',
        metricDataType: 'exponential histogram',
        aggFn: 'quantile',
        level: 0.99,
        groupBy: byService,
      }),
    ]),
    tile('time', 'connections', 'Open database connections', at(16, 16, 8, 6), [
      metrics({
        metricName: 'db.client.connections.usage',
        metricDataType: 'sum',
        aggFn: 'max',
        groupBy: byService,
      }),
    ]),
    tile('table', 'slowest', 'Slowest endpoints', at(0, 22, 12, 8), [
      traces({
        aggFn: 'quantile',
        level: 0.95,
        field: 'Duration',
        alias: 'p95',
        where: SERVER,
        groupBy: ['ServiceName', 'SpanName'],
        sortOrder: 'desc',
      }),
      traces({
        aggFn: 'count',
        alias: 'spans',
        where: SERVER,
        groupBy: ['ServiceName', 'SpanName'],
        sortOrder: 'desc',
      }),
    ]),
    tile('search', 'failures', 'Recent errors', at(12, 22, 12, 8), [
      logs({
        fields: ['Timestamp', 'ServiceName', 'Body', "LogAttributes['exception.type']"],
        where: 'SeverityText:"ERROR"',
      }),
    ]),
    note('about', 'About this dashboard', at(0, 30, 24, 5), ABOUT),
  ],
};
