import { AppError } from '../../../kernel/errors.ts';
import type { Day } from '../../../kernel/time/days.ts';
import { prepared } from '../../../platform/state/prepared.ts';
import { preparedRows } from '../../../platform/state/prepared-rows.ts';
import type { UsageDayRow, UsageLedgerRow } from '../../../platform/state/tables/billing-tables.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { EntityType } from '../entity.ts';
import type { MeterName } from '../meter.ts';
import type { Mismatch } from '../metering/engine-binding.ts';
import type { LedgerEntry } from './ledger.ts';

/** A day with metered usage. It is rated again while `revision` is larger than `ratedRevision`. */
export interface UsageDay {
  organizationId: string;
  date: Day;
  revision: number;
  ratedRevision: number;
  ratedAt: number;
  isLocked: boolean;
  /** The number of accepted events; undefined if it is not known, for a day from before they were counted. */
  events: number | undefined;
  /** Why the day is not rated: the engine does not have its events. */
  mismatch: Mismatch | undefined;
}

const toDay = (row: UsageDayRow): UsageDay => ({
  organizationId: row.organization_id,
  date: row.date,
  revision: row.revision,
  ratedRevision: row.rated_revision,
  ratedAt: row.rated_at,
  isLocked: row.locked === 1,
  events: row.events ?? undefined,
  mismatch: (row.mismatch ?? undefined) as Mismatch | undefined,
});

export async function findDay(db: Db, organizationId: string, date: Day): Promise<UsageDay | undefined> {
  const row = await db
    .selectFrom('usage_days')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .executeTakeFirst();
  return row && toDay(row);
}

/** All organizations when `organizationId` is omitted; both ends included. */
export interface DayRange {
  organizationId?: string | undefined;
  from?: Day | undefined;
  to?: Day | undefined;
}

/** `open`: not locked. `changed`: has usage that is not rated yet, which a locked day may have too. */
type DayFilter = 'open' | 'changed' | 'openOrChanged' | 'all';

/** In the order of organization and date. */
export async function listDays(db: Db, range: DayRange, filter: DayFilter = 'all'): Promise<UsageDay[]> {
  const { organizationId, from, to } = range;
  let query = db.selectFrom('usage_days').selectAll();
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (from !== undefined) query = query.where('date', '>=', from);
  if (to !== undefined) query = query.where('date', '<=', to);
  if (filter !== 'all')
    query = query.where((eb) => {
      // Literals, not parameters: the partial indexes on open and changed days apply to literal conditions only.
      const isOpen = eb('locked', '=', eb.lit(0));
      const isChanged = eb('revision', '>', eb.ref('rated_revision'));
      return { open: isOpen, changed: isChanged, openOrChanged: eb.or([isOpen, isChanged]) }[filter];
    });
  return (await query.orderBy('organization_id').orderBy('date').execute()).map(toDay);
}

/** The day matches the engine: it is rated at `revision`. `events` is the number of accepted events, if it is known. */
export async function setRated(
  tx: Db,
  { organizationId, date }: Pick<UsageDay, 'organizationId' | 'date'>,
  { revision, ratedAt, events }: { revision: number; ratedAt: number; events: number | undefined },
): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set({ rated_revision: revision, rated_at: ratedAt, events: events ?? null, mismatch: null })
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .execute();
}

/** The last day of each organization with accepted events. */
export async function listNewestDays(db: Db, organizationIds: readonly string[]): Promise<Map<string, Day>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('usage_days')
    .select(({ fn }) => ['organization_id', fn.max('date').as('date')])
    .where('organization_id', 'in', organizationIds)
    .where('events', '>', 0)
    .groupBy('organization_id')
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row.date]));
}

const selectByUsageDate = prepared((db: Db, value: { organizationId: string; usageDate: Day }) =>
  db
    .selectFrom('usage_ledger')
    .select(['date', 'entity_type', 'entity_id', 'meter', 'quantity', 'price_version', 'unit_price', 'micros'])
    .where('organization_id', '=', value.organizationId)
    .where('usage_date', '=', value.usageDate),
);

