import { toRowId } from '../row-id.ts';
import type { FoundRow } from '../rows.ts';
import { toRecords } from '../search.ts';
import type { SelectedColumn } from '../select-list.ts';
import type { WatchedQuery } from './tail-rows.ts';

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

/** One client and its query. */
export const createTailWatcher = (watched: WatchedQuery, columns: readonly SelectedColumn[], send: SendEvent) => ({
  watched,
  send,
  /** Sends new rows, which are given newest first, and the number of others that are not shown. */
  deliver(rows: readonly FoundRow[], skipped: number): void {
    if (skipped > 0) send({ type: 'skipped', count: skipped });
    const sent = rows.toReversed();
    if (sent.length > 0) send({ type: 'rows', data: toRecords(columns, sent), ids: sent.map(toRowId) });
  },
});
