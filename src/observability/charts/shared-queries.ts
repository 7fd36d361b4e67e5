import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../kernel/errors.ts';
import { createKeyedQueue } from '../../kernel/tasks/queue.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Engine, Limits, Statement } from '../../platform/engine/engine.ts';

/** From the start of a statement. Long enough to serve the viewers of one dashboard from one query, too short to notice. */
const CACHED_MS = 5000;
const CACHED_BYTES = 32 * 1024 * 1024;
/** A larger result is not cached, so that it cannot evict everything else. */
const LARGEST_CACHED_BYTES = 3 * 1024 * 1024;
/** Fewer than an organization may run, so that one token cannot occupy all of them. */
const RUNNING_PER_TOKEN = 4;
const WAITING_PER_TOKEN = 100;

/** The client that a query runs for. */
export interface QueryClient {
  organizationId: string;
  /** Queries are limited per credential: a token, or the token of a console session. */
  credentialId: string;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
}

interface RunningQuery {
  rows: Promise<unknown[][]>;
  clients: number;
  cancel(): void;
}

/**
 * Runs the statements of clients, a few at a time for each. The organization is a parameter of every statement, so
 * organizations never share a result.
 */
export function createSharedQueries({ engine, clock, limits }: { engine: Engine; clock: Clock; limits: Limits }) {
  const running = new Map<string, RunningQuery>();
  const results = new LRUCache<string, unknown[][]>({
    maxSize: CACHED_BYTES,
    maxEntrySize: LARGEST_CACHED_BYTES,
    sizeCalculation: estimateBytes,
    ttl: CACHED_MS,
    ttlResolution: 0,
    perf: { now: () => clock.monotonicMs() },
  });
  const queue = createKeyedQueue({
    concurrency: RUNNING_PER_TOKEN,
    maxWaiting: WAITING_PER_TOKEN,
    onFull: tooManyQueries,
    onCanceled: clientDisconnected,
  });

  function start(statement: Statement, organizationId: string, queryLimits: Limits): RunningQuery {
    const controller = new AbortController();
    const rows = engine.query(statement, { limits: queryLimits, organizationId, signal: controller.signal });
    // Its last client may leave before it fails.
    rows.catch(() => {});
    return { rows, clients: 0, cancel: () => controller.abort() };
  }

  /** Other clients can join, and get the result while it is cached. */
  function startShared(id: string, statement: Statement, organizationId: string, queryLimits: Limits): RunningQuery {
    const startedAt = clock.monotonicMs();
    const started = start(statement, organizationId, queryLimits);
    const query: RunningQuery = {
      ...started,
      cancel() {
        remove(id, query);
        started.cancel();
      },
    };
    running.set(id, query);
    query.rows.then(
      (result) => {
        remove(id, query);
        // The rows are those that were stored when the statement started.
        const ttl = startedAt + CACHED_MS - clock.monotonicMs();
        if (ttl > 0) results.set(id, result, { ttl });
      },
      () => remove(id, query),
    );
    return query;
  }

  function remove(id: string, query: RunningQuery): void {
    if (running.get(id) === query) running.delete(id);
  }

  /** The query is canceled when its last client disconnects. */
  async function join(query: RunningQuery, signal: AbortSignal | undefined): Promise<unknown[][]> {
    query.clients++;
    if (!signal) return query.rows;
    return new Promise<unknown[][]>((resolve, reject) => {
      const leave = () => {
        query.clients--;
        if (query.clients === 0) query.cancel();
        reject(clientDisconnected());
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      query.rows.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  /** Every series of a tile listens to the signal of the same request. */
  const allowListeners = (signal: AbortSignal | undefined): void => void (signal && setMaxListeners(0, signal));

  return {
    /** The result has everything that was stored before the call. */
    async query(
      statement: Statement,
      { organizationId, credentialId, signal }: QueryClient,
      queryLimits = limits,
    ): Promise<unknown[][]> {
      allowListeners(signal);
      return queue.run(credentialId, () => join(start(statement, organizationId, queryLimits), signal), signal);
    },

    /**
     * Runs identical statements once: a second client joins the running query or gets its result, which may lack what was
     * stored since it started, at most 5 seconds ago unless it is still running. For aggregates, never for rows.
     */
    async queryShared(
      statement: Statement,
      { organizationId, credentialId, signal }: QueryClient,
      queryLimits = limits,
    ): Promise<unknown[][]> {
      const id = JSON.stringify([statement, queryLimits]);
      allowListeners(signal);
      return (
        results.get(id) ??
        queue.run(
          credentialId,
          () => join(running.get(id) ?? startShared(id, statement, organizationId, queryLimits), signal),
          signal,
        )
      );
    },
  };
}

const CELL_BYTES = 16;

/** Memory of a result, roughly. */
function estimateBytes(rows: unknown[][]): number {
  let bytes = CELL_BYTES;
  for (const row of rows) {
    for (const cell of row) bytes += CELL_BYTES + textBytes(cell);
    if (bytes > LARGEST_CACHED_BYTES) break;
  }
  return bytes;
}

function textBytes(cell: unknown): number {
  if (typeof cell === 'string') return 2 * cell.length;
  return typeof cell === 'object' && cell !== null ? 2 * JSON.stringify(cell).length : 0;
}

const tooManyQueries = (): AppError =>
  new AppError(
    'too_many_requests',
    `This token already has ${RUNNING_PER_TOKEN} running and ${WAITING_PER_TOKEN} waiting queries`,
    { retryAfterSeconds: 1 },
  );

const clientDisconnected = (): AppError =>
  new AppError('request_timeout', 'The client disconnected before the query finished');
