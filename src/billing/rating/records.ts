import type { Day } from '../../kernel/days.ts';
import type { Db } from '../../state/tables.ts';
import { type Cost, type EntityType, METRICS, type Metric } from '../cost.ts';
import { type Entity, type EntityMap, keyOf } from '../entities.ts';
import { deleteCost, listCosts, listEntityCosts, putOpenCosts } from '../store.ts';
import type { LedgerEntry } from './ledger.ts';
import { type BookedAmount, listBookedOn } from './store.ts';

/** Makes the records of these entries' dates and entities what the ledger says, sum by sum. */
export async function rebuildRecords(
  tx: Db,
  organizationId: string,
  changed: readonly LedgerEntry[],
  entities: EntityMap,
): Promise<void> {
  const touched = new Map<Day, Map<string, LedgerEntry>>();
  for (const entry of changed) {
    const ofDay = touched.get(entry.date) ?? new Map<string, LedgerEntry>();
    touched.set(entry.date, ofDay.set(keyOf(entry), entry));
  }
  for (const [date, ofDay] of touched) {
    const sums = sumByEntity(await listBookedOn(tx, organizationId, date), ofDay);
    // Nearly always everybody is known and has entries; then nobody asks what was there before.
    const isPlain = [...ofDay.keys()].every((key) => entities.has(key) && sums.has(key));
    const stored = new Map(
      (isPlain ? [] : await listCosts(tx, organizationId, date, date)).map((cost) => [keyOf(cost), cost]),
    );
    const costs: Cost[] = [];
    for (const [key, entry] of ofDay) {
      const before = stored.get(key);
      const micros = sums.get(key);
      if (micros) {
        const { entityType, entityId, entityName, dataWarehouseId, serviceId } =
          entities.get(key) ?? before ?? (await remembered(tx, organizationId, entry));
        costs.push({
          organizationId,
          date,
          entityType,
          entityId,
          entityName,
          dataWarehouseId,
          serviceId,
          isLocked: false,
          micros,
        });
      } else if (before && !before.isLocked) await deleteCost(tx, before);
    }
    await putOpenCosts(tx, costs);
  }
}

/** Only for the entities in `wanted`. */
function sumByEntity(
  entries: readonly BookedAmount[],
  wanted: ReadonlyMap<string, unknown>,
): Map<string, Record<Metric, number>> {
  const sums = new Map<string, Record<Metric, number>>();
  for (const entry of entries) {
    const key = keyOf(entry);
    if (!wanted.has(key)) continue;
    const sum = sums.get(key) ?? { ...NO_MICROS };
    sum[entry.meter] += entry.micros;
    sums.set(key, sum);
  }
  return sums;
}

const NO_MICROS = Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Record<Metric, number>;

type Owner = Pick<Entity, 'entityType' | 'entityId' | 'entityName' | 'dataWarehouseId' | 'serviceId'>;

/** A service that is gone is called what the bill called it last. */
async function remembered(
  tx: Db,
  organizationId: string,
  entity: { entityType: EntityType; entityId: string },
): Promise<Owner> {
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
