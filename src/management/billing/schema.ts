import Type, { type Static } from 'typebox';
import { chcFromMicros } from '../../kernel/numbers/money.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { TagFilter } from '../services/tag-filter.ts';
import { type Cost, type MetricMicros, totalMicros } from './cost.ts';
import { ENTITY_TYPES } from './entity.ts';
import { METRICS, type Metric } from './meter.ts';

export const FromDate = Type.String({
  description: 'First day: YYYY-MM-DD, or an ISO 8601 date-time, which is converted to its UTC day',
});

const MAX_SERVICE_IDS = 100;

export const UsageCostQuery = Type.Object(
  {
    from_date: FromDate,
    to_date: Type.String({ description: 'Last day, inclusive; at most 30 days after from_date' }),
    filter: TagFilter,
    service_id: Type.Optional(
      Type.Array(Type.String({ format: 'uuid' }), {
        maxItems: MAX_SERVICE_IDS,
        description: 'Only these services and their clickpipes',
      }),
    ),
  },
  { additionalProperties: false },
);

export const Chc = Type.Number({
  description: 'ClickHouse credits with up to 6 decimals; 1 CHC is 1 US dollar at list price',
});

type WireMetrics = { [metric in Metric as `${metric}CHC`]: typeof Chc };

export const Metrics = NamedObject(
  'UsageCostMetrics',
  Object.fromEntries(METRICS.map((metric) => [`${metric}CHC`, Chc])) as WireMetrics,
);

const CostRecord = NamedObject('UsageCostRecord', {
  dataWarehouseId: Type.String(),
  date: Type.String({ format: 'date' }),
  entityId: Type.String(),
  entityName: Type.String(),
  entityType: Type.Enum([...ENTITY_TYPES]),
  locked: Type.Boolean({ description: 'A locked record is final' }),
  metrics: Metrics,
  serviceId: Type.Optional(Type.String({ description: 'Omitted for warehouses' })),
  totalCHC: Chc,
});

export const UsageCost = NamedObject('UsageCost', { costs: Type.Array(CostRecord), grandTotalCHC: Chc });

export const toCostRecord = (cost: Cost): Static<typeof CostRecord> => ({
  dataWarehouseId: cost.dataWarehouseId,
  date: cost.date,
  entityId: cost.entityId,
  entityName: cost.entityName,
  entityType: cost.entityType,
  locked: cost.isLocked,
  metrics: toMetricsRecord(cost.micros),
  serviceId: cost.serviceId,
  totalCHC: chcFromMicros(totalMicros(cost.micros)),
});

/** Called for every record of a long response: a loop is faster than `Object.fromEntries`. */
export function toMetricsRecord(micros: MetricMicros): Static<typeof Metrics> {
  const metrics: Record<string, number> = {};
  for (const metric of METRICS) metrics[`${metric}CHC`] = chcFromMicros(micros[metric]);
  return metrics as Static<typeof Metrics>;
}
