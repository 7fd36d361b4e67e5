import { MAX_ROW_BYTES } from '../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../charts/queries/series-query.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import type { Position, Tie } from './cursor.ts';
import { toMs, toNanos } from './nanos.ts';
import { type FoundRow, planNewest, planTied, type RowLimits } from './rows.ts';
import type { SelectedColumn } from './select-list.ts';
import { canShrink, chooseWindow, shrink } from './windows.ts';

interface Searched {
  queries: TelemetryQueries;
  client: QueryClient;
  query: SeriesQuery;
  select: string;
}

interface Page {
  columns: SelectedColumn[];
  rows: FoundRow[];
  /** Undefined if the whole range was searched. */
  next: Position | undefined;
}

/**
 * Reads the next rows, newest first, window by window, until there are enough of them. The order is total: by time, then by
 * the hash of the row, so that a page continues exactly where the one before ended, also among rows of one time.
 */
export async function readPage(
  { queries, client, query, select }: Searched,
  start: Position,
  { rows: maxRows, waitMs }: { rows: number; waitMs: number },
): Promise<Page> {
  const { range } = start;
  const timeout = AbortSignal.timeout(waitMs);
  const rows: FoundRow[] = [];
  let bytes = 0;
  let columns: SelectedColumn[] = [];
  let position: Position | undefined = start;

  /** The position after the rows of a plan; undefined if there are no further rows for it. */
  async function read(plan: ReturnType<typeof planNewest>, signal: AbortSignal | undefined) {
    columns = plan.columns;
    const result = plan.collect(await queries.query(plan.statement, { ...client, signal }));
    const taken = result.rows.slice(0, maxRows - rows.length);
    rows.push(...taken);
    bytes += measure(taken);
    return result.found > taken.length ? continueAfter(start, rows, result.rows[taken.length]) : undefined;
  }

  // One more row than is returned shows whether the last one has others of its time behind it.
  const limits = (): RowLimits => ({
    rows: maxRows - rows.length + 1,
    bytes: Math.max(1, MAX_ROW_BYTES - bytes),
  });
  const isFull = () => rows.length >= maxRows || bytes >= MAX_ROW_BYTES;

  if (position.tie) {
    const next = await read(
      planTied(query, select, { at: position.before, tie: position.tie }, limits()),
      client.signal,
    );
    if (next) return { columns, rows, next };
    position = { range, before: position.before, maxWindowMs: position.maxWindowMs };
  }
  while (position.before > toNanos(range.startMs)) {
    if (isFull() || (timeout.aborted && position !== start)) return { columns, rows, next: position };
    const { before, maxWindowMs }: Position = position;
    const window = chooseWindow(range, toMs(before + 999_999n), maxWindowMs);
    const plan = planNewest(query, select, { window, before }, limits());
    const canStop = canShrink(window);
    try {
      const next = await read(plan, canStop ? combine(client.signal, timeout) : client.signal);
      if (next) return { columns, rows, next };
    } catch (error) {
      if (!canStop || !timeout.aborted || client.signal?.aborted) throw error;
      return { columns, rows, next: { range, before, maxWindowMs: shrink(window) } };
    }
    position = { range, before: toNanos(window.startMs) };
  }
  return { columns, rows, next: undefined };
}

/** After the last row. `following` is the row behind it, if it is known. */
function continueAfter(start: Position, rows: readonly FoundRow[], following: FoundRow | undefined): Position {
  const last = rows.at(-1);
  if (!last) return start;
  const position = { range: start.range, before: last.nanos };
  if (following && following.nanos < last.nanos) return position;
  return { ...position, tie: { hash: last.hash, seen: countSeen(start, rows, last) } };
}

/** Rows that are equal to the last one, those of earlier pages included. */
function countSeen({ before, tie }: Position, rows: readonly FoundRow[], { nanos, hash }: FoundRow): number {
  const first = rows.findLastIndex((row) => row.nanos !== nanos || row.hash !== hash) + 1;
  const earlier: Tie | undefined = first === 0 && before === nanos && tie?.hash === hash ? tie : undefined;
  return rows.length - first + (earlier?.seen ?? 0);
}

const combine = (signal: AbortSignal | undefined, timeout: AbortSignal): AbortSignal =>
  signal ? AbortSignal.any([signal, timeout]) : timeout;

const measure = (rows: readonly FoundRow[]): number =>
  rows.reduce((sum, { values }) => sum + JSON.stringify(values).length, 0);
