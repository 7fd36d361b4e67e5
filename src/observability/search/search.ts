import type { Clock } from '../../kernel/time/clock.ts';
import { queryError } from '../charts/queries/draft.ts';
import { MAX_ROW_BYTES } from '../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../charts/queries/series-query.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import { formatCursor, type Position, parseCursor } from './cursor.ts';
import { formatNanos, toNanos } from './nanos.ts';
import { readPage } from './page.ts';
import { parseRowId, type RowId, toRowId } from './row-id.ts';
import { type FoundRow, planOrdered, planTied, ROWS_LIMITS } from './rows.ts';
import { DEFAULT_RESULTS, type SearchBody } from './schema.ts';
import { defaultSelect, parseRange, resolveEvents, toQuery } from './search-query.ts';
import { isNewestFirst, type SelectedColumn } from './select-list.ts';

const DEFAULT_WAIT_MS = 30_000;
/** A client of the public interface sends this as its first cursor. */
const START = 'start';

interface Options {
  clock: Clock;
  queries: TelemetryQueries;
}

interface SearchResult {
  data: Record<string, unknown>[];
  rows: number;
  nextCursor: string | null;
  searchedFrom: string;
  ids?: string[];
}

export type Search = ReturnType<typeof createSearch>;

/** Finds the rows of a source. */
export function createSearch({ clock, queries }: Options) {
  /** The whole range in one statement. */
  async function searchOrdered(
    client: QueryClient,
    query: SeriesQuery,
    select: string,
    { orderBy, offset = 0, maxResults = DEFAULT_RESULTS }: SearchBody,
  ) {
    const order = isNewestFirst(orderBy, query.table) ? `"${query.table.timeColumn}" DESC` : (orderBy ?? '');
    const plan = planOrdered(query, select, { orderBy: order, offset }, { rows: maxResults, bytes: MAX_ROW_BYTES });
    const { rows } = plan.collect(await queries.query(plan.statement, client, ROWS_LIMITS));
    return { columns: plan.columns, rows };
  }

  async function searchById(client: QueryClient, query: SeriesQuery, select: string, { nanos, hash }: RowId) {
    const tie = { hash, seen: 0 };
    const plan = planTied(query, select, { at: nanos, tie }, { rows: 1, bytes: MAX_ROW_BYTES });
    const { rows } = plan.collect(await queries.query(plan.statement, client, ROWS_LIMITS));
    return { columns: plan.columns, rows: rows.filter((row) => row.hash === hash) };
  }

  /** Newest first, from a cursor or the end of the range. */
  async function searchNewest(
    client: QueryClient,
    body: SearchBody,
    query: SeriesQuery,
    select: string,
    start: Position,
  ) {
    const { next, ...page } = await readPage({ queries, client, query, select }, start, {
      rows: body.maxResults ?? DEFAULT_RESULTS,
      waitMs: body.maxWaitMs ?? DEFAULT_WAIT_MS,
    });
    const found = { ...page, searchedFrom: next?.before ?? toNanos(start.range.startMs) };
    return toResult(body, found, next && formatCursor(next, nameQuery(body)));
  }

  return {
    async search(client: QueryClient, body: SearchBody): Promise<SearchResult> {
      const { organizationId } = client;
      const resolved = await resolveEvents(queries, organizationId, body.sourceId);
      const isOrdered = !isNewestFirst(body.orderBy, resolved.table);
      if (body.cursor !== undefined && (isOrdered || body.id !== undefined))
        throw queryError('cursor', 'A cursor needs the newest rows first, and cannot be combined with id');
      const start = chooseStart(clock.now(), body);
      const query = toQuery(organizationId, resolved, body, start.range);
      const select = chooseText(body.select) ?? (body.id === undefined ? defaultSelect(resolved) : '*');
      if (body.id !== undefined) {
        const id = parseRowId('id', body.id);
        return toResult(body, { ...(await searchById(client, query, select, id)), searchedFrom: id.nanos });
      }
      const hasOffset = body.cursor === undefined && (body.offset ?? 0) > 0;
      if (!isOrdered && !hasOffset) return searchNewest(client, body, query, select, start);
      const searchedFrom = toNanos(start.range.startMs);
      return toResult(body, { ...(await searchOrdered(client, query, select, body)), searchedFrom });
    },
  };
}

function chooseStart(now: number, body: SearchBody): Position {
  if (body.cursor !== undefined && body.cursor !== START) return parseCursor(body.cursor, nameQuery(body));
  const range = parseRange(now, body);
  return { range, before: toNanos(range.endMs) };
}

const chooseText = (given: string | undefined): string | undefined => (given?.trim() === '' ? undefined : given);

/** What a cursor depends on. The selected columns and the number of rows may change from page to page. */
const nameQuery = ({ sourceId, where = '', whereLanguage = 'lucene', filters = [], startTime, endTime }: SearchBody) =>
  JSON.stringify([sourceId, where, whereLanguage, filters.map(({ condition }) => condition), startTime, endTime]);

interface Found {
  columns: SelectedColumn[];
  rows: FoundRow[];
  searchedFrom: bigint;
}

function toResult({ withIds }: SearchBody, { columns, rows, searchedFrom }: Found, cursor?: string): SearchResult {
  return {
    data: toRecords(columns, rows),
    rows: rows.length,
    nextCursor: cursor ?? null,
    searchedFrom: formatNanos(searchedFrom),
    ...(withIds && { ids: rows.map(toRowId) }),
  };
}

export const toRecords = (columns: readonly SelectedColumn[], rows: readonly FoundRow[]): Record<string, unknown>[] =>
  rows.map(({ values }) => Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])));
