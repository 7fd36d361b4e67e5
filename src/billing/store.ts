import { sql } from 'kysely';
import type { Day } from '../kernel/days.ts';
import { prepared } from '../state/prepared.ts';
import type { Db, UsageCostRow } from '../state/tables.ts';
import { type Cost, type EntityType, METRICS, type Metric } from './cost.ts';

/** Where each metric stands in a row of `usage_costs`. */
export const COLUMNS = {
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

/** A cost as it is read: five columns instead of eighteen, since both drivers pay by the column. */
export interface PackedCostRow {
  entity_id: string;
  entity_name: string;
  data_warehouse_id: string;
  service_id: string | null;
  /** Everything else, between blanks: none of it has any. */
  packed: string;
}

const packedColumns = ['date', 'entity_type', 'locked', ...METRICS.map((metric) => COLUMNS[metric])];

export const packedCost = sql<PackedCostRow>`entity_id, entity_name, data_warehouse_id, service_id,
  ${sql.join(
    packedColumns.map((column) => sql.ref(column)),
    sql` || ' ' || `,
  )} AS packed`;

export function toCost(organizationId: string, row: PackedCostRow): Cost {
  const [date = '', entityType, locked, ...amounts] = row.packed.split(' ');
  const micros = {} as Record<Metric, number>;
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

const toRow = (cost: Cost): UsageCostRow => ({
  organization_id: cost.organizationId,
  date: cost.date,
  entity_type: cost.entityType,
  entity_id: cost.entityId,
  entity_name: cost.entityName,
  data_warehouse_id: cost.dataWarehouseId,
  service_id: cost.serviceId ?? null,
  locked: cost.isLocked ? 1 : 0,
  ...(Object.fromEntries(METRICS.map((metric) => [COLUMNS[metric], cost.micros[metric]])) as Record<
    (typeof COLUMNS)[Metric],
    number
  >),
});

const selectDays = prepared((db: Db, value: { organizationId: string; from: string; to: string }) => ({
  compile: () =>
    sql<PackedCostRow>`SELECT ${packedCost} FROM usage_costs
      WHERE organization_id = ${value.organizationId} AND date >= ${value.from} AND date <= ${value.to}`.compile(db),
}));

/** Both ends included, in no order. */
export async function listCosts(db: Db, organizationId: string, from: Day, to: Day): Promise<Cost[]> {
  return (await selectDays.all(db, { organizationId, from, to })).map((row) => toCost(organizationId, row));
}

/** A multi-row insert stays well under the number of parameters that either store takes. */
const ROWS_PER_INSERT = 500;

/** Adds records, or puts them in the place of those of the same day and entity. */
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
            ...Object.values(COLUMNS),
          ] as const;
          return Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]));
        }),
      )
      .execute();
  }
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
