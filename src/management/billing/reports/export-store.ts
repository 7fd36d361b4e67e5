import { sql } from 'kysely';
import { packColumns } from '../../../platform/state/packed.ts';
import { prepared } from '../../../platform/state/prepared.ts';
import type { Db } from '../../../platform/state/tables.ts';
import type { MeterName } from '../meter.ts';
import { type PackedCostRow, packedCostColumns, parsePackedCost } from '../store.ts';
import type { Window } from '../window.ts';
import type { RecordEntry, RecordWithEntries } from './charge.ts';

/** Keeps the lines of a page well under a megabyte. */
const RECORDS_PER_PAGE = 200;

interface ExportRow extends PackedCostRow {
  /** The packed ledger entries of the record, separated by commas; null without entries. */
  entries: string | null;
}

/** All entries of a record in one column. A join, which repeats the record for each entry, is 20 to 50 % slower. */
const packedEntry = packColumns([
  'l.meter',
  'l.usage_date',
  'l.quantity',
  'l.price_version',
  'l.unit_price',
  'l.micros',
]);

/** The key of the last record of the previous page. */
interface Cursor {
  organizationId: string;
  to: string;
  date: string;
  entityType: string;
  entityId: string;
}

const afterCursor = (value: Cursor) => sql`
  WHERE organization_id = ${value.organizationId} AND date <= ${value.to}
    AND (date, entity_type, entity_id) > (${value.date}, ${value.entityType}, ${value.entityId})
  ORDER BY date, entity_type, entity_id
  LIMIT ${sql.lit(RECORDS_PER_PAGE)}`;

const selectRecords = prepared((db: Db, value: Cursor) => ({
  compile: () =>
    sql<ExportRow>`SELECT ${packedCostColumns}, NULL AS entries FROM usage_costs ${afterCursor(value)}`.compile(db),
}));

// One statement for both tables, so that a record and its entries come from the same commit.
const selectRecordsWithEntries = prepared((db: Db, value: Cursor) => ({
  compile: () =>
    sql<ExportRow>`
    SELECT ${packedCostColumns}, (
      SELECT string_agg(${packedEntry}, ',')
      FROM usage_ledger AS l
      WHERE l.organization_id = c.organization_id AND l.date = c.date
        AND l.entity_type = c.entity_type AND l.entity_id = c.entity_id
    ) AS entries
    FROM usage_costs AS c ${afterCursor(value)}`.compile(db),
}));

/** All records of the window in pages, ordered by day, entity type and entity id. */
export async function* readPages(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  { withEntries }: { withEntries: boolean },
): AsyncGenerator<RecordWithEntries[]> {
  const cursor: Cursor = { organizationId, to, date: from, entityType: '', entityId: '' };
  for (;;) {
    const rows = await (withEntries ? selectRecordsWithEntries : selectRecords).all(db, cursor);
    const page = rows.map((row) => ({ cost: parsePackedCost(organizationId, row), entries: parseEntries(row) }));
    yield page;
    const last = page.at(-1)?.cost;
    if (!last || page.length < RECORDS_PER_PAGE) return;
    Object.assign(cursor, { date: last.date, entityType: last.entityType, entityId: last.entityId });
  }
}

const NO_ENTRIES: readonly RecordEntry[] = [];

function parseEntries({ entries }: ExportRow): readonly RecordEntry[] {
  if (entries === null) return NO_ENTRIES;
  return entries.split(',').map(parseEntry);
}

function parseEntry(packed: string): RecordEntry {
  const [meter, usageDate = '', quantity = '', priceVersion, unitPrice = '', micros] = packed.split(' ');
  return {
    meter: meter as MeterName,
    usageDate,
    quantity,
    priceVersion: Number(priceVersion),
    unitPrice,
    micros: Number(micros),
  };
}
