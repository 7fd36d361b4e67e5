import { LRUCache } from 'lru-cache';
import { toRowId } from '../row-id.ts';
import type { FoundRow } from '../rows.ts';
import { toRecords } from '../search.ts';
import type { SelectedColumn } from '../select-list.ts';
import type { FoundTimes, WatchedQuery } from './tail-statement.ts';

/** More than are found at once, so that no row is sent twice. */
const REMEMBERED = 2000;

/** What a watcher is told. */
export type TailEvent =
  /** New rows, oldest first. */
  | { type: 'rows'; data: Record<string, unknown>[]; ids: string[] }
  /** More rows arrived than are shown. */
  | { type: 'skipped'; count: number }
  | { type: 'notice'; message: string }
  /** The last event. */
  | { type: 'end'; reason: string };

export type SendEvent = (event: TailEvent) => void;

export type TailWatcher = ReturnType<typeof createTailWatcher>;

/** Remembers what one client was sent. */
export function createTailWatcher(
  watched: Omit<WatchedQuery, 'newest'>,
  columns: readonly SelectedColumn[],
  send: SendEvent,
) {
  /** How many rows of a time were found. */
  const times = new LRUCache<bigint, number>({ max: REMEMBERED });
  const rowHashes = new LRUCache<string, true>({ max: REMEMBERED });
  let newest = 0n;

  return {
    send,
    getQuery: (): WatchedQuery => ({ ...watched, newest }),

    /** The times that have rows which were not found before. */
    listNewTimes: (found: FoundTimes): bigint[] =>
      [...countTimes(found)].flatMap(([time, count]) => (count > (times.get(time) ?? 0) ? [time] : [])),

    /** Sends the rows that were not sent before. `isQuiet` only remembers them. */
    accept(found: FoundTimes, rows: readonly FoundRow[], { isQuiet }: { isQuiet: boolean }): void {
      for (const [time, count] of countTimes(found)) times.set(time, Math.max(count, times.get(time) ?? 0));
      const unseen = rows.filter((row) => !rowHashes.has(toRowId(row)));
      for (const row of unseen) rowHashes.set(toRowId(row), true);
      const shown = unseen.filter(({ nanos }) => nanos > newest).length;
      for (const { nanos } of unseen) if (nanos > newest) newest = nanos;
      if (isQuiet) return;
      if (found.arrived > shown) send({ type: 'skipped', count: found.arrived - shown });
      const sent = unseen.reverse();
      if (sent.length > 0) send({ type: 'rows', data: toRecords(columns, sent), ids: sent.map(toRowId) });
    },
  };
}

/** How many rows of each time were found. */
function countTimes({ times }: FoundTimes): Map<bigint, number> {
  const counts = new Map<bigint, number>();
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1);
  return counts;
}
