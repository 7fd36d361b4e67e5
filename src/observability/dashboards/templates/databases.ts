import type { DashboardTemplate } from './template.ts';
import { at, tile, traces } from './tile.ts';

/** The name of the attribute before and since version 1.30 of the semantic conventions. */
const where = "SpanAttributes['db.system.name'] != '' OR SpanAttributes['db.system'] != ''";
const calls = { where, whereLanguage: 'sql' } as const;
const failed = { where: `(${where}) AND StatusCode = 'Error'`, whereLanguage: 'sql' } as const;
const p95 = { ...calls, aggFn: 'quantile', level: 0.95, field: 'Duration' } as const;
const byService = ['ServiceName'];
const byStatement = ['ServiceName', 'SpanName'];

export const databases: DashboardTemplate = {
  id: 'databases',
  description: 'Calls, errors and durations of database clients, from their spans',
  dashboard: {
    name: 'Databases',
    tags: ['opentelemetry'],
    tiles: [
      tile('number', 'calls', 'Database calls', at(0, 0, 8, 4), [traces({ ...calls, aggFn: 'count' })]),
      tile('number', 'errors', 'Failed calls', at(8, 0, 8, 4), [traces({ ...failed, aggFn: 'count' })]),
      tile('number', 'p95', 'p95 duration', at(16, 0, 8, 4), [traces(p95)]),
      tile('time', 'calls-by-service', 'Calls by service', at(0, 4, 12, 6), [
        traces({ ...calls, aggFn: 'count', groupBy: byService }),
      ]),
      tile('time', 'p95-by-service', 'p95 duration by service', at(12, 4, 12, 6), [
        traces({ ...p95, groupBy: byService }),
      ]),
      tile('table', 'slowest', 'Slowest operations', at(0, 10, 24, 8), [
        traces({ ...p95, alias: 'p95', groupBy: byStatement, sortOrder: 'desc' }),
        traces({ ...calls, aggFn: 'count', alias: 'calls', groupBy: byStatement }),
      ]),
    ],
  },
};
