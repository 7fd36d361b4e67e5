import { addDays, type Day } from '../../../kernel/time/days.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { type EntityRef, entityKey } from '../entity.ts';
import { listEntityCosts, listFinalEntities } from '../store.ts';
import { listBookedOn } from './store.ts';

/** Returns a check for final days: locked days, and for a single entity also days with a record that is imported or locked. */
export async function readFinalDays(tx: Db, organizationId: string, lockedThrough: Day, dates: readonly Day[]) {
  const finalRecords = new Set<string>();
  for (const date of new Set(dates)) {
    if (date <= lockedThrough) continue;
    for (const entity of await listFinalEntities(tx, organizationId, date))
      finalRecords.add(`${date} ${entityKey(entity)}`);
  }
  return (date: Day, entity: EntityRef): boolean =>
    date <= lockedThrough || (finalRecords.size > 0 && finalRecords.has(`${date} ${entityKey(entity)}`));
}

/**
 * Returns a function that finds the day on which late usage of an entity is booked: the first one, starting with
 * `first`, whose record is neither locked nor imported.
 */
export async function readOpenDays(tx: Db, organizationId: string, first: Day, entities: readonly EntityRef[]) {
  const bookedByDate = new Map<Day, Set<string>>();
  const readBooked = async (date: Day): Promise<Set<string>> => {
    const booked = bookedByDate.get(date) ?? new Set((await listBookedOn(tx, organizationId, date)).map(entityKey));
    bookedByDate.set(date, booked);
    return booked;
  };
  const unavailable = new Map<string, Set<Day>>();
  for (const [key, entity] of new Map(entities.map((entity) => [entityKey(entity), entity]))) {
    const days = new Set<Day>();
    for (const { date, isLocked } of await listEntityCosts(tx, organizationId, entity, first))
      if (isLocked || !(await readBooked(date)).has(key)) days.add(date);
    unavailable.set(key, days);
  }
  return (entity: EntityRef): Day => {
    const days = unavailable.get(entityKey(entity));
    let day = first;
    while (days?.has(day)) day = addDays(day, 1);
    return day;
  };
}
