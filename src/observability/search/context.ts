import { MAX_TIME_MS, MIN_TIME_MS } from '../charts/limits.ts';
import { queryError } from '../charts/queries/draft.ts';
import { MAX_ROW_BYTES } from '../charts/queries/search-rows.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import type { Source } from '../sources/source.ts';
import { CONTEXT_SCOPES, formatEquality } from './context-scopes.ts';
import { parseNanos, toMs } from './nanos.ts';
import { toRowId } from './row-id.ts';
import { type FoundRow, planStretch, ROWS_LIMITS } from './rows.ts';
import type { ContextBody } from './schema.ts';
import { toRecords } from './search.ts';
import { defaultSelect, resolveEvents, toQuery } from './search-query.ts';

const DEFAULT_RANGE_MS = 30_000;
const DEFAULT_ROWS = 50;

/** The rows before and after a time, newest first. The rows of this very time count as before. */
export function createSearchContext({ queries }: { queries: TelemetryQueries }) {
  return async (client: QueryClient, body: ContextBody) => {
    const { rangeMs = DEFAULT_RANGE_MS, maxBefore = DEFAULT_ROWS, maxAfter = DEFAULT_ROWS } = body;
    const resolved = await resolveEvents(queries, client.organizationId, body.sourceId);
    const time = parseNanos('time', body.time);
    const atMs = toMs(time);
    const range = { startMs: Math.max(MIN_TIME_MS, atMs - rangeMs), endMs: Math.min(MAX_TIME_MS, atMs + rangeMs) + 1 };
    const query = toQuery(client.organizationId, resolved, withScope(body, resolved.source), range);
    const select = body.select?.trim() ? body.select : defaultSelect(resolved);
    const bytes = MAX_ROW_BYTES / 2;
    // One more than is returned, and the row itself.
    const older = planStretch(
      query,
      select,
      { window: range, from: time + 1n, direction: 'newest first' },
      { rows: maxBefore + 2, bytes },
    );
    const newer = planStretch(
      query,
      select,
      { window: range, from: time, direction: 'oldest first' },
      { rows: maxAfter + 1, bytes },
    );
    const [before, after] = (await Promise.all(
      [older, newer].map(async (plan) => plan.collect(await queries.query(plan.statement, client, ROWS_LIMITS))),
    )) as [ReturnType<typeof older.collect>, ReturnType<typeof newer.collect>];
    const newerRows = after.rows.slice(0, maxAfter).reverse();
    const olderRows = before.rows.slice(0, maxBefore + 1);
    const rows: FoundRow[] = [...newerRows, ...olderRows];
    return {
      data: toRecords(older.columns, rows),
      rows: rows.length,
      index: rows.findIndex(({ nanos }) => nanos === time),
      ids: rows.map(toRowId),
      hasMoreBefore: before.found > olderRows.length,
      hasMoreAfter: after.found > newerRows.length,
    };
  };
}

/** The request with the condition of its scope. */
function withScope(body: ContextBody, source: Source): ContextBody {
  const { scope = 'all', value, filters = [] } = body;
  const expression = CONTEXT_SCOPES[scope](source);
  if (expression === undefined) return body;
  if (value === undefined) throw queryError('value', `The scope ${scope} needs the ${scope} of the row`);
  return { ...body, filters: [...filters, { type: 'sql', condition: formatEquality(expression, value) }] };
}
