import { sql } from 'kysely';
import { addDays, type Day, listDaysBetween } from '../../kernel/time/days.ts';
import { packColumns } from '../../platform/state/packed.ts';
import { prepared } from '../../platform/state/prepared.ts';
import { preparedRows } from '../../platform/state/prepared-rows.ts';
import type { UsageCostRow } from '../../platform/state/tables/billing-tables.ts';
import type { Db } from '../../platform/state/tables.ts';
import { isIn } from '../../platform/state/value-lists.ts';
import type { Cost, MetricMicros } from './cost.ts';
import type { EntityRef, EntityType } from './entity.ts';
import { METRICS, type Metric } from './meter.ts';
import type { Window } from './window.ts';

/** The column of `usage_costs` for each metric. */
export const METRIC_COLUMNS = {
  backup: 'backup_micros',
  compute: 'compute_micros',
  dataTransfer: 'data_transfer_micros',
  initialLoad: 'initial_load_micros',
  interRegionTier1DataTransfer: 'inter_region_tier1_micros',
  interRegionTier2DataTransfer: 'inter_region_tier2_micros',
  interRegionTier3DataTransfer: 'inter_region_tier3_micros',
  interRegionTier4DataTransfer: 'inter_region_tier4_micros',
  publicDataTransfer: 'public_data_transfer_micros',
  storage: 'storage_micros',
} as const satisfies Record<Metric, keyof UsageCostRow>;

/** A cost read as five columns instead of eighteen: the drivers' time per row grows with the number of columns. */
export interface PackedCostRow {
  entity_id: string;
  entity_name: string;
  data_warehouse_id: string;
  service_id: string | null;
  /** The other columns, separated by spaces. */
  packed: string;
}

const packedColumns = ['date', 'entity_type', 'locked', ...METRICS.map((metric) => METRIC_COLUMNS[metric])];

export const packedCostColumns = sql<PackedCostRow>`entity_id, entity_name, data_warehouse_id, service_id,
  ${packColumns(packedColumns)} AS packed`;

export function parsePackedCost(organizationId: string, row: PackedCostRow): Cost {
  const [date = '', entityType, locked, ...amounts] = row.packed.split(' ');
  const micros = {} as MetricMicros;
  for (const [index, metric] of METRICS.entries()) micros[metric] = Number(amounts[index]);
  return {
    organizationId,
    date,
    entityType: entityType as EntityType,
    entityId: row.entity_id,
    entityName: row.entity_name,
    dataWarehouseId: row.data_warehouse_id,
    serviceId: row.service_id ?? undefined,
    isLocked: locked === '1',
    micros,
  };
}

const toCost = (row: UsageCostRow): Cost => ({
  organizationId: row.organization_id,
  date: row.date,
  entityType: row.entity_type as EntityType,
  entityId: row.entity_id,
  entityName: row.entity_name,
  dataWarehouseId: row.data_warehouse_id,
  serviceId: row.service_id ?? undefined,
  isLocked: row.locked === 1,
  micros: Object.fromEntries(METRICS.map((metric) => [metric, row[METRIC_COLUMNS[metric]]])) as MetricMicros,
});

function toRow(cost: Cost): UsageCostRow {
  const row: Partial<UsageCostRow> = {
    organization_id: cost.organizationId,
    date: cost.date,
    entity_type: cost.entityType,
    entity_id: cost.entityId,
    entity_name: cost.entityName,
    data_warehouse_id: cost.dataWarehouseId,
    service_id: cost.serviceId ?? null,
    locked: cost.isLocked ? 1 : 0,
  };
  for (const metric of METRICS) row[METRIC_COLUMNS[metric]] = cost.micros[metric];
  return row as UsageCostRow;
}

const selectDays = prepared((db: Db, value: { organizationId: string; from: string; to: string }) => ({
  compile: () =>
    sql<PackedCostRow>`SELECT ${packedCostColumns} FROM usage_costs
      WHERE organization_id = ${value.organizationId} AND date >= ${value.from} AND date <= ${value.to}`.compile(db),
}));

/** The result is unordered. */
export async function listCosts(db: Db, organizationId: string, { from, to }: Window): Promise<Cost[]> {
  return (await selectDays.all(db, { organizationId, from, to })).map((row) => parsePackedCost(organizationId, row));
}

/** The costs of some services, of their clickpipes and of some warehouses. Reads no records of others. */
export async function listSelectedCosts(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  { serviceIds, warehouseIds }: { serviceIds: Iterable<string>; warehouseIds: Iterable<string> },
): Promise<Cost[]> {
  const select = (entityType: EntityType, column: string, ids: Iterable<string>) => sql`SELECT ${packedCostColumns}
    FROM usage_costs WHERE organization_id = ${organizationId} AND ${isIn(db, 'date', listDaysBetween(from, to))}
    AND entity_type = ${entityType} AND ${isIn(db, column, ids)}`;
  const { rows } = await sql<PackedCostRow>`${select('service', 'entity_id', serviceIds)}
    UNION ALL ${select('clickpipe', 'service_id', serviceIds)}
    UNION ALL ${select('datawarehouse', 'entity_id', warehouseIds)}`.execute(db);
  return rows.map((row) => parsePackedCost(organizationId, row));
}

/** The records that are sums of ledger entries, as `date type id`. */
export async function listMeteredRecords(db: Db, organizationId: string, { from, to }: Window): Promise<Set<string>> {
  const rows = await db
    .selectFrom('usage_ledger')
    .select(['date', 'entity_type', 'entity_id'])
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('date', '>=', from)
    .where('date', '<=', to)
    .execute();
  return new Set(rows.map(({ date, entity_type, entity_id }) => `${date} ${entity_type} ${entity_id}`));
}

