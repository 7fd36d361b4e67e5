import { sql } from 'kysely';
import { prepared } from '../../state/prepared.ts';
import type { Db } from '../../state/tables.ts';
import { packedEntry, unpackedEntry } from '../packed-entry.ts';
import { type PackedCostRow, packedCost, unpackedCost } from '../store.ts';
import type { Window } from '../window.ts';
import type { RecordEntry, RecordWithEntries } from './charge.ts';

/** Keeps the lines of a page well under a megabyte. */
const RECORDS_PER_PAGE = 200;

interface ExportRow extends PackedCostRow {
  /** Packed entries separated by commas; null if there are none. */
  entries: string | null;
}

interface Position {
  organizationId: string;
  to: string;
  date: string;
  entityType: string;
  entityId: string;
}

const afterPosition = (value: Position) => sql`
  WHERE organization_id = ${value.organizationId} AND date <= ${value.to}
    AND (date, entity_type, entity_id) > (${value.date}, ${value.entityType}, ${value.entityId})
  ORDER BY date, entity_type, entity_id
  LIMIT ${sql.lit(RECORDS_PER_PAGE)}`;

const selectRecords = prepared((db: Db, value: Position) => ({
  compile: () =>
    sql<ExportRow>`SELECT ${packedCost}, NULL AS entries FROM usage_costs ${afterPosition(value)}`.compile(db),
}));

// One statement reads both tables, so that a day rated in between is never half old and half new.
const selectRecordsWithEntries = prepared((db: Db, value: Position) => ({
  compile: () =>
    sql<ExportRow>`
    SELECT ${packedCost}, (
      SELECT string_agg(${packedEntry('l')}, ',')
      FROM usage_ledger AS l
      WHERE l.organization_id = c.organization_id AND l.date = c.date
        AND l.entity_type = c.entity_type AND l.entity_id = c.entity_id
    ) AS entries
    FROM usage_costs AS c ${afterPosition(value)}`.compile(db),
}));

/** All records of the window, ordered by day, then by entity type and id. */
export async function* readPages(
  db: Db,
  organizationId: string,
  { from, to }: Window,
  { withEntries }: { withEntries: boolean },
): AsyncGenerator<RecordWithEntries[]> {
  const position: Position = { organizationId, to, date: from, entityType: '', entityId: '' };
  for (;;) {
    const rows = await (withEntries ? selectRecordsWithEntries : selectRecords).all(db, position);
    const page = rows.map((row) => ({ cost: unpackedCost(organizationId, row), entries: unpackEntries(row) }));
    yield page;
    const last = page.at(-1)?.cost;
    if (!last || page.length < RECORDS_PER_PAGE) return;
    Object.assign(position, { date: last.date, entityType: last.entityType, entityId: last.entityId });
  }
}

const NO_ENTRIES: readonly RecordEntry[] = [];

function unpackEntries({ entries }: ExportRow): readonly RecordEntry[] {
  if (entries === null) return NO_ENTRIES;
  return entries.split(',').map(unpackedEntry);
}
