import { Gauge, Registry } from 'prom-client';
import { chcFromMicros } from '../../../kernel/numbers/money.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { toUtcDay } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { DRIVERS } from '../../services/driver.ts';
import { getEffectiveScaling } from '../../services/scaling/schedule.ts';
import { getMaxReplicas, getShards, type Service } from '../../services/service.ts';
import type { Services } from '../../services/services.ts';
import { observe } from '../../services/simulated.ts';
import type { MetricMicros } from '../cost.ts';
import { METERS, METRICS } from '../meter.ts';
import { type MeteredQuantity, sumCosts, sumUsage } from './store.ts';

export type ServiceMetrics = ReturnType<typeof createServiceMetrics>;

/** More services than this are scraped one by one, as the discovery lists them. */
export const MAX_SERVICES = 1000;

interface Options {
  db: Db;
  services: Services;
  clock: Clock;
}

/** The metrics of services, in the text format of Prometheus. */
export function createServiceMetrics({ db, services, clock }: Options) {
  async function render(organizationId: string, shown: readonly Readonly<Service>[]): Promise<string> {
    const now = clock.now();
    const today = toUtcDay(now);
    const month = { from: `${today.slice(0, 7)}-01`, to: today };
    const entityIds = shown.flatMap(listEntities);
    const costs = await sumCosts(db, organizationId, month, entityIds);
    const usage = groupByEntity(await sumUsage(db, organizationId, month, entityIds));
    const gauges = createGauges();
    for (const service of shown) {
      const labels = toLabels(service);
      setState(gauges, service, labels, now);
      const ids = listEntities(service);
      setCosts(
        gauges,
        labels,
        ids.flatMap((id) => costs.get(id) ?? []),
      );
      setUsage(
        gauges,
        labels,
        ids.flatMap((id) => usage.get(id) ?? []),
      );
    }
    return gauges.registry.metrics();
  }

  return {
    renderService: async (organizationId: string, id: string): Promise<string> =>
      render(organizationId, [await services.get(organizationId, id)]),

    /** The first services of the organization, oldest first. */
    renderOrganization: async (organizationId: string): Promise<string> =>
      render(organizationId, await services.listFirst(organizationId, MAX_SERVICES)),
  };
}

function groupByEntity(quantities: readonly MeteredQuantity[]): Map<string, MeteredQuantity[]> {
  const groups = new Map<string, MeteredQuantity[]>();
  for (const quantity of quantities) {
    const group = groups.get(quantity.entityId);
    if (group) group.push(quantity);
    else groups.set(quantity.entityId, [quantity]);
  }
  return groups;
}

/** The first service of a warehouse reports the metrics of the warehouse, which has the cost of storage. */
const listEntities = ({ id, dataWarehouseId, isPrimary }: Readonly<Service>): string[] =>
  isPrimary ? [id, dataWarehouseId] : [id];

/** The names of the labels are those of the hosted service. */
const SERVICE_LABELS = ['clickhouse_org', 'clickhouse_service', 'clickhouse_service_name'] as const;
type Labels = Record<(typeof SERVICE_LABELS)[number], string>;

const toLabels = ({ organizationId, id, name }: Readonly<Service>): Labels => ({
  clickhouse_org: organizationId,
  clickhouse_service: id,
  clickhouse_service_name: name,
});

function createGauges() {
  const registry = new Registry();
  const gauge = (name: string, help: string, ...labels: string[]) =>
    new Gauge({ name, help, labelNames: [...SERVICE_LABELS, ...labels], registers: [registry] });
  return {
    registry,
    info: gauge(
      'ClickHouse_ServiceInfo',
      'The state, version and driver of the service, as labels',
      'clickhouse_cluster_status',
      'clickhouse_version',
      'driver',
    ),
    running: gauge('pilothouse_service_running_replicas', 'Replicas of each shard that run'),
    shards: gauge('pilothouse_service_shards', 'Shards, each with the same number of replicas'),
    replicas: gauge(
      'pilothouse_service_replicas',
      'The bounds of the number of replicas of a shard in effect',
      'bound',
    ),
    memory: gauge(
      'pilothouse_service_replica_memory_gigabytes',
      'The bounds of the memory of one replica in effect',
      'bound',
    ),
    idleTimeout: gauge(
      'pilothouse_service_idle_timeout_seconds',
      'The time without queries after which the service may idle; absent if it never idles',
    ),
    usage: gauge(
      'pilothouse_service_usage_month_to_date',
      'Metered usage since the start of the month',
      'meter',
      'unit',
    ),
    cost: gauge('pilothouse_service_cost_month_to_date_chc', 'Cost since the start of the month', 'metric'),
  };
}

type Gauges = ReturnType<typeof createGauges>;

function setState(gauges: Gauges, service: Readonly<Service>, labels: Labels, now: number): void {
  const { state } = observe(service, now);
  const { scaling } = getEffectiveScaling(service, now);
  gauges.info.set(
    {
      ...labels,
      clickhouse_cluster_status: state,
      clickhouse_version: service.observed.version ?? service.details.databaseVersion ?? '',
      driver: service.driver,
    },
    1,
  );
  gauges.running.set(labels, countRunning(service, state, scaling.numReplicas));
  gauges.shards.set(labels, getShards(service));
  gauges.replicas.set({ ...labels, bound: 'min' }, scaling.numReplicas);
  gauges.replicas.set({ ...labels, bound: 'max' }, getMaxReplicas(scaling));
  gauges.memory.set({ ...labels, bound: 'min' }, scaling.minReplicaMemoryGb);
  gauges.memory.set({ ...labels, bound: 'max' }, scaling.maxReplicaMemoryGb);
  if (scaling.idleScaling) gauges.idleTimeout.set(labels, scaling.idleTimeoutMinutes * 60);
}

/** The observed size. A simulated service has the desired one. */
function countRunning({ driver, observed }: Readonly<Service>, state: string, requested: number): number {
  if (state !== 'running' && state !== 'degraded') return 0;
  if (!DRIVERS[driver].isReconciled) return requested;
  // If the driver does not report replicas, a running service counts as one, as in metering.
  return observed.replicas ?? (state === 'running' ? 1 : 0);
}

function setCosts({ cost }: Gauges, labels: Labels, amounts: readonly MetricMicros[]): void {
  for (const metric of METRICS) {
    const micros = amounts.reduce((sum, amount) => sum + amount[metric], 0);
    if (micros !== 0) cost.set({ ...labels, metric }, chcFromMicros(micros));
  }
}

function setUsage({ usage }: Gauges, labels: Labels, quantities: readonly MeteredQuantity[]): void {
  for (const { meter, quantity } of quantities) usage.inc({ ...labels, meter, unit: METERS[meter].unit }, quantity);
}
