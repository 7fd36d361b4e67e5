import { LRUCache } from 'lru-cache';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Statement } from '../../../platform/engine/engine.ts';
import { createDraft } from '../../charts/queries/draft.ts';
import type { Range } from '../../charts/queries/time-buckets.ts';
import { createWriter } from '../../expressions/writer.ts';
import { toMs } from '../nanos.ts';
import { toRowId } from '../row-id.ts';
import { type FoundRow, writeNanos } from '../rows.ts';
import type { RunStatement } from './arrival-order.ts';
import { checkInGroups, describeFailure, type TailReader } from './tail-reader.ts';
import { MAX_TAILED_ROWS, planTailRows, type WatchedQuery, writeMatch } from './tail-rows.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** Senders collect rows for some seconds. */
const RECENT_MS = 20 * SECOND_MS;
/** Rows that are older when they arrive are found by a longer check, which takes its share of the time only. */
const LATE_MS = 5 * MINUTE_MS;
const LATE_PAUSE_FACTOR = 15;
const MAX_LATE_PAUSE_MS = 10 * SECOND_MS;
/** The clocks of senders differ. */
const FUTURE_MS = 5 * MINUTE_MS;
/** Per watcher. More than are found at once, so that no row is sent twice. */
const REMEMBERED = 2000;

/**
 * Sends the newest rows of a table whose order of arrival is not known. A row that arrives while there are many newer ones
 * may not be found, and is not counted then. Of equal rows, one is sent.
 */
export function createTimeReader(run: RunStatement, clock: Clock): TailReader {
  const memories = new WeakMap<TailWatcher, Memory>();
  let lateCheckAt = 0;

  function remember(watcher: TailWatcher): Memory {
    const memory = memories.get(watcher) ?? createMemory();
    memories.set(watcher, memory);
    return memory;
  }

  /** `isQuiet` only remembers the rows. */
  async function checkGroup(
    group: readonly TailWatcher[],
    backMs: number,
    { isQuiet = false, signal }: { isQuiet?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const now = clock.now();
    const members = group.map((watcher) => ({ watcher, memory: remember(watcher) }));
    const timesPlan = planTimes(
      members.map(({ watcher, memory }) => ({ ...watcher.watched, newest: memory.getNewest() })),
      { startMs: now - backMs, endMs: now + FUTURE_MS },
    );
    const found = timesPlan.collect(await run(timesPlan.statement, signal));
    const times = [...new Set(members.flatMap(({ memory }, index) => memory.listNewTimes(found[index] ?? NOTHING)))];
    if (times.length === 0) return;
    const sorted = times.sort((a, b) => (a < b ? -1 : 1));
    const range = { startMs: toMs(sorted[0] ?? 0n), endMs: toMs(sorted.at(-1) ?? 0n) + 1 };
    const rowsPlan = planTailRows(
      members.map(({ watcher }) => ({
        ...watcher.watched,
        isWanted: (writer, nanos) =>
          `${nanos} IN (SELECT arrayJoin(arrayMap(t -> toInt64(t), ${writer.bind(sorted.map(String), 'Array(String)')})))`,
      })),
      (draft) => draft.rows(range),
    );
    const rows = rowsPlan.collect(await run(rowsPlan.statement, signal));
    for (const [index, { watcher, memory }] of members.entries()) {
      const { unseen, skipped } = memory.accept(found[index] ?? NOTHING, rows[index] ?? []);
      if (!isQuiet) watcher.deliver(unseen, skipped);
    }
  }

  return {
    add: (watcher, signal) => checkGroup([watcher], LATE_MS, { isQuiet: true, signal }),

    async check(watchers) {
      const startedAt = clock.monotonicMs();
      const isLate = startedAt >= lateCheckAt;
      await checkInGroups(
        watchers,
        (group) => checkGroup(group, isLate ? LATE_MS : RECENT_MS),
        ({ send }, error) => send({ type: 'notice', message: describeFailure(error) }),
      );
      const endedAt = clock.monotonicMs();
      if (isLate) lateCheckAt = endedAt + Math.min(MAX_LATE_PAUSE_MS, LATE_PAUSE_FACTOR * (endedAt - startedAt));
    },
  };
}

interface FoundTimes {
  /** The times of the newest matching rows, newest first. */
  times: bigint[];
  /** Matching rows that are newer than those that were found before. */
  arrived: number;
}

const NOTHING: FoundTimes = { times: [], arrived: 0 };

/** For each query, the times of its newest rows. One scan for all of them, over the columns of their conditions. */
function planTimes(
  watched: readonly (WatchedQuery & { newest: bigint })[],
  range: Range,
): { statement: Statement; collect(rows: unknown[][]): FoundTimes[] } {
  const writer = createWriter();
  const drafts = watched.map(({ query }) => createDraft(query, writer));
  const found = drafts.flatMap((draft, index) => {
    const newest = writer.bind(String(watched[index]?.newest ?? 0n), 'Int64');
    const matches = writeMatch(draft);
    return [`groupArraySortedIf(${MAX_TAILED_ROWS})(-__at, ${matches})`, `countIf(${matches} AND __at > ${newest})`];
  });
  const [first] = drafts;
  const rows = first ? `SELECT *, ${writeNanos(first.time)} AS __at FROM (${first.rows(range)})` : '';
  return {
    statement: { sql: `SELECT ${found.join(', ')} FROM (${rows})`, parameters: writer.parameters },
    collect: ([row = []]) =>
      watched.map((_, index) => ({
        times: ((row[2 * index] ?? []) as (string | number)[]).map((nanos) => -BigInt(nanos)),
        arrived: Number(row[2 * index + 1] ?? 0),
      })),
  };
}

type Memory = ReturnType<typeof createMemory>;

/** What a watcher was sent. */
function createMemory() {
  /** How many rows of a time were found. */
  const times = new LRUCache<bigint, number>({ max: REMEMBERED });
  const rowHashes = new LRUCache<string, true>({ max: REMEMBERED });
  let newest = 0n;

  return {
    /** Epoch nanoseconds of the newest row that was found. */
    getNewest: (): bigint => newest,

    /** The times that have rows which were not found before. */
    listNewTimes: (found: FoundTimes): bigint[] =>
      [...countTimes(found)].flatMap(([time, count]) => (count > (times.get(time) ?? 0) ? [time] : [])),

    /** The rows that were not found before, and how many newer ones are not among them. */
    accept(found: FoundTimes, rows: readonly FoundRow[]): { unseen: FoundRow[]; skipped: number } {
      for (const [time, count] of countTimes(found)) times.set(time, Math.max(count, times.get(time) ?? 0));
      const unseen = rows.filter((row) => !rowHashes.has(toRowId(row)));
      for (const row of unseen) rowHashes.set(toRowId(row), true);
      const shown = unseen.filter(({ nanos }) => nanos > newest).length;
      for (const { nanos } of unseen) if (nanos > newest) newest = nanos;
      return { unseen, skipped: Math.max(0, found.arrived - shown) };
    },
  };
}

/** How many rows of each time were found. */
function countTimes({ times }: FoundTimes): Map<bigint, number> {
  const counts = new Map<bigint, number>();
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1);
  return counts;
}
