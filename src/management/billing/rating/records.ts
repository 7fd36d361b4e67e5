import type { Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { type Cost, type MetricMicros, zeroMicros } from '../cost.ts';
import { type Entity, type EntityMap, type EntityRef, entityKey } from '../entity.ts';
import { toMetric } from '../meter.ts';
import { deleteCost, listCosts, listEntityCosts, putOpenCosts } from '../store.ts';
import type { LedgerEntry } from './ledger.ts';
import { listBookedOn } from './store.ts';

/** Rebuilds the cost records of the dates and entities whose entries changed. */
export async function rebuildRecords(
  tx: Db,
  organizationId: string,
  changed: readonly LedgerEntry[],
  entities: EntityMap,
): Promise<void> {
  const byDate = new Map<Day, Map<string, EntityRef>>();
  for (const entry of changed) {
    const affected = byDate.get(entry.date) ?? new Map<string, EntityRef>();
    byDate.set(entry.date, affected.set(entityKey(entry), entry));
  }
  for (const [date, affected] of byDate) await rebuildDay(tx, organizationId, date, affected, entities);
}

async function rebuildDay(
  tx: Db,
  organizationId: string,
  date: Day,
  affected: ReadonlyMap<string, EntityRef>,
  entities: EntityMap,
): Promise<void> {
  const sums = await sumEntries(tx, organizationId, date, affected);
  // Stored records are needed only for entities that were deleted or have no entries left, which is rare.
  const isStoredNeeded = [...affected.keys()].some((key) => !entities.has(key) || !sums.has(key));
  const stored = new Map(
    (isStoredNeeded ? await listCosts(tx, organizationId, { from: date, to: date }) : []).map((cost) => [
      entityKey(cost),
      cost,
    ]),
  );
  const costs: Cost[] = [];
  for (const [key, entity] of affected) {
    const before = stored.get(key);
    const micros = sums.get(key);
    if (micros) {
      const { entityType, entityId, entityName, dataWarehouseId, serviceId } =
        entities.get(key) ?? before ?? (await readDeletedEntity(tx, organizationId, entity));
      const fields = { entityType, entityId, entityName, dataWarehouseId, serviceId };
      costs.push({ organizationId, date, ...fields, isLocked: false, micros });
    } else if (before && !before.isLocked) await deleteCost(tx, before);
  }
  await putOpenCosts(tx, costs);
}

async function sumEntries(
  tx: Db,
  organizationId: string,
  date: Day,
  affected: ReadonlyMap<string, EntityRef>,
): Promise<Map<string, MetricMicros>> {
  const sums = new Map<string, MetricMicros>();
  for (const entry of await listBookedOn(tx, organizationId, date)) {
    const key = entityKey(entry);
    if (!affected.has(key)) continue;
    const sum = sums.get(key) ?? zeroMicros();
    sum[toMetric(entry.meter)] += entry.micros;
    sums.set(key, sum);
  }
  return sums;
}

/** A deleted entity keeps the name in its last record. */
async function readDeletedEntity(tx: Db, organizationId: string, entity: EntityRef): Promise<Omit<Entity, 'region'>> {
  const last = (await listEntityCosts(tx, organizationId, entity, '')).at(-1);
  if (last) return last;
  const { entityType, entityId } = entity;
  return {
    entityType,
    entityId,
    entityName: entityId,
    dataWarehouseId: entityType === 'datawarehouse' ? entityId : '',
    serviceId: entityType === 'service' ? entityId : undefined,
  };
}
