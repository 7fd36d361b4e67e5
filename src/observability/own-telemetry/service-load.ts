import type { Engine } from '../../platform/engine/engine.ts';
import { TABLES, unixTime } from './rows.ts';

/** The load of a service in one minute; what was not measured is left out. */
interface Sample {
  at: number;
  memoryGb: number;
  replicas: number;
  shards?: number;
  cpuCores?: number;
  memoryBytes?: number;
  queries?: number;
  outOfMemory?: number;
}

interface ServiceLoad {
  organizationId: string;
  serviceId: string;
  name: string;
  samples: readonly Sample[];
}

interface Options {
  engine: Pick<Engine, 'insert' | 'isRunning'>;
  log: { warn(details: object, text: string): void };
}

const GIBIBYTE = 2 ** 30;

/** Unit and description as in OpenTelemetry's metrics. */
const METRICS: Record<string, { unit: string; description: string; read(sample: Sample): number | undefined }> = {
  'clickhouse.cpu.cores': {
    unit: '{core}',
    description: 'Processor cores in use, over all replicas',
    read: ({ cpuCores }) => cpuCores,
  },
  'clickhouse.memory.usage': {
    unit: 'By',
    description: 'Memory in use, over all replicas',
    read: ({ memoryBytes }) => memoryBytes,
  },
  'clickhouse.queries': {
    unit: '{query}',
    description: 'Queries that ran at the same time',
    read: ({ queries }) => queries,
  },
  'clickhouse.queries.out_of_memory': {
    unit: '{query}',
    description: 'Queries that failed for lack of memory in the minute',
    read: ({ outOfMemory = 0 }) => outOfMemory,
  },
  'clickhouse.replicas': { unit: '{replica}', description: 'Replicas of each shard', read: ({ replicas }) => replicas },
  'clickhouse.shards': { unit: '{shard}', description: 'Shards', read: ({ shards = 1 }) => shards },
  'clickhouse.replica.memory': {
    unit: 'By',
    description: 'Memory of one replica',
    read: ({ memoryGb }) => memoryGb * GIBIBYTE,
  },
};

/**
 * The load of services as metrics of their organization, for dashboards. An engine that is not running is not started for
 * it, so these minutes are missing there; the load history has them.
 */
export const createServiceLoadMetrics = ({ engine, log }: Options) => ({
  async write(loads: readonly ServiceLoad[]): Promise<void> {
    if (!engine.isRunning()) return;
    try {
      await engine.insert(TABLES.gauge, loads.flatMap(toRows));
    } catch (error) {
      log.warn({ err: error }, 'failed to store the load of services as metrics');
    }
  },
});

function toRows({ organizationId, serviceId, name, samples }: ServiceLoad): object[] {
  const resource = { 'service.name': name, 'pilothouse.service.id': serviceId };
  return samples.flatMap((sample) =>
    Object.entries(METRICS).flatMap(([metricName, { unit, description, read }]) => {
      const value = read(sample);
      if (value === undefined) return [];
      const time = unixTime(sample.at);
      return {
        OrganizationId: organizationId,
        ServiceName: name,
        ResourceAttributes: resource,
        ScopeName: 'pilothouse',
        MetricName: metricName,
        MetricDescription: description,
        MetricUnit: unit,
        Attributes: {},
        StartTimeUnix: time,
        TimeUnix: time,
        Value: value,
      };
    }),
  );
}
