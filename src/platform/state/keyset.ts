import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { ServiceSet } from '../../kernel/access/service-set.ts';
import { type Page, type PageRequest, type Sort, toSortName } from '../../kernel/page.ts';
import { isPostgres } from './locking.ts';
import type { ApiKeyRow, Db, ServiceRow, ServiceTagRow } from './tables.ts';
import { isIn } from './value-lists.ts';

/** The tables with an organization, a creation time and a name. */
type ListedTable = 'services' | 'service_tags' | 'api_keys';

export interface ListQuery extends PageRequest {
  sort: Sort;
  /** Part of a name or id, in any case. */
  search?: string | undefined;
  /** Only these ids. */
  ids?: ReadonlySet<string> | undefined;
  /** The services that the caller may see. */
  permitted?: ServiceSet | undefined;
  /** Of `service_tags`; a service must have all. */
  tags?: ReadonlySet<string> | undefined;
}

/** With the selected columns only. */
type Row = ApiKeyRow & ServiceRow & ServiceTagRow;

interface RowPosition {
  value: string | number;
  id: string;
}

/**
 * The rows that one statement of a search examines on libSQL, which blocks other requests meanwhile. PostgreSQL does not:
 * there, one statement searches the whole list.
 */
const ROWS_PER_WINDOW = 5000;

/** Tags with more services than this count as equally frequent, so that comparing them costs no more than a page. */
const MAX_COUNTED_SERVICES = 1000;

interface Listing<T> {
  table: ListedTable;
  columns: readonly (keyof Row)[];
  toItem(row: Row): T;
}

/**
 * Lists records by keyset: a page starts after the last record of the page before, so inserts and deletes elsewhere
 * neither skip nor repeat a record. A page costs the same in a list of any length, also of services with a tag. A search
 * reads the list, and several tags read the services with the rarest of them, until the page is full.
 */
export async function listPage<T>(
  db: Db,
  listing: Listing<T>,
  organizationId: string,
  query: ListQuery,
): Promise<Page<T>> {
  const { limit, tags } = query;
  const leadingTag = hasIds(query) ? undefined : await findRarestTag(db, organizationId, tags);
  const statements = createStatements(db, listing, organizationId, query, leadingTag);
  const isSearch = query.search !== undefined || (tags !== undefined && tags.size > 1);
  const isWindowed = isSearch && !isPostgres(db) && !hasIds(query);
  const found: Row[] = [];
  for await (const rows of readRows(statements, query, isWindowed, () => limit + 1 - found.length)) found.push(...rows);
  const last = found.length > limit ? found[limit - 1] : undefined;
  const position = last && statements.toPosition(last);
  return { items: found.slice(0, limit).map(listing.toItem), next: position && [position.value, position.id] };
}

/** The number of records that match a search. Reads the whole list: for lists that a quota bounds. */
export async function countRecords(db: Db, table: 'api_keys', organizationId: string, search: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM ${sql.table(table)} AS place
    WHERE place.organization_id = ${organizationId} ${isFound(search)}`.execute(db);
  return Number(rows[0]?.count);
}

/** The list is read along the index of one tag: of the one that the fewest services have. */
async function findRarestTag(db: Db, organizationId: string, tags: Iterable<string> = []): Promise<string | undefined> {
  const [first, ...others] = tags;
  if (others.length === 0) return first;
  let rarest = { tag: first, count: Number.POSITIVE_INFINITY };
  for (const tag of tags) {
    const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM (SELECT id FROM service_tags
      WHERE organization_id = ${organizationId} AND tag = ${tag} LIMIT ${MAX_COUNTED_SERVICES}) AS counted`.execute(db);
    const count = Number(rows[0]?.count);
    if (count < rarest.count) rarest = { tag, count };
  }
  return rarest.tag;
}

/** Ends when no rows are missing. */
async function* readRows(
  statements: ReturnType<typeof createStatements>,
  { after: [value, id] = [] }: ListQuery,
  isWindowed: boolean,
  countMissing: () => number,
): AsyncGenerator<Row[]> {
  let after: RowPosition | undefined = value === undefined ? undefined : { value, id: String(id) };
  for (;;) {
    const end = isWindowed ? await statements.findWindowEnd(after) : undefined;
    for (let isFull = true; isFull; ) {
      const count = countMissing();
      if (count <= 0) return;
      const rows = await statements.listRows(after, end, count);
      yield rows;
      const last = rows.at(-1);
      if (last) after = statements.toPosition(last);
      isFull = rows.length === count;
    }
    if (!end) return;
    after = end;
    // Let other requests run.
    await setImmediate();
  }
}

