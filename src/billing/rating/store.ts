import type { Day } from '../../kernel/days.ts';
import { AppError } from '../../kernel/errors.ts';
import { prepared } from '../../state/prepared.ts';
import type { Db, UsageDayRow, UsageLedgerRow } from '../../state/tables.ts';
import type { EntityType, Metric } from '../cost.ts';
import type { LedgerEntry } from './ledger.ts';

/** A day with metered usage. It is rated again while `revision` is ahead. */
export interface UsageDay {
  organizationId: string;
  date: Day;
  revision: number;
  ratedRevision: number;
  ratedAt: number;
  isLocked: boolean;
}

const toDay = (row: UsageDayRow): UsageDay => ({
  organizationId: row.organization_id,
  date: row.date,
  revision: row.revision,
  ratedRevision: row.rated_revision,
  ratedAt: row.rated_at,
  isLocked: row.locked === 1,
});

const toEntry = (row: UsageLedgerRow): LedgerEntry => ({
  date: row.date,
  entityType: row.entity_type as EntityType,
  entityId: row.entity_id,
  meter: row.meter as Metric,
  usageDate: row.usage_date,
  quantity: row.quantity,
  priceVersion: row.price_version,
  unitPrice: row.unit_price,
  micros: row.micros,
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

/** In order of organization and date; of all organizations when none is named. */
export async function listDays(
  db: Db,
  {
    organizationId,
    from,
    to,
  }: { organizationId?: string | undefined; from?: Day | undefined; to?: Day | undefined } = {},
): Promise<UsageDay[]> {
  let query = db.selectFrom('usage_days').selectAll();
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (from !== undefined) query = query.where('date', '>=', from);
  if (to !== undefined) query = query.where('date', '<=', to);
  return (await query.orderBy('organization_id').orderBy('date').execute()).map(toDay);
}

export async function listDirtyDays(db: Db): Promise<UsageDay[]> {
  const rows = await db
    .selectFrom('usage_days')
    .selectAll()
    .whereRef('revision', '>', 'rated_revision')
    .orderBy('organization_id')
    .orderBy('date')
    .execute();
  return rows.map(toDay);
}

export async function setRated(
  tx: Db,
  { organizationId, date }: Pick<UsageDay, 'organizationId' | 'date'>,
  revision: number,
  ratedAt: number,
): Promise<void> {
  await tx
    .updateTable('usage_days')
    .set({ rated_revision: revision, rated_at: ratedAt })
    .where('organization_id', '=', organizationId)
    .where('date', '=', date)
    .execute();
}

const selectOfUsageDate = prepared((db: Db, value: { organizationId: string; usageDate: Day }) =>
  db
    .selectFrom('usage_ledger')
    .selectAll()
    .where('organization_id', '=', value.organizationId)
    .where('usage_date', '=', value.usageDate),
);

/** Whatever was used on that day, on whichever date it is booked. */
export async function listEntriesOfUsage(db: Db, organizationId: string, usageDate: Day): Promise<LedgerEntry[]> {
  return (await selectOfUsageDate.all(db, { organizationId, usageDate })).map(toEntry);
}

const selectOfDate = prepared((db: Db, value: { organizationId: string; date: Day }) =>
  db
    .selectFrom('usage_ledger')
    .selectAll()
    .where('organization_id', '=', value.organizationId)
    .where('date', '=', value.date),
);

/** Whatever is booked on that date. */
export async function listEntriesOn(db: Db, organizationId: string, date: Day): Promise<LedgerEntry[]> {
  return (await selectOfDate.all(db, { organizationId, date })).map(toEntry);
}

/** Locked days are closed: whoever tries to change one has a fault, and is stopped here. */
function refuseClosed(entries: readonly LedgerEntry[], lockedThrough: Day): void {
  const closed = entries.find(({ date }) => date <= lockedThrough);
  if (closed) throw new AppError('internal', `The ledger of ${closed.date} is locked and cannot change any more`);
}

const ROWS = 20;

type EntryValues = Record<string, string | number>;

/** Built once for so many rows: building it costs far more than running it. */
const upsertOf = (count: number) =>
  prepared((db: Db, value: EntryValues) =>
    db
      .insertInto('usage_ledger')
      .values(Array.from({ length: count }, (_, index) => rowFrom(value, index)))
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

const upsertMany = upsertOf(ROWS);
const upsertOne = upsertOf(1);

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
] as const;

/** Of the values of so many rows; made once, since they are looked up for every row. */
const NAMES = Array.from({ length: ROWS }, (_, index) =>
  COLUMNS.map((column) => ({ column, name: `${column} ${index}` })),
);

const rowFrom = (value: EntryValues, index: number): UsageLedgerRow =>
  Object.fromEntries(
    (NAMES[index] ?? []).map(({ column, name }) => [column, value[name]]),
  ) as unknown as UsageLedgerRow;

function valuesOf(rows: readonly UsageLedgerRow[]): EntryValues {
  const values: EntryValues = {};
  for (const [index, row] of rows.entries())
    for (const { column, name } of NAMES[index] ?? []) values[name] = row[column];
  return values;
}

export async function putEntries(
  tx: Db,
  organizationId: string,
  entries: readonly LedgerEntry[],
  lockedThrough: Day,
): Promise<void> {
  refuseClosed(entries, lockedThrough);
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
  const whole = rows.length - (rows.length % ROWS);
  for (let start = 0; start < whole; start += ROWS) await upsertMany.all(tx, valuesOf(rows.slice(start, start + ROWS)));
  for (const row of rows.slice(whole)) await upsertOne.all(tx, valuesOf([row]));
}

export async function deleteEntries(
  tx: Db,
  organizationId: string,
  entries: readonly LedgerEntry[],
  lockedThrough: Day,
): Promise<void> {
  refuseClosed(entries, lockedThrough);
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

/** Every day up to there is closed, with all its records, whoever made them. */
export async function lockDays(tx: Db, organizationId: string, through: Day): Promise<void> {
  const row = { revision: 0, rated_revision: 0, rated_at: 0, locked: 1 };
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