/** The entries for usage of that day, on any date. */
export async function listEntriesOfUsage(db: Db, organizationId: string, usageDate: Day): Promise<LedgerEntry[]> {
  const rows = await selectByUsageDate.all(db, { organizationId, usageDate });
  return rows.map((row) => ({
    date: row.date,
    entityType: row.entity_type as EntityType,
    entityId: row.entity_id,
    meter: row.meter as MeterName,
    usageDate,
    quantity: row.quantity,
    priceVersion: row.price_version,
    unitPrice: row.unit_price,
    micros: row.micros,
  }));
}

/** The cost of one meter of an entity, for usage of any day. */
type BookedAmount = Pick<LedgerEntry, 'entityType' | 'entityId' | 'meter' | 'micros'>;

const selectByDate = prepared((db: Db, value: { organizationId: string; date: Day }) =>
  db
    .selectFrom('usage_ledger')
    .select(['entity_type', 'entity_id', 'meter', 'micros'])
    .where('organization_id', '=', value.organizationId)
    .where('date', '=', value.date),
);

/** The amounts booked on that date. */
export async function listBookedOn(db: Db, organizationId: string, date: Day): Promise<BookedAmount[]> {
  return (await selectByDate.all(db, { organizationId, date })).map(({ entity_type, entity_id, meter, micros }) => ({
    entityType: entity_type as EntityType,
    entityId: entity_id,
    meter: meter as MeterName,
    micros,
  }));
}

/** Guards against bugs: the entries of locked days must never change. */
function assertOpen(entries: readonly LedgerEntry[], lockedThrough: Day): void {
  const locked = entries.find(({ date }) => date <= lockedThrough);
  if (locked) throw new AppError('internal', `The ledger of ${locked.date} is locked and cannot change`);
}

const COLUMNS = [
  'organization_id',
  'date',
  'entity_type',
  'entity_id',
  'meter',
  'usage_date',
  'quantity',
  'price_version',
  'unit_price',
  'micros',
] as const satisfies (keyof UsageLedgerRow)[];

const upsertEntries = preparedRows<UsageLedgerRow>(COLUMNS, (db, rows) =>
  db
    .insertInto('usage_ledger')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'date', 'entity_type', 'entity_id', 'meter', 'usage_date'])
        .doUpdateSet((eb) => ({
          quantity: eb.ref('excluded.quantity'),
          price_version: eb.ref('excluded.price_version'),
          unit_price: eb.ref('excluded.unit_price'),
          micros: eb.ref('excluded.micros'),
        })),
    ),
);

export async function putEntries(
  tx: Db,
  organizationId: string,
  entries: readonly LedgerEntry[],
  lockedThrough: Day,
): Promise<void> {
  assertOpen(entries, lockedThrough);
  const rows = entries.map(
    (entry): UsageLedgerRow => ({
      organization_id: organizationId,
      date: entry.date,
      entity_type: entry.entityType,
      entity_id: entry.entityId,
      meter: entry.meter,
      usage_date: entry.usageDate,
      quantity: entry.quantity,
      price_version: entry.priceVersion,
      unit_price: entry.unitPrice,
      micros: entry.micros,
    }),
  );
  await upsertEntries(tx, rows);
}

export async function deleteEntries(
  tx: Db,
  organizationId: string,
  entries: readonly LedgerEntry[],
  lockedThrough: Day,
): Promise<void> {
  assertOpen(entries, lockedThrough);
  for (const { date, entityType, entityId, meter, usageDate } of entries)
    await tx
      .deleteFrom('usage_ledger')
      .where('organization_id', '=', organizationId)
      .where('date', '=', date)
      .where('entity_type', '=', entityType)
      .where('entity_id', '=', entityId)
      .where('meter', '=', meter)
      .where('usage_date', '=', usageDate)
      .execute();
}

/** Locks every day up to and including `through`, with all its cost records, imported ones included. */
export async function setLocked(tx: Db, organizationId: string, through: Day): Promise<void> {
  const row = { revision: 0, rated_revision: 0, rated_at: 0, locked: 1, events: 0, mismatch: null };
  await tx
    .insertInto('usage_days')
    .values({ organization_id: organizationId, date: through, ...row })
    .onConflict((conflict) => conflict.columns(['organization_id', 'date']).doUpdateSet({ locked: 1 }))
    .execute();
  for (const table of ['usage_days', 'usage_costs'] as const)
    await tx
      .updateTable(table)
      .set({ locked: 1 })
      .where('organization_id', '=', organizationId)
      .where('date', '<=', through)
      .where('locked', '=', 0)
      .execute();
}
