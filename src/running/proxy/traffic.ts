import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/time/clock.ts';
import type { WakeCause } from './gate.ts';
import type { StatementKind } from './statement.ts';

/** What passed through the endpoint of a service since it was opened. */
export interface Traffic {
  /** Queries that are being answered. */
  running: number;
  /** Queries that wait for the service. */
  waiting: number;
  /** When a query that counts as use last arrived, in epoch milliseconds. For display: the clock may be set. */
  lastCountedQueryAt?: number;
  /** The same by the monotonic clock, for durations. */
  lastCountedQueryMs?: number;
  lastQueryAt?: number;
  /** Bytes of queries and their data, and of responses to them, including HTTP headers. */
  receivedBytes: number;
  sentBytes: number;
  /** All queries with the correct password, including the ignored ones. */
  queries: number;
  /** Queries that do not count as use. */
  ignoredQueries: number;
  /** The queries that have been running longest, at most 20. */
  runningQueries: RunningQuery[];
  lastWake?: WakeCause;
}

export interface RunningQuery {
  id: string;
  /** Epoch milliseconds. */
  since: number;
  userAgent: string;
  kind: StatementKind;
  /** The credential of a statement by role. */
  credentialId?: string | undefined;
}

const MAX_LISTED = 20;

/** A query on a connection. */
export interface Passage extends RunningQuery {
  socket: Socket;
  /** The counters of the connection when the query started. */
  readBefore: number;
  writtenBefore: number;
  /** Ends the query in ClickHouse, which then answers with an error. */
  kill?: () => Promise<void>;
}

export type TrafficCounter = ReturnType<typeof createTrafficCounter>;

export function createTrafficCounter(clock: Clock) {
  const running = new Set<Passage>();
  /** The bytes that were read from a connection up to the end of its previous request. */
  const readMarks = new WeakMap<Socket, number>();
  const totals = { receivedBytes: 0, sentBytes: 0, queries: 0, ignoredQueries: 0 };
  let lastCounted: Pick<Traffic, 'lastCountedQueryAt' | 'lastCountedQueryMs'> = {};
  let lastQueryAt: number | undefined;
  let onEmpty: (() => void)[] = [];

  return {
    /** A query with the correct password has arrived. */
    count(isIgnored: boolean): number {
      const now = clock.now();
      totals.queries++;
      lastQueryAt = now;
      if (isIgnored) totals.ignoredQueries++;
      else lastCounted = { lastCountedQueryAt: now, lastCountedQueryMs: clock.monotonicMs() };
      return now;
    },

    begin(query: RunningQuery, socket: Socket): Passage {
      const passage: Passage = {
        id: query.id,
        since: query.since,
        userAgent: query.userAgent,
        kind: query.kind,
        credentialId: query.credentialId,
        socket,
        readBefore: readMarks.get(socket) ?? 0,
        writtenBefore: socket.bytesWritten,
      };
      running.add(passage);
      return passage;
    },

    end(passage: Passage): void {
      if (!running.delete(passage)) return;
      const { receivedBytes, sentBytes } = measure(passage);
      totals.receivedBytes += receivedBytes;
      totals.sentBytes += sentBytes;
      readMarks.set(passage.socket, passage.socket.bytesRead);
      if (running.size > 0) return;
      const listeners = onEmpty;
      onEmpty = [];
      for (const listener of listeners) listener();
    },

    /** What was read from the connection so far belongs to no query. */
    skip: (socket: Socket): void => void readMarks.set(socket, socket.bytesRead),

    /** Calls the function when no query is running, which may be at once. Returns a function that cancels the call. */
    whenEmpty(listener: () => void): () => void {
      if (running.size === 0) listener();
      else onEmpty.push(listener);
      return () => {
        onEmpty = onEmpty.filter((other) => other !== listener);
      };
    },

    listRunning: (): Passage[] => [...running],

    read(): Omit<Traffic, 'waiting' | 'lastWake'> {
      let { receivedBytes, sentBytes } = totals;
      for (const passage of running) {
        const current = measure(passage);
        receivedBytes += current.receivedBytes;
        sentBytes += current.sentBytes;
      }
      const listed = [...running].slice(0, MAX_LISTED);
      return {
        ...totals,
        receivedBytes,
        sentBytes,
        running: running.size,
        runningQueries: listed.map(({ id, since, userAgent, kind }) => ({ id, since, userAgent, kind })),
        ...lastCounted,
        ...(lastQueryAt !== undefined && { lastQueryAt }),
      };
    },
  };
}

const measure = ({ socket, readBefore, writtenBefore }: Passage) => ({
  receivedBytes: Math.max(0, socket.bytesRead - readBefore),
  sentBytes: Math.max(0, socket.bytesWritten - writtenBefore),
});
