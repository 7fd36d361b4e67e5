import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { RateCounter } from '../../kernel/rate-counter.ts';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { MINUTE_MS } from '../../kernel/time/clock.ts';
import { toStoreError } from './failures.ts';
import { prepared } from './prepared.ts';
import type { Db } from './tables.ts';

interface Options {
  /** On PostgreSQL. */
  db: Db;
  log: Pick<Logger, 'warn'>;
}

interface Addition {
  id: string;
  count: number;
  windowMs: number;
  result: Promise<Counted>;
  resolve(counted: Counted): void;
  reject(error: unknown): void;
}

type Counted = Awaited<ReturnType<RateCounter['add']>>;

const MAX_ROWS = 100;
const ROWS_PER_DELETION = 1000;
/** Rows of ids that are in use are kept from one window to the next. */
const KEPT_MS = MINUTE_MS;

const nowMs = sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;
/** A window that ends later than two of its kind is from before the clock was set back, or of another limit. */
const isOpen = sql`old.ends_at > ${nowMs} AND old.ends_at - excluded.ends_at <= excluded.ends_at - ${nowMs}`;

interface Additions {
  ids: readonly string[];
  counts: readonly number[];
  windowsMs: readonly number[];
}

const addAll = prepared((db: Db, value: Additions) => ({
  compile: () =>
    sql<{ id: string; taken: number; rest_ms: number }>`INSERT INTO rate_windows AS old (id, ends_at, taken)
      SELECT added.id, ${nowMs} + added.window_ms, added.count
      FROM unnest(${value.ids}::text[], ${value.windowsMs}::bigint[], ${value.counts}::bigint[])
        AS added (id, window_ms, count)
      ON CONFLICT (id) DO UPDATE SET
        ends_at = CASE WHEN ${isOpen} THEN old.ends_at ELSE excluded.ends_at END,
        taken = CASE WHEN ${isOpen} THEN old.taken ELSE 0 END + excluded.taken
      RETURNING id, taken, ends_at - ${nowMs} AS rest_ms`.compile(db),
}));

/** Nodes that delete at the same time delete different rows, and never wait for each other. */
const deleteEnded = prepared((db: Db, _value: object) => ({
  compile: () =>
    sql<{ id: string }>`DELETE FROM rate_windows WHERE id IN (
      SELECT id FROM rate_windows WHERE ends_at < ${nowMs} - ${sql.lit(KEPT_MS)}
      ORDER BY ends_at LIMIT ${sql.lit(ROWS_PER_DELETION)} FOR UPDATE SKIP LOCKED)`.compile(db),
}));

/**
 * Counts in the database, for all nodes. While a statement runs, further additions wait, and then are one statement. Must
 * be closed.
 */
export function openRateCounter({ db, log }: Options): RateCounter & { close(): Promise<void> } {
  const waiting = new Map<string, Addition>();
  let isRunning = false;

  async function run(additions: readonly Addition[]): Promise<void> {
    const rows = await addAll.all(db, {
      ids: additions.map(({ id }) => id),
      counts: additions.map(({ count }) => count),
      windowsMs: additions.map(({ windowMs }) => windowMs),
    });
    const counted = new Map(rows.map((row) => [row.id, { taken: row.taken, restMs: row.rest_ms }]));
    for (const { id, resolve } of additions) resolve(counted.get(id) as Counted);
  }

  async function runWaiting(): Promise<void> {
    isRunning = true;
    // Requests whose keys were read by one statement arrive in one turn of the event loop.
    await setImmediate();
    while (waiting.size > 0) {
      // In the order of the ids, in which all nodes lock the rows.
      const additions = [...waiting.values()].slice(0, MAX_ROWS).sort((a, b) => (a.id < b.id ? -1 : 1));
      for (const { id } of additions) waiting.delete(id);
      try {
        await run(additions);
      } catch (error) {
        for (const { reject } of additions) reject(toStoreError(error));
      }
    }
    isRunning = false;
  }

  async function removeEnded(): Promise<void> {
    while ((await deleteEnded.execute(db, {})) === ROWS_PER_DELETION);
  }

  const removal = createBackgroundLoop({
    run: removeEnded,
    everyMs: MINUTE_MS,
    onError: (error) => log.warn({ err: error }, 'failed to delete the rate limit windows that have ended'),
  });
  removal.start();

  function add(id: string, count: number, windowSeconds: number): Promise<Counted> {
    const earlier = waiting.get(id);
    // A statement can change a row once.
    if (earlier) return earlier.result.then(() => add(id, count, windowSeconds));
    const addition = createAddition(id, count, windowSeconds * 1000);
    waiting.set(id, addition);
    if (!isRunning) void runWaiting();
    return addition.result;
  }

  return { add, close: removal.close };
}

function createAddition(id: string, count: number, windowMs: number): Addition {
  let settle: Pick<Addition, 'resolve' | 'reject'> | undefined;
  const result = new Promise<Counted>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { id, count, windowMs, result, ...(settle as unknown as Pick<Addition, 'resolve' | 'reject'>) };
}
