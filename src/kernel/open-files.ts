import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { type Clock, MINUTE_MS, SECOND_MS } from './time/clock.ts';

interface Options {
  clock: Pick<Clock, 'monotonicMs'>;
  log: { warn(details: object, text: string): void };
  /** Of the process; undefined if it is not known. */
  limit?: number | undefined;
}

/** The part of the limit that is kept for answering that there are no more, and for files. */
const RESERVED_PART = 1 / 8;
const MAX_RESERVED = 256;
/** For a request and its answer. */
const REFUSED_MS = 2 * SECOND_MS;

/**
 * Keeps a reserve of open files. At the limit of the process, the system resets each new connection and Node does not say so.
 * The number of a socket's descriptor is the lowest one that is free, so a high number means that few are left.
 */
export function createOpenFiles({ clock, log, limit = readLimit() }: Options) {
  const refused = new WeakSet<Socket>();
  const reserved = limit === undefined ? 0 : Math.min(Math.ceil(limit * RESERVED_PART), MAX_RESERVED);
  let warnedAtMs: number | undefined;

  function warn(): void {
    const now = clock.monotonicMs();
    if (warnedAtMs !== undefined && now - warnedAtMs < MINUTE_MS) return;
    warnedAtMs = now;
    log.warn({ limit }, 'connections are refused: the limit of open files is nearly reached; raise it (ulimit -n)');
  }

  function check(socket: Socket): void {
    const number = getDescriptor(socket);
    if (limit === undefined || number === undefined || number < limit - reserved) return;
    warn();
    refused.add(socket);
    // A client that sends no request would hold the reserve.
    if (number >= limit - reserved / 2) socket.destroy();
    else setTimeout(() => socket.destroy(), REFUSED_MS).unref();
  }

  return {
    /** Watches the connections of a server. */
    follow(server: Server): void {
      server.on('connection', check);
    },

    /** Whether the request of this connection is answered with 503, and the connection closed. */
    isRefused: (socket: Socket | null | undefined): boolean => (socket ? refused.has(socket) : false),
  };
}

export type OpenFiles = ReturnType<typeof createOpenFiles>;

/** Node keeps it in the handle. Undefined on Windows. */
const getDescriptor = (socket: Socket): number | undefined =>
  (socket as Socket & { _handle?: { fd?: number } | null })._handle?.fd;

/** Node raises the soft limit to the hard one when it starts. */
function readLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    // Not on this system.
    return undefined;
  }
}
