import { sql } from 'kysely';
import type { Db } from '../../../platform/state/tables.ts';
import type { MetricMicros } from '../cost.ts';
import type { EntityType } from '../entity.ts';
import { METRICS, type Metric } from '../meter.ts';
import { METRIC_COLUMNS } from '../store.ts';
import type { Window } from '../window.ts';
import type { Grouping } from './grouping.ts';

/** The cost of one group in one range of days. A renamed entity has one for each name. */
export interface GroupCost {
  /** The index of the range. */
  range: number;
  entityType: EntityType | undefined;
  entityId: string | undefined;
  dataWarehouseId: string | undefined;
  /** The name of the entity, or of the warehouse according to its own records. */
  name: string | undefined;
  /** The last day with a cost. */
  lastDay: string;
  micros: MetricMicros;
}

interface GroupCostRow extends Record<(typeof METRIC_COLUMNS)[Metric], number> {
  range_id: number;
  entity_type: string | null;
  entity_id: string | null;
  data_warehouse_id: string | null;
  name: string | null;
  last_day: string;
}

const noName = sql`NULL`;
const GROUP_COLUMNS: Record<Grouping, { columns: string[]; name: ReturnType<typeof sql> }> = {
  none: { columns: [], name: noName },
  metric: { columns: [], name: noName },
  entityType: { columns: ['entity_type'], name: noName },
  entity: { columns: ['entity_type', 'entity_id', 'data_warehouse_id', 'entity_name'], name: sql`c.entity_name` },
  warehouse: {
    columns: ['data_warehouse_id'],
    name: sql`MAX(CASE WHEN c.entity_id = c.data_warehouse_id THEN c.entity_name END)`,
  },
};

/** A part of a range, summed in one query. */
export interface Slice extends Window {
  range: number;
}

/** Queries have one of these numbers of slices, so that few statements are prepared. */
const SLICE_COUNTS = [1, 4, 32];
export const MAX_SLICES = 32;
const EMPTY_SLICE: Slice = { range: 0, from: '1', to: '0' };

/** At most `MAX_SLICES` slices, which may overlap. The result is unordered. */
export async function sumSlices(
  db: Db,
  organizationId: string,
  slices: readonly Slice[],
  grouping: Grouping,
): Promise<GroupCost[]> {
  const count = SLICE_COUNTS.find((size) => size >= slices.length) ?? MAX_SLICES;
  const values = Array.from({ length: count }, (_, index) => {
    const { range, from, to } = slices[index] ?? EMPTY_SLICE;
    return sql`(CAST(${range} AS BIGINT), ${from}, ${to})`;
  });
  const { columns, name } = GROUP_COLUMNS[grouping];
  const selected = ['entity_type', 'entity_id', 'data_warehouse_id'].map((column) =>
    columns.includes(column) ? sql.ref(`c.${column}`) : sql`NULL AS ${sql.ref(column)}`,
  );
  // PostgreSQL sums BIGINT as NUMERIC, which its driver returns as a string.
  const sums = Object.values(METRIC_COLUMNS).map(
    (column) => sql`CAST(SUM(${sql.ref(`c.${column}`)}) AS BIGINT) AS ${sql.ref(column)}`,
  );
  const { rows } = await sql<GroupCostRow>`
    WITH ranges (range_id, first_day, last_day) AS (VALUES ${sql.join(values)})
    SELECT ranges.range_id, ${sql.join(selected)}, ${name} AS name, MAX(c.date) AS last_day, ${sql.join(sums)}
    FROM ranges
    JOIN usage_costs AS c
      ON c.organization_id = ${organizationId} AND c.date >= ranges.first_day AND c.date <= ranges.last_day
    GROUP BY ${sql.join(['ranges.range_id', ...columns.map((column) => `c.${column}`)].map((column) => sql.ref(column)))}`.execute(
    db,
  );
  return rows.map((row) => ({
    range: row.range_id,
    entityType: (row.entity_type as EntityType | null) ?? undefined,
    entityId: row.entity_id ?? undefined,
    dataWarehouseId: row.data_warehouse_id ?? undefined,
    name: row.name ?? undefined,
    lastDay: row.last_day,
    micros: Object.fromEntries(METRICS.map((metric) => [metric, row[METRIC_COLUMNS[metric]]])) as MetricMicros,
  }));
}
