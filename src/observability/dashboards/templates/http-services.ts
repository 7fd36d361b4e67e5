import type { DashboardTemplate } from './template.ts';
import { at, logs, tile, traces } from './tile.ts';

const SERVER = 'SpanKind:"Server"';
const FAILED = `${SERVER} StatusCode:"Error"`;
const byService = ['ServiceName'];
const byRoute = ['ServiceName', "SpanAttributes['http.route']"];
const p95 = { aggFn: 'quantile', level: 0.95, field: 'Duration', where: SERVER } as const;

export const httpServices: DashboardTemplate = {
  id: 'http-services',
  description: 'Requests, errors and durations of services by route, from server spans',
  dashboard: {
    name: 'HTTP services',
    tags: ['opentelemetry'],
    tiles: [
      tile('number', 'requests', 'Requests', at(0, 0, 8, 4), [traces({ aggFn: 'count', where: SERVER })]),
      tile(
        'number',
        'errors',
        'Error rate',
        at(8, 0, 8, 4),
        [
          traces({ aggFn: 'count', where: FAILED }),
          traces({ aggFn: 'count', where: SERVER, numberFormat: { output: 'percent' } }),
        ],
        true,
      ),
      tile('number', 'p95', 'p95 duration', at(16, 0, 8, 4), [traces(p95)]),
      tile('time', 'requests-by-service', 'Requests by service', at(0, 4, 12, 6), [
        traces({ aggFn: 'count', where: SERVER, groupBy: byService }),
      ]),
      tile('time', 'errors-by-service', 'Errors by service', at(12, 4, 12, 6), [
        traces({ aggFn: 'count', where: FAILED, groupBy: byService }),
      ]),
      tile('time', 'p95-by-service', 'p95 duration by service', at(0, 10, 12, 6), [
        traces({ ...p95, groupBy: byService }),
      ]),
      tile('time', 'statuses', 'Responses by status code', at(12, 10, 12, 6), [
        traces({ aggFn: 'count', where: SERVER, groupBy: ["SpanAttributes['http.response.status_code']"] }),
      ]),
      tile('table', 'routes', 'Routes', at(0, 16, 14, 8), [
        traces({ ...p95, alias: 'p95', groupBy: byRoute, sortOrder: 'desc' }),
        traces({ aggFn: 'count', alias: 'requests', where: SERVER, groupBy: byRoute }),
      ]),
      tile('time', 'error-logs', 'Error logs by service', at(14, 16, 10, 8), [
        logs({ aggFn: 'count', where: 'SeverityNumber:>=17', groupBy: byService }),
      ]),
    ],
  },
};
