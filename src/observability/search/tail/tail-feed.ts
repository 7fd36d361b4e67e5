import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { createBackgroundLoop } from '../../../kernel/tasks/background-loop.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { Table } from '../../charts/queries/series-query.ts';
import { findArrivalOrder, type RunStatement } from './arrival-order.ts';
import { createArrivalReader } from './by-arrival.ts';
import { createTimeReader } from './by-time.ts';
import { TAIL_LIMITS, type TailReader } from './tail-reader.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** After rows were accepted: others follow within this time. */
const DEBOUNCE_MS = 400;
/** Rows of other nodes and of programs that write to the engine are not announced. */
const CHECK_EVERY_MS = 1500;
/** The pause is a multiple of the last check, so that checks never take more than a part of a core. */
const PAUSE_FACTOR = 3;
const UNORDERED =
  'The engine does not keep the order in which the rows of this table arrive. The newest rows are shown by their time; rows that arrive late can be missing and are not counted';

interface Options {
  engine: Pick<Engine, 'query'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  organizationId: string;
  table: Table;
}

export type TailFeed = ReturnType<typeof createTailFeed>;

/** Finds the new rows of one table of an organization for all of its watchers, with one statement for all of them. */
export function createTailFeed({ engine, clock, log, organizationId, table }: Options) {
  const watchers = new Set<TailWatcher>();
  let reader: Promise<TailReader> | undefined;
  let isOrdered = false;
  let lastCheckMs = 0;

  const loop = createBackgroundLoop({
    everyMs: CHECK_EVERY_MS,
    run: check,
    onError: (error) => log.warn({ err: error }, 'live tail failed'),
  });

  const run: RunStatement = (statement, signal) =>
    engine.query(statement, { limits: TAIL_LIMITS, organizationId, signal });

  async function openReader(): Promise<TailReader> {
    const order = await findArrivalOrder(run, table);
    isOrdered = order !== undefined;
    return order ? createArrivalReader(order, run) : createTimeReader(run, clock);
  }

  /** A failure is not kept. */
  async function getReader(): Promise<TailReader> {
    reader ??= openReader();
    try {
      return await reader;
    } catch (error) {
      reader = undefined;
      throw error;
    }
  }

  async function check(): Promise<void> {
    if (watchers.size === 0) return;
    const startedAt = clock.monotonicMs();
    try {
      await (await getReader()).check([...watchers]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      for (const { send } of watchers) send({ type: 'notice', message: error.message });
    } finally {
      lastCheckMs = clock.monotonicMs() - startedAt;
    }
  }

  return {
    /** Resolves when rows that are stored from now on will be sent. Throws if the query is not valid. */
    async add(watcher: TailWatcher, signal: AbortSignal | undefined): Promise<void> {
      await (await getReader()).add(watcher, signal);
      watchers.add(watcher);
      loop.startAfterPause();
    },

    /** What clients of this table must know. */
    listNotices: (): string[] => (isOrdered ? [] : [UNORDERED]),

    remove: (watcher: TailWatcher): boolean => watchers.delete(watcher),

    /** Rows were accepted. */
    announce(): void {
      if (!loop.isScheduled()) loop.schedule(Math.max(DEBOUNCE_MS, PAUSE_FACTOR * lastCheckMs));
    },

    close: loop.close,
  };
}
