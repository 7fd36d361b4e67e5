import { at, logs, note, tile } from '../../../observability/dashboards/templates/tile.ts';
import type { DashboardSpec } from '../../fleet/schema.ts';

const ERRORS = 'SeverityText:"ERROR"';

/** Examples of log queries. */
export const logsExplorer: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f904',
  name: 'Logs explorer',
  tags: ['demo', 'logs'],
  tiles: [
    tile('number', 'lines', 'Log lines', at(0, 0, 6, 4), [logs({ aggFn: 'count' })]),
    tile('number', 'errors', 'Errors', at(6, 0, 6, 4), [logs({ aggFn: 'count', where: ERRORS })]),
    tile('number', 'users', 'Customers with errors', at(12, 0, 6, 4), [
      logs({ aggFn: 'count_distinct', field: "LogAttributes['user.id']", where: ERRORS }),
    ]),
    tile('number', 'declined', 'Declined cards', at(18, 0, 6, 4), [logs({ aggFn: 'count', where: '"card declined"' })]),
    tile('time', 'severities', 'Log lines by severity', at(0, 4, 16, 6), [
      logs({ aggFn: 'count', groupBy: ['SeverityText'], displayType: 'stacked_bar' }),
    ]),
    tile('time', 'slow', 'Slow requests by customer tier (SQL)', at(16, 4, 8, 6), [
      logs({
        aggFn: 'count',
        whereLanguage: 'sql',
        where: "ServiceName = 'gateway' AND toFloat64OrNull(LogAttributes['duration_ms']) > 1000",
        groupBy: ["LogAttributes['customer.tier']"],
      }),
    ]),
    tile('table', 'exceptions', 'Exceptions', at(0, 10, 12, 7), [
      logs({
        aggFn: 'count',
        alias: 'lines',
        where: 'LogAttributes.exception.type:*',
        groupBy: ['ServiceName', "LogAttributes['exception.type']"],
        sortOrder: 'desc',
      }),
    ]),
    tile('search', 'ledger', 'Payments: ledger messages', at(12, 10, 12, 7), [
      logs({
        fields: ['Timestamp', 'SeverityText', 'Body'],
        where: 'ledger_entries (SeverityText:"WARN" OR SeverityText:"INFO") ServiceName:"payments"',
      }),
    ]),
    tile('search', 'gateway', 'Failed requests', at(0, 17, 24, 8), [
      logs({
        fields: [
          'Timestamp',
          'Body',
          "LogAttributes['user.id']",
          "LogAttributes['customer.tier']",
          "LogAttributes['region']",
          'TraceId',
        ],
        where: 'ServiceName:"gateway" LogAttributes.http.status_code:[400 TO 599]',
      }),
    ]),
    note(
      'about',
      'How to search',
      at(0, 25, 24, 4),
      'Words and phrases match the log message: `ledger_entries`, `"card declined"`. To match an attribute, name its column first: `LogAttributes.http.status_code:>=500`, `ResourceAttributes.k8s.pod.name:payments*`. Combine conditions with `AND`, `OR`, `NOT` and parentheses.',
    ),
  ],
};