/** Keeps a multi-row insert well below the parameter limit of either store. */
const ROWS_PER_INSERT = 500;

/** Inserts records, or replaces those of the same day and entity. */
export async function putCosts(tx: Db, costs: readonly Cost[]): Promise<void> {
  for (let start = 0; start < costs.length; start += ROWS_PER_INSERT) {
    await tx
      .insertInto('usage_costs')
      .values(costs.slice(start, start + ROWS_PER_INSERT).map(toRow))
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'date', 'entity_type', 'entity_id']).doUpdateSet((eb) => {
          const columns = [
            'entity_name',
            'data_warehouse_id',
            'service_id',
            'locked',
            ...Object.values(METRIC_COLUMNS),
          ] as const;
          return Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]));
        }),
      )
      .execute();
  }
}

const ALL_COLUMNS = Object.keys(toRow({ micros: {} } as Cost)) as (keyof UsageCostRow)[];

/** Like `putCosts`, but with prepared statements, for thousands of records a minute. Locked records stay unchanged. */
export async function putOpenCosts(tx: Db, costs: readonly Cost[]): Promise<void> {
  await upsertOpen(tx, costs.map(toRow));
}

const upsertOpen = preparedRows<UsageCostRow>(ALL_COLUMNS, (db, rows) =>
  db
    .insertInto('usage_costs')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'date', 'entity_type', 'entity_id'])
        .doUpdateSet((eb) =>
          Object.fromEntries(ALL_COLUMNS.slice(4).map((column) => [column, eb.ref(`excluded.${column}`)])),
        )
        .where('usage_costs.locked', '=', 0),
    ),
);

const selectFinal = prepared((db: Db, value: { organizationId: string; date: Day }) =>
  db
    .selectFrom('usage_costs as cost')
    .select(['cost.entity_type', 'cost.entity_id'])
    .where('cost.organization_id', '=', value.organizationId)
    .where('cost.date', '=', value.date)
    .where(({ eb, or, not, exists, selectFrom }) =>
      or([
        eb('cost.locked', '=', eb.lit(1)),
        not(
          exists(
            selectFrom('usage_ledger as entry')
              .select(eb.lit(1).as('one'))
              .whereRef('entry.organization_id', '=', 'cost.organization_id')
              .whereRef('entry.date', '=', 'cost.date')
              .whereRef('entry.entity_type', '=', 'cost.entity_type')
              .whereRef('entry.entity_id', '=', 'cost.entity_id'),
          ),
        ),
      ]),
    ),
);

/** The entities whose record of that day metering must not change: it is locked, or imported and thus without entries. */
export async function listFinalEntities(db: Db, organizationId: string, date: Day): Promise<EntityRef[]> {
  const rows = await selectFinal.all(db, { organizationId, date });
  return rows.map(({ entity_type, entity_id }) => ({ entityType: entity_type as EntityType, entityId: entity_id }));
}

/** The records of one entity from a day on, oldest first. */
export async function listEntityCosts(
  db: Db,
  organizationId: string,
  { entityType, entityId }: EntityRef,
  from: Day,
): Promise<Cost[]> {
  const rows = await db
    .selectFrom('usage_costs')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('date', '>=', from)
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .orderBy('date')
    .execute();
  return rows.map(toCost);
}

export async function deleteCost(tx: Db, { organizationId, date, entityType, entityId }: Cost): Promise<void> {
  await tx
    .deleteFrom('usage_costs')
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
}

/** The latest record of each of the clickpipes. */
export async function listClickpipes(db: Db, organizationId: string, ids: readonly string[]): Promise<Cost[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('usage_costs as cost')
    .selectAll('cost')
    .where('cost.organization_id', '=', organizationId)
    .where('cost.entity_type', '=', 'clickpipe')
    .where('cost.entity_id', 'in', ids)
    .where((eb) =>
      eb(
        'cost.date',
        '=',
        eb
          .selectFrom('usage_costs as later')
          .select((inner) => inner.fn.max('later.date').as('date'))
          .whereRef('later.organization_id', '=', 'cost.organization_id')
          .where('later.entity_type', '=', 'clickpipe')
          .whereRef('later.entity_id', '=', 'cost.entity_id'),
      ),
    )
    .execute();
  return rows.map(toCost);
}

/** How far metered usage of an organization has been rated and locked. */
export interface RatingProgress {
  ratedAt: number;
  /** Every day up to this one is locked. */
  lockedThrough: Day | undefined;
}

/** Undefined when the organization has no metered usage. */
export async function findRatingProgress(db: Db, organizationId: string): Promise<RatingProgress | undefined> {
  const { rows } = await sql<{
    rated_at: number | null;
    first_open: Day | null;
    first_locked: Day | null;
    last_locked: Day | null;
  }>`
    SELECT MAX(rated_at) AS rated_at, MIN(CASE WHEN locked = 0 THEN date END) AS first_open,
      MIN(CASE WHEN locked = 1 THEN date END) AS first_locked, MAX(CASE WHEN locked = 1 THEN date END) AS last_locked
    FROM usage_days WHERE organization_id = ${organizationId}`.execute(db);
  const { rated_at = null, first_open = null, first_locked = null, last_locked = null } = rows[0] ?? {};
  if (rated_at === null) return undefined;
  if (first_open === null) return { ratedAt: rated_at, lockedThrough: last_locked ?? undefined };
  const hasLocked = first_locked !== null && first_locked < first_open;
  return { ratedAt: rated_at, lockedThrough: hasLocked ? addDays(first_open, -1) : undefined };
}
