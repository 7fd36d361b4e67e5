import { sql } from 'kysely';
import type { Db } from '../../state/tables.ts';
import { type EntityType, METRICS, type Metric } from '../cost.ts';
import { COLUMNS } from '../store.ts';
import type { Window } from '../window.ts';
import type { Grouping } from './grouping.ts';

/** What one group cost in one range of days. Of an entity that was renamed there is one for each name. */
export interface Sum {
  /** Index of the range that it counts for. */
  range: number;
  entityType: EntityType | undefined;
  entityId: string | undefined;
  dataWarehouseId: string | undefined;
  /** Of the entity, or of the warehouse as its own records call it. */
  name: string | undefined;
  /** The last day that is in the sum. */
  lastDay: string;
  micros: Record<Metric, number>;
}

interface SumRow extends Record<(typeof COLUMNS)[Metric], number> {
  range_id: number;
  entity_type: string | null;
  entity_id: string | null;
  data_warehouse_id: string | null;
  name: string | null;
  last_day: string;
}

const none = sql`NULL`;
const GROUPED: Record<Grouping, { columns: string[]; name: ReturnType<typeof sql> }> = {
  none: { columns: [], name: none },
  metric: { columns: [], name: none },
  entityType: { columns: ['entity_type'], name: none },
  entity: { columns: ['entity_type', 'entity_id', 'data_warehouse_id', 'entity_name'], name: sql`c.entity_name` },
  warehouse: {
    columns: ['data_warehouse_id'],
    name: sql`MAX(CASE WHEN c.entity_type = 'datawarehouse' THEN c.entity_name END)`,
  },
};

/** A stretch of days whose sums count for a range. Both ends included. */
export interface Slice extends Window {
  range: number;
}

/** A query for each of these numbers of slices and no other: a store keeps the statements it has prepared. */
const SLICE_COUNTS = [1, 4, 32];
export const MAX_SLICES = 32;
const NO_DAYS: Slice = { range: 0, from: '1', to: '0' };

/** Sums over at most 32 slices, which may overlap; in no order. */
export async function sumSlices(
  db: Db,
  organizationId: string,
  slices: readonly Slice[],
  grouping: Grouping,
): Promise<Sum[]> {
  const count = SLICE_COUNTS.find((size) => size >= slices.length) ?? MAX_SLICES;
  const values = Array.from({ length: count }, (_, index) => {
    const { range, from, to } = slices[index] ?? NO_DAYS;
    return sql`(CAST(${range} AS BIGINT), ${from}, ${to})`;
  });
  const { columns, name } = GROUPED[grouping];
  const shown = ['entity_type', 'entity_id', 'data_warehouse_id'].map((column) =>
    columns.includes(column) ? sql.ref(`c.${column}`) : sql`NULL AS ${sql.ref(column)}`,
  );
  // A sum of BIGINTs is a NUMERIC on PostgreSQL, which its driver hands out as text.
  const sums = Object.values(COLUMNS).map(
    (column) => sql`CAST(SUM(${sql.ref(`c.${column}`)}) AS BIGINT) AS ${sql.ref(column)}`,
  );
  const { rows } = await sql<SumRow>`
    WITH ranges (range_id, first_day, last_day) AS (VALUES ${sql.join(values)})
    SELECT ranges.range_id, ${sql.join(shown)}, ${name} AS name, MAX(c.date) AS last_day, ${sql.join(sums)}
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
    micros: Object.fromEntries(METRICS.map((metric) => [metric, row[COLUMNS[metric]]])) as Record<Metric, number>,
  }));
}
