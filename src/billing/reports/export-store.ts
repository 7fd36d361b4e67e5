import { sql } from 'kysely';
import { prepared } from '../../state/prepared.ts';
import type { Db } from '../../state/tables.ts';
import { packedEntry, unpackedEntry } from '../packed-entry.ts';
import { type PackedCostRow, packedCost, unpackedCost } from '../store.ts';
import type { Window } from '../window.ts';
import type { Booked, Entry } from './charge.ts';

/** Records, not lines: few enough that a page of lines is well under a megabyte. */
const RECORDS_PER_PAGE = 200;

interface BookedRow extends PackedCostRow {
  /** Packed, between commas; null where there are none. */
  entries: string | null;
}

interface Place {
  organizationId: string;
  to: string;
  date: string;
  entityType: string;
  entityId: string;
}

const after = (value: Place) => sql`
  WHERE organization_id = ${value.organizationId} AND date <= ${value.to}
    AND (date, entity_type, entity_id) > (${value.date}, ${value.entityType}, ${value.entityId})
  ORDER BY date, entity_type, entity_id
  LIMIT ${sql.lit(RECORDS_PER_PAGE)}`;

const selectRecords = prepared((db: Db, value: Place) => ({
  compile: () => sql<BookedRow>`SELECT ${packedCost}, NULL AS entries FROM usage_costs ${after(value)}`.compile(db),
}));

// One statement for both tables: a day that is rated in between is then never half of the old and half of the new.
const selectBooked = prepared((db: Db, value: Place) => ({
  compile: () =>
    sql<BookedRow>`
    SELECT ${packedCost}, (
      SELECT string_agg(${packedEntry('l')}, ',')
      FROM usage_ledger AS l
      WHERE l.organization_id = c.organization_id AND l.date = c.date
        AND l.entity_type = c.entity_type AND l.entity_id = c.entity_id
    ) AS entries
    FROM usage_costs AS c ${after(value)}`.compile(db),
}));

/** All records of the window, a page at a time, by day and then in the order of the store's key. */
export async function* pagesOf(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  { withEntries }: { withEntries: boolean },
): AsyncGenerator<Booked[]> {
  const place: Place = { organizationId, to, date: from, entityType: '', entityId: '' };
  for (;;) {
    const rows = await (withEntries ? selectBooked : selectRecords).all(db, place);
    const page = rows.map((row) => ({ cost: unpackedCost(organizationId, row), entries: entriesOf(row) }));
    yield page;
    const last = page.at(-1)?.cost;
    if (!last || page.length < RECORDS_PER_PAGE) return;
    Object.assign(place, { date: last.date, entityType: last.entityType, entityId: last.entityId });
  }
}

const NONE: readonly Entry[] = [];

function entriesOf({ entries }: BookedRow): readonly Entry[] {
  if (entries === null) return NONE;
  return entries.split(',').map(unpackedEntry);
}
