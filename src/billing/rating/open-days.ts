import { addDays, type Day } from '../../kernel/days.ts';
import type { Db } from '../../state/tables.ts';
import type { Cost } from '../cost.ts';
import { keyOf } from '../entities.ts';
import { listClosedEntities, listEntityCosts } from '../store.ts';
import { listBookedOn } from './store.ts';

type EntityName = Pick<Cost, 'entityType' | 'entityId'>;

/** A day is final when it is locked, and for one entity also when its record was imported as closed. */
export async function finality(tx: Db, organizationId: string, lockedThrough: Day, dates: readonly Day[]) {
  const closed = new Set<string>();
  for (const date of new Set(dates)) {
    if (date <= lockedThrough) continue;
    for (const entity of await listClosedEntities(tx, organizationId, date)) closed.add(`${date} ${keyOf(entity)}`);
  }
  return (date: Day, entity: EntityName): boolean =>
    date <= lockedThrough || (closed.size > 0 && closed.has(`${date} ${keyOf(entity)}`));
}

/**
 * Where late usage of each of these entities goes: the first open day whose record is ours to change, neither closed nor
 * from elsewhere.
 */
export async function openDays(tx: Db, organizationId: string, first: Day, late: readonly EntityName[]) {
  const ours = new Map<Day, Set<string>>();
  const oursOn = async (date: Day): Promise<Set<string>> => {
    const known = ours.get(date) ?? new Set((await listBookedOn(tx, organizationId, date)).map(keyOf));
    ours.set(date, known);
    return known;
  };
  const taken = new Map<string, Set<Day>>();
  for (const [key, entity] of new Map(late.map((one) => [keyOf(one), one]))) {
    const days = new Set<Day>();
    for (const { date, isLocked } of await listEntityCosts(tx, organizationId, entity, first))
      if (isLocked || !(await oursOn(date)).has(key)) days.add(date);
    taken.set(key, days);
  }
  return (entity: EntityName): Day => {
    const days = taken.get(keyOf(entity));
    let day = first;
    while (days?.has(day)) day = addDays(day, 1);
    return day;
  };
}
