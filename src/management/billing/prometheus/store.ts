import { sql } from 'kysely';
import type { Db } from '../../../platform/state/tables.ts';
import type { MetricMicros } from '../cost.ts';
import { METRICS, type MeterName, type Metric } from '../meter.ts';
import { METRIC_COLUMNS } from '../store.ts';
import type { Window } from '../window.ts';

/** At most this many entities in one query. */
const MAX_ENTITIES = 2000;

/** The cost of each entity in the window. All entities of the organization if `entityIds` are too many for one query. */
export async function sumCosts(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  entityIds: readonly string[],
): Promise<Map<string, MetricMicros>> {
  if (entityIds.length === 0) return new Map();
  let query = db
    .selectFrom('usage_costs')
    .select('entity_id')
    // PostgreSQL sums BIGINT as NUMERIC, which its driver returns as a string.
    .select(({ cast, fn }) =>
      METRICS.map((metric) => cast<number>(fn.sum(METRIC_COLUMNS[metric]), 'bigint').as(METRIC_COLUMNS[metric])),
    )
    .where('organization_id', '=', organizationId)
    .where('date', '>=', from)
    .where('date', '<=', to)
    .groupBy('entity_id');
  if (entityIds.length <= MAX_ENTITIES) query = query.where('entity_id', 'in', [...entityIds]);
  const rows = (await query.execute()) as ({ entity_id: string } & Record<(typeof METRIC_COLUMNS)[Metric], number>)[];
  return new Map(
    rows.map((row) => [
      row.entity_id,
      Object.fromEntries(METRICS.map((metric) => [metric, row[METRIC_COLUMNS[metric]]])) as MetricMicros,
    ]),
  );
}

export interface MeteredQuantity {
  entityId: string;
  meter: MeterName;
  quantity: number;
}

/** The metered usage of each entity in the window, as floating-point numbers: Prometheus has no others. */
export async function sumUsage(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  entityIds: readonly string[],
): Promise<MeteredQuantity[]> {
  if (entityIds.length === 0) return [];
  let query = db
    .selectFrom('usage_ledger')
    .select(['entity_id', 'meter'])
    .select(sql<number>`SUM(CAST(quantity AS DOUBLE PRECISION))`.as('quantity'))
    .where('organization_id', '=', organizationId)
    .where('date', '>=', from)
    .where('date', '<=', to)
    .groupBy(['entity_id', 'meter']);
  if (entityIds.length <= MAX_ENTITIES) query = query.where('entity_id', 'in', [...entityIds]);
  return (await query.execute()).map((row) => ({
    entityId: row.entity_id,
    meter: row.meter as MeterName,
    quantity: row.quantity,
  }));
}
