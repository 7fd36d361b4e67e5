import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Engine, Limits, Statement } from '../../../platform/engine/engine.ts';
import type { Range } from '../../charts/queries/time-buckets.ts';
import { type FoundTimes, planTailRows, planTailTimes } from './tail-statement.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** After rows were accepted: others follow within this time. */
const DEBOUNCE_MS = 400;
/** Rows of other nodes and of programs that write to the engine are not announced. */
const CHECK_EVERY_MS = 1500;
/** The pause is a multiple of the last check, so that checks never take more than a part of a core. */
const PAUSE_FACTOR = 3;
/** Senders collect rows for some seconds. */
const RECENT_MS = 20 * SECOND_MS;
/** Rows that are older when they arrive are found by a longer check, which takes its share of the time only. */
const LATE_MS = 5 * MINUTE_MS;
const LATE_PAUSE_FACTOR = 15;
const MAX_LATE_PAUSE_MS = 10 * SECOND_MS;
/** The clocks of senders differ. */
const FUTURE_MS = 5 * MINUTE_MS;
/** Watchers of one statement. */
const WATCHERS_PER_STATEMENT = 20;

const LIMITS: Limits = {
  maxSeconds: 10,
  maxResultRows: 10_000,
  maxResultBytes: 8 * 2 ** 20,
  maxMemoryBytes: 300_000_000,
};

const NOTHING: FoundTimes = { times: [], arrived: 0 };

interface Options {
  engine: Pick<Engine, 'query'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  organizationId: string;
}

export type TailFeed = ReturnType<typeof createTailFeed>;

/** Finds the new rows of one table of an organization for all of its watchers, with one statement for all of them. */
export function createTailFeed({ engine, clock, log, organizationId }: Options) {
  const watchers = new Set<TailWatcher>();
  let lateCheckAt = 0;
  let lastCheckMs = 0;

  const loop = createBackgroundLoop({
    everyMs: CHECK_EVERY_MS,
    run: checkAll,
    onError: (error) => log.warn({ err: error }, 'live tail failed'),
  });

  async function checkAll(): Promise<void> {
    const startedAt = clock.monotonicMs();
    const isLate = startedAt >= lateCheckAt;
    const all = [...watchers];
    for (let at = 0; at < all.length; at += WATCHERS_PER_STATEMENT) {
      const group = all.slice(at, at + WATCHERS_PER_STATEMENT);
      await checkGroup(group, isLate ? LATE_MS : RECENT_MS);
    }
    const endedAt = clock.monotonicMs();
    lastCheckMs = endedAt - startedAt;
    if (isLate) lateCheckAt = endedAt + Math.min(MAX_LATE_PAUSE_MS, LATE_PAUSE_FACTOR * lastCheckMs);
  }

  /** The queries of a group can be too much together: each is checked alone then, so that one cannot stop the others. */
  async function checkGroup(group: readonly TailWatcher[], backMs: number): Promise<void> {
    try {
      await check(group, backMs);
    } catch (error) {
      if (group.length === 1 || !(error instanceof AppError && error.code === 'bad_request'))
        return notify(group, error);
      for (const watcher of group) await checkGroup([watcher], backMs);
    }
  }

  function notify(group: readonly TailWatcher[], error: unknown): void {
    const message = error instanceof AppError ? error.message : 'The engine failed';
    for (const { send } of group) send({ type: 'notice', message });
    if (!(error instanceof AppError)) throw error;
  }

  async function check(
    group: readonly TailWatcher[],
    backMs: number,
    { isQuiet = false, signal }: { isQuiet?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const run = ({ statement }: { statement: Statement }) =>
      engine.query(statement, { limits: LIMITS, organizationId, signal });
    const now = clock.now();
    const range: Range = { startMs: now - backMs, endMs: now + FUTURE_MS };
    const queries = group.map(({ getQuery }) => getQuery());
    const timesPlan = planTailTimes(queries, range);
    const found = timesPlan.collect(await run(timesPlan));
    const times = new Set(group.flatMap(({ listNewTimes }, index) => listNewTimes(found[index] ?? NOTHING)));
    if (times.size === 0) return;
    const rowsPlan = planTailRows(queries, [...times]);
    const rows = rowsPlan.collect(await run(rowsPlan));
    for (const [index, watcher] of group.entries())
      watcher.accept(found[index] ?? NOTHING, rows[index] ?? [], { isQuiet });
  }

  return {
    /** Resolves when rows that are accepted from now on will be sent. Throws if the query is not valid. */
    async add(watcher: TailWatcher, signal: AbortSignal | undefined): Promise<void> {
      await check([watcher], LATE_MS, { isQuiet: true, signal });
      watchers.add(watcher);
      loop.startAfterPause();
    },

    remove: (watcher: TailWatcher): boolean => watchers.delete(watcher),

    /** Rows were accepted. */
    announce(): void {
      if (!loop.isScheduled()) loop.schedule(Math.max(DEBOUNCE_MS, PAUSE_FACTOR * lastCheckMs));
    },

    close: loop.close,
  };
}
