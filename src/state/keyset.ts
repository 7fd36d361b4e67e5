import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { type Page, type PageRequest, type Sort, toSortName } from '../kernel/page.ts';
import type { ServiceSet } from '../kernel/service-set.ts';
import { isPostgres } from './locking.ts';
import type { ApiKeyRow, Db, ServiceRow } from './tables.ts';
import { isIn } from './value-lists.ts';

/** The tables with an organization, a creation time and a name. */
type ListedTable = 'services' | 'api_keys';

export interface ListQuery extends PageRequest {
  sort: Sort;
  /** Part of a name or id, in any case. */
  search?: string | undefined;
  /** Only these ids. */
  ids?: ReadonlySet<string> | undefined;
  /** The services that the caller may see. */
  permitted?: ServiceSet | undefined;
}

/** A condition that the stores cannot check: each of `texts` occurs in every matching document. */
export interface DocumentCondition<T> {
  texts: readonly string[];
  matches(item: T): boolean;
}

/** With the selected columns only. */
type Row = ApiKeyRow & ServiceRow;

interface RowPosition {
  value: string | number;
  id: string;
}

/**
 * The rows that one statement of a search examines on libSQL, which blocks other requests meanwhile. PostgreSQL does not:
 * there, one statement searches the whole list.
 */
const ROWS_PER_WINDOW = 5000;

interface Listing<T> {
  table: ListedTable;
  columns: readonly (keyof Row)[];
  toItem(row: Row): T;
}

/**
 * Lists records by keyset: a page starts after the last record of the page before, so inserts and deletes elsewhere
 * neither skip nor repeat a record. Without a search or condition, a page costs the same in a list of any length.
 */
export async function listPage<T>(
  db: Db,
  listing: Listing<T>,
  organizationId: string,
  query: ListQuery,
  condition?: DocumentCondition<T>,
): Promise<Page<T>> {
  const { limit } = query;
  const statements = createStatements(db, listing, organizationId, query, condition);
  const isWindowed = !isPostgres(db) && !hasIds(query) && (query.search !== undefined || condition !== undefined);
  const found: { position: RowPosition; item: T }[] = [];
  for await (const rows of readRows(statements, query, isWindowed, () => limit + 1 - found.length)) {
    const items = rows.map((row) => ({ position: statements.toPosition(row), item: listing.toItem(row) }));
    found.push(...(condition ? items.filter(({ item }) => condition.matches(item)) : items));
  }
  const last = found.length > limit ? found[limit - 1]?.position : undefined;
  return { items: found.slice(0, limit).map(({ item }) => item), next: last && [last.value, last.id] };
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
  condition: DocumentCondition<T> | undefined,
) {
  const { column, order, isAfter, isThrough } = toOrder(query.sort);
  const filter = createFilter(db, query, condition?.texts);
  // An expression keeps libSQL from scanning the index of the organization instead of looking up the ids.
  const isOwn = hasIds(query)
    ? sql`organization_id || '' = ${organizationId}`
    : sql`organization_id = ${organizationId}`;
  const selected = sql.join([...new Set(['id', column, ...columns])].map((name) => sql.ref(name)));
  const compare = (position: RowPosition | undefined, operator: RawBuilder<unknown>) =>
    position ? sql`AND (${sql.ref(column)}, id) ${operator} (${position.value}, ${position.id})` : sql``;

  return {
    toPosition: (row: Row): RowPosition => ({ value: row[column], id: row.id }),

    async listRows(after: RowPosition | undefined, end: RowPosition | undefined, count: number): Promise<Row[]> {
      const { rows } = await sql<Row>`SELECT ${selected} FROM ${sql.table(table)}
        WHERE ${isOwn} ${compare(after, isAfter)} ${compare(end, isThrough)} ${filter}
        ORDER BY ${order} LIMIT ${count}`.execute(db);
      return rows;
    },

    /** Undefined if the rest of the list fits into one window. */
    async findWindowEnd(after: RowPosition | undefined): Promise<RowPosition | undefined> {
      const { rows } = await sql<Row>`SELECT ${sql.ref(column)}, id FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} ${compare(after, isAfter)}
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
    order: sql`${sql.ref(column)} ${direction}, id ${direction}`,
    isAfter: sql.raw(isDescending ? '<' : '>'),
    isThrough: sql.raw(isDescending ? '>=' : '<='),
  };
}

function createFilter(
  db: Db,
  { search, ids, permitted }: ListQuery,
  texts: readonly string[] = [],
): RawBuilder<unknown> {
  const parts: RawBuilder<unknown>[] = [];
  if (search !== undefined) {
    const pattern = toPattern(toSortName(search));
    parts.push(sql`AND (sort_name LIKE ${pattern} ESCAPE '!' OR id LIKE ${pattern} ESCAPE '!')`);
  }
  for (const text of texts) parts.push(sql`AND document LIKE ${toPattern(text)} ESCAPE '!'`);
  if (ids) parts.push(sql`AND ${isIn(db, 'id', ids)}`);
  if (permitted) parts.push(sql`AND ${permitted.isComplement ? sql`NOT` : sql``} ${isIn(db, 'id', permitted.ids)}`);
  return parts.length > 0 ? sql.join(parts, sql` `) : sql``;
}

/** A pattern for rows that contain the text. */
const toPattern = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
