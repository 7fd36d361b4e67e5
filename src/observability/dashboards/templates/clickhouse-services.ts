import type { DashboardTemplate } from './template.ts';
import { at, metrics, tile } from './tile.ts';

const gauge = (metricName: string) =>
  metrics({ metricName, metricDataType: 'gauge', aggFn: 'max', groupBy: ['ServiceName'] });

export const clickhouseServices: DashboardTemplate = {
  id: 'clickhouse-services',
  description: 'Load of the ClickHouse services that Pilothouse runs, by minute',
  dashboard: {
    name: 'ClickHouse services',
    tags: ['clickhouse'],
    tiles: [
      tile('time', 'cpu', 'CPU cores', at(0, 0, 12, 6), [gauge('clickhouse.cpu.cores')]),
      tile('time', 'memory', 'Memory', at(12, 0, 12, 6), [gauge('clickhouse.memory.usage')]),
      tile('time', 'queries', 'Queries at the same time', at(0, 6, 12, 6), [gauge('clickhouse.queries')]),
      tile('time', 'replicas', 'Replicas', at(12, 6, 12, 6), [gauge('clickhouse.replicas')]),
      tile('time', 'size', 'Memory of a replica', at(0, 12, 12, 6), [gauge('clickhouse.replica.memory')]),
      tile('time', 'out-of-memory', 'Queries that ran out of memory', at(12, 12, 12, 6), [
        gauge('clickhouse.queries.out_of_memory'),
      ]),
    ],
  },
};
