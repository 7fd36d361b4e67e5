import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Engine } from '../../platform/engine/engine.ts';
import { isRejectedInsert } from '../../platform/engine/failures.ts';
import { TABLES, type TableKind } from '../own-telemetry/rows.ts';
import { createByteLimit } from './byte-limit.ts';
import type { Rows } from './wire/batch.ts';
import { LOG_COLUMNS } from './wire/logs.ts';
import { METRIC_COLUMNS } from './wire/metrics.ts';
import { SPAN_COLUMNS } from './wire/spans.ts';

const COLUMNS: Record<TableKind, readonly string[]> = { logs: LOG_COLUMNS, traces: SPAN_COLUMNS, ...METRIC_COLUMNS };

/** So many rows do not wait for others. 16 SDKs that send 512 rows at a time fill two inserts. */
const ENOUGH_ROWS = 3500;
/** Of an insert. */
const MAX_INSERT_BYTES = 32 * 2 ** 20;
/** Of all rows that wait for an insert or are being inserted. */
const MAX_WAITING_BYTES = 256 * 2 ** 20;
/** Between small inserts into a table: each creates a part that ClickHouse has to merge. */
const MIN_GAP_MS = 100;
/** While one is written to disk, the next is parsed. */
const CONCURRENT_INSERTS = 2;

interface Waiting extends Rows {
  resolve(): void;
  reject(error: unknown): void;
}

interface TableQueue {
  waiting: Waiting[];
  rows: number;
  running: number;
  startedAt: number;
  isScheduled: boolean;
  /** Set while the queue waits for more rows. */
  onEnough?: (() => void) | undefined;
}

interface Options {
  engine: Pick<Engine, 'insertBinary'>;
  clock: Pick<Clock, 'monotonicMs'>;
}

/** Inserts the rows of requests that arrive together with one statement. ClickHouse is made for few, large inserts. */
export function createInsertQueue({ engine, clock }: Options) {
  const waiting = createByteLimit(MAX_WAITING_BYTES);
  /** By table and block. */
  const queues = new Map<string, TableQueue>();

  async function drain(table: TableKind, queue: TableQueue): Promise<void> {
    while (queue.waiting.length > 0 && queue.running < CONCURRENT_INSERTS) {
      await waitForRows(queue);
      if (queue.running >= CONCURRENT_INSERTS) break;
      const group = takeGroup(queue);
      queue.startedAt = clock.monotonicMs();
      queue.running++;
      void insertGroup(table, group).finally(() => {
        queue.running--;
        schedule(table, queue);
      });
    }
    queue.isScheduled = false;
  }

  /** Until enough rows wait or the gap has passed; at least one turn of the event loop, for requests that arrived together. */
  async function waitForRows(queue: TableQueue): Promise<void> {
    const gap = queue.startedAt + MIN_GAP_MS - clock.monotonicMs();
    if (queue.rows >= ENOUGH_ROWS || gap <= 0) return delay(0);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gap);
      queue.onEnough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    queue.onEnough = undefined;
  }

  function schedule(table: TableKind, queue: TableQueue): void {
    if (queue.isScheduled || queue.waiting.length === 0) return;
    queue.isScheduled = true;
    void drain(table, queue);
  }

  async function insertGroup(table: TableKind, group: readonly Waiting[]): Promise<void> {
    const insert = (rows: readonly Waiting[]) =>
      engine.insertBinary(
        TABLES[table],
        COLUMNS[table],
        rows.map(({ bytes }) => bytes),
      );
    try {
      await insert(group);
      for (const { resolve } of group) resolve();
    } catch (error) {
      // One of them may be at fault. After any other error, a part of the rows may be stored, and a repetition would double them.
      const isRefused = group.length > 1 && isRejectedInsert(error);
      for (const one of group) {
        if (isRefused) await insert([one]).then(one.resolve, one.reject);
        else one.reject(error);
      }
    }
  }

  return {
    /** Resolves when the rows are on disk. */
    add(rows: Rows): Promise<void> {
      const { table, block } = rows;
      const key = `${table} ${block}`;
      const queue = queues.get(key) ?? {
        waiting: [],
        rows: 0,
        running: 0,
        startedAt: Number.NEGATIVE_INFINITY,
        isScheduled: false,
      };
      queues.set(key, queue);
      const held = waiting.hold(rows.bytes.length);
      return new Promise<void>((resolve, reject) => {
        queue.waiting.push({ ...rows, resolve, reject });
        queue.rows += rows.rows;
        if (queue.rows >= ENOUGH_ROWS) queue.onEnough?.();
        schedule(table, queue);
      }).finally(held.release);
    },

    /** Throws `unavailable` while too many rows wait: an engine that is slow must not fill the memory. Senders try again. */
    requireSpace: (): void => waiting.require(),
  };
}

/** Removes the first ones from the queue: at least one, and more up to the size of an insert. */
function takeGroup(queue: TableQueue): Waiting[] {
  let bytes = 0;
  const end = queue.waiting.findIndex((rows, index) => {
    bytes += rows.bytes.length;
    return index > 0 && bytes > MAX_INSERT_BYTES;
  });
  const group = queue.waiting.splice(0, end < 0 ? queue.waiting.length : end);
  for (const { rows } of group) queue.rows -= rows;
  return group;
}
