import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { MAX_ROW_BYTES } from '../charts/queries/search-rows.ts';
import type { SeriesQuery } from '../charts/queries/series-query.ts';
import type { Range } from '../charts/queries/time-buckets.ts';
import type { QueryClient } from '../charts/shared-queries.ts';
import type { TelemetryQueries } from '../charts/telemetry-queries.ts';
import type { Position, Tie } from './cursor.ts';
import { toMs, toNanos } from './nanos.ts';
import { type FoundRow, planStretch, planTied, ROWS_LIMITS, type RowLimits, type RowsPlan } from './rows.ts';
import type { SelectedColumn } from './select-list.ts';
import { canShrink, chooseFactor, chooseWindow, grow, shrink } from './windows.ts';

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
  const timeout = limitTime(waitMs);
  const page = createPage(start, maxRows);
  const run = async (plan: RowsPlan, signal: AbortSignal | undefined) => {
    page.setColumns(plan.columns);
    return plan.collect(await queries.query(plan.statement, { ...client, signal }, ROWS_LIMITS));
  };

  /** Rows of one time, after those that were returned. */
  async function readTied(at: bigint, tie: Tie): Promise<Position | undefined> {
    const { rows, found } = await run(planTied(query, select, { at, tie }, page.getLimits()), client.signal);
    const taken = page.take(rows);
    return found > taken ? page.continueInside(rows[taken]) : undefined;
  }

  async function readWindow(window: Range, before: bigint, signal: AbortSignal | undefined) {
    const limits = page.getLimits();
    const stretch = { window, from: before, direction: 'newest first' as const };
    const { rows, found, oldest } = await run(planStretch(query, select, stretch, limits), signal);
    // The last time may have more rows than were read, in any order.
    const isCut = found === limits.rows;
    const certain = isCut ? rows.filter(({ nanos }) => nanos > oldest) : rows;
    page.take(certain);
    // The size limit ended the rows among those whose order is certain.
    if (rows.length < found && rows.length === certain.length) return page.continueInside(undefined);
    if (!isCut) return undefined;
    if (page.isFull()) return { range, before: page.getLast().nanos };
    return (await readTied(oldest, NO_TIE)) ?? { range, before: oldest };
  }

  let position: Position = start;
  let factor = 1;
  if (start.tie) {
    const next = await readTied(start.before, start.tie);
    if (next) return page.end(next);
    position = { range, before: start.before, maxWindowMs: start.maxWindowMs };
  }
  while (position.before > toNanos(range.startMs)) {
    if (page.isFull() || (timeout.aborted && position !== start)) return page.end(position);
    const { before, maxWindowMs }: Position = position;
    const window = chooseWindow(range, toMs(before + 999_999n), { maxLengthMs: maxWindowMs, factor });
    const startedAt = performance.now();
    const canStop = canShrink(window);
    try {
      const next = await readWindow(window, before, canStop ? combine(client.signal, timeout) : client.signal);
      if (next) return page.end(next);
    } catch (error) {
      if (!canStop || !timeout.aborted || client.signal?.aborted) throw error;
      return page.end({ range, before, maxWindowMs: shrink(window) });
    }
    position = { range, before: toNanos(window.startMs), maxWindowMs: grow(range, maxWindowMs) };
    factor = chooseFactor(factor, performance.now() - startedAt);
  }
  return page.end(undefined);
}

/** Before the first row of a time. */
const NO_TIE: Tie = { hash: '', seen: 0 };

/** The rows of a page while it is read. */
function createPage(start: Position, maxRows: number) {
  const rows: FoundRow[] = [];
  let bytes = 0;
  let columns: SelectedColumn[] = [];

  const getLast = (): FoundRow => rows.at(-1) as FoundRow;

  return {
    setColumns(selected: SelectedColumn[]) {
      columns = selected;
    },
    isFull: () => rows.length >= maxRows || bytes >= MAX_ROW_BYTES,
    getLast,
    // One more row than is returned shows whether there are more.
    getLimits: (): RowLimits => ({ rows: maxRows - rows.length + 1, bytes: Math.max(1, MAX_ROW_BYTES - bytes) }),

    /** Adds as many as fit, and returns their number. */
    take(found: readonly FoundRow[]): number {
      const taken = found.slice(0, maxRows - rows.length);
      rows.push(...taken);
      bytes += measure(taken);
      return taken.length;
    },

    /** After the last row. `following` is the row behind it, if it is known. */
    continueInside(following: FoundRow | undefined): Position {
      if (rows.length === 0) return start;
      const last = getLast();
      const position = { range: start.range, before: last.nanos };
      if (following && following.nanos < last.nanos) return position;
      return { ...position, tie: { hash: last.hash, seen: countSeen(start, rows, last) } };
    },

    end: (next: Position | undefined): Page => ({ columns, rows, next }),
  };
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