/** Whether the list consists of known ids, which are looked up. */
const hasIds = ({ ids, permitted }: ListQuery): boolean =>
  ids !== undefined || (permitted !== undefined && !permitted.isComplement);

function createStatements<T>(
  db: Db,
  { table, columns }: Listing<T>,
  organizationId: string,
  query: ListQuery,
  leadingTag: string | undefined,
) {
  const { column, order, isAfter, isThrough } = toOrder(query.sort);
  const filter = createFilter(db, organizationId, query, leadingTag);
  // An expression keeps libSQL from scanning the index of the organization instead of looking up the ids.
  const isOwn = hasIds(query)
    ? sql`place.organization_id || '' = ${organizationId}`
    : sql`place.organization_id = ${organizationId}`;
  const hasTag = leadingTag === undefined ? sql`` : sql`AND place.tag = ${leadingTag}`;
  const places = leadingTag === undefined ? table : 'service_tags';
  // libSQL reads the tables of a CROSS JOIN in this order.
  const records = places === table ? sql`` : sql`CROSS JOIN ${sql.table(table)} AS record`;
  const isRecord = places === table ? sql`` : sql`AND record.id = place.id`;
  const source = places === table ? 'place' : 'record';
  const selected = sql.join([...new Set(['id', column, ...columns])].map((name) => sql.ref(`${source}.${name}`)));
  const compare = (position: RowPosition | undefined, operator: RawBuilder<unknown>) =>
    position
      ? sql`AND (${sql.ref(`place.${column}`)}, place.id) ${operator} (${position.value}, ${position.id})`
      : sql``;

  return {
    toPosition: (row: Row): RowPosition => ({ value: row[column], id: row.id }),

    async listRows(after: RowPosition | undefined, end: RowPosition | undefined, count: number): Promise<Row[]> {
      const { rows } = await sql<Row>`SELECT ${selected} FROM ${sql.table(places)} AS place ${records}
        WHERE ${isOwn} ${hasTag} ${isRecord} ${compare(after, isAfter)} ${compare(end, isThrough)} ${filter}
        ORDER BY ${order} LIMIT ${count}`.execute(db);
      return rows;
    },

    /** Undefined if the rest of the list fits into one window. */
    async findWindowEnd(after: RowPosition | undefined): Promise<RowPosition | undefined> {
      const { rows } = await sql<Row>`SELECT ${sql.ref(column)}, id FROM ${sql.table(places)} AS place
        WHERE ${isOwn} ${hasTag} ${compare(after, isAfter)}
        ORDER BY ${order} LIMIT 1 OFFSET ${ROWS_PER_WINDOW - 1}`.execute(db);
      return rows[0] && { value: rows[0][column], id: rows[0].id };
    },
  };
}

function toOrder(sort: Sort) {
  const isDescending = sort.startsWith('-');
  const column: 'sort_name' | 'created_at' = sort.endsWith('name') ? 'sort_name' : 'created_at';
  const direction = sql.raw(isDescending ? 'DESC' : 'ASC');
  return {
    column,
    order: sql`${sql.ref(`place.${column}`)} ${direction}, place.id ${direction}`,
    isAfter: sql.raw(isDescending ? '<' : '>'),
    isThrough: sql.raw(isDescending ? '>=' : '<='),
  };
}

function createFilter(
  db: Db,
  organizationId: string,
  { search, ids, permitted, tags }: ListQuery,
  leadingTag: string | undefined,
): RawBuilder<unknown> {
  const parts: RawBuilder<unknown>[] = [];
  if (search !== undefined) parts.push(isFound(search));
  if (ids) parts.push(sql`AND ${isIn(db, 'place.id', ids)}`);
  if (permitted)
    parts.push(sql`AND ${permitted.isComplement ? sql`NOT` : sql``} ${isIn(db, 'place.id', permitted.ids)}`);
  if (tags && !(tags.size === 1 && leadingTag !== undefined))
    parts.push(sql`AND (SELECT COUNT(*) FROM service_tags AS own WHERE own.organization_id = ${organizationId}
      AND own.id = place.id AND ${isIn(db, 'own.tag', tags)}) = ${tags.size}`);
  return parts.length > 0 ? sql.join(parts, sql` `) : sql``;
}

function isFound(search: string): RawBuilder<unknown> {
  const pattern = toPattern(toSortName(search));
  return sql`AND (place.sort_name LIKE ${pattern} ESCAPE '!' OR place.id LIKE ${pattern} ESCAPE '!')`;
}

/** A pattern for rows that contain the text. */
const toPattern = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
