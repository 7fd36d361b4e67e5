import type { DashboardTemplate } from './template.ts';
import { at, metrics, tile } from './tile.ts';

const byHost = ["ResourceAttributes['host.name']"];

const gauge = (metricName: string, aggFn: 'avg' | 'max') =>
  metrics({ metricName, metricDataType: 'gauge', aggFn, groupBy: byHost });
const rate = (metricName: string) => metrics({ metricName, metricDataType: 'sum', aggFn: 'rate', groupBy: byHost });

export const hosts: DashboardTemplate = {
  id: 'hosts',
  description: 'Processors, memory, disks and network, from the host metrics of the OpenTelemetry collector',
  dashboard: {
    name: 'Hosts',
    tags: ['opentelemetry'],
    tiles: [
      tile('time', 'cpu', 'CPU utilization', at(0, 0, 12, 6), [gauge('system.cpu.utilization', 'avg')]),
      tile('time', 'memory', 'Memory utilization', at(12, 0, 12, 6), [gauge('system.memory.utilization', 'avg')]),
      tile('time', 'load', 'Load average, 1 minute', at(0, 6, 12, 6), [gauge('system.cpu.load_average.1m', 'max')]),
      tile('time', 'filesystem', 'File system utilization', at(12, 6, 12, 6), [
        gauge('system.filesystem.utilization', 'max'),
      ]),
      tile('time', 'disk', 'Disk bytes per second', at(0, 12, 12, 6), [rate('system.disk.io')]),
      tile('time', 'network', 'Network bytes per second', at(12, 12, 12, 6), [rate('system.network.io')]),
    ],
  },
};
