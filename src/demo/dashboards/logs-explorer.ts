import type { DashboardSpec } from '../../fleet/schema.ts';
import { at, logs, note, tile } from './tile.ts';

const ERRORS = 'SeverityText:"ERROR"';

/** Ways to ask the logs. */
export const logsExplorer: DashboardSpec = {
  id: '64f0c1d2e3a4b5c6d7e8f904',
  name: 'Logs explorer',
  tags: ['demo', 'logs'],
  tiles: [
    tile('number', 'lines', 'Lines', at(0, 0, 6, 4), [logs({ aggFn: 'count' })]),
    tile('number', 'errors', 'Errors', at(6, 0, 6, 4), [logs({ aggFn: 'count', where: ERRORS })]),
    tile('number', 'users', 'Customers who met an error', at(12, 0, 6, 4), [
      logs({ aggFn: 'count_distinct', field: "LogAttributes['user.id']", where: ERRORS }),
    ]),
    tile('number', 'declined', 'Cards declined', at(18, 0, 6, 4), [logs({ aggFn: 'count', where: '"card declined"' })]),
    tile('time', 'severities', 'Lines by severity', at(0, 4, 16, 6), [
      logs({ aggFn: 'count', groupBy: ['SeverityText'], displayType: 'stacked_bar' }),
    ]),
    tile('time', 'slow', 'Slow requests by tier of the customer (SQL)', at(16, 4, 8, 6), [
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
    tile('search', 'ledger', 'Warnings about the ledger', at(12, 10, 12, 7), [
      logs({
        fields: ['Timestamp', 'SeverityText', 'Body'],
        where: 'ledger_entries (SeverityText:"WARN" OR SeverityText:"INFO") ServiceName:"payments"',
      }),
    ]),
    tile('search', 'gateway', 'Failed checkouts of paying customers', at(0, 17, 24, 8), [
      logs({
        fields: [
          'Timestamp',
          'Body',
          "LogAttributes['user.id']",
          "LogAttributes['customer.tier']",
          "LogAttributes['region']",
          'TraceId',
        ],
        where:
          'ServiceName:"gateway" LogAttributes.http.status_code:[500 TO 599] LogAttributes.customer.tier:(pro OR enterprise)',
      }),
    ]),
    note(
      'about',
      'Searching',
      at(0, 25, 24, 4),
      'Words are looked for in the text of a line: `ledger_entries`, `"card declined"`. Attributes stand behind their column: `LogAttributes.http.status_code:>=500`, `ResourceAttributes.k8s.pod.name:payments*`. `AND`, `OR`, `NOT` and parentheses combine them.',
    ),
  ],
};
