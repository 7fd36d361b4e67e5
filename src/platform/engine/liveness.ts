import { setTimeout as delay } from 'node:timers/promises';
import { createBackgroundLoop } from '../../kernel/tasks/background-loop.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';

interface Options<Connection> {
  /** Resolves once the engine has responded in any way; rejects or never resolves otherwise. */
  ping(connection: Connection, signal: AbortSignal): Promise<void>;
  everyMs?: number;
  sliceMs?: number;
}

interface Operation<Connection> {
  connection: Connection;
  abort(): void;
}

const PING_EVERY_MS = 2 * SECOND_MS;
/** A ping may take this many slices, 8 seconds together. */
const SLICES = 16;
const SLICE_MS = 0.5 * SECOND_MS;

/**
 * Tells a slow engine from one that hangs (frozen, unreachable without a reset). A statement may take minutes, but a
 * ping is always quick: while operations run, the engine is pinged, and a ping without a response aborts them.
 */
export function createLiveness<Connection>({ ping, everyMs = PING_EVERY_MS, sliceMs = SLICE_MS }: Options<Connection>) {
  const operations = new Set<Operation<Connection>>();
  const loop = createBackgroundLoop({ run: check, onError() {} });

  async function check(): Promise<void> {
    const watched = [...operations];
    const latest = watched.at(-1);
    if (!latest) return;
    if (await hangs(latest.connection)) for (const operation of watched) operation.abort();
    if (operations.size > 0) loop.schedule(everyMs);
  }

  /** Waits in slices: a pause of our own process (busy, suspended) is one long slice and does not count as a hang. */
  async function hangs(connection: Connection): Promise<boolean> {
    const controller = new AbortController();
    let hasResponded = false;
    const response = ping(connection, controller.signal)
      .catch(() => {})
      .then(() => {
        hasResponded = true;
      });
    for (let slice = 0; slice < SLICES && !hasResponded; slice++)
      await Promise.race([response, delay(sliceMs, undefined, { ref: false })]);
    if (hasResponded) return false;
    controller.abort();
    return true;
  }

  return {
    /** Calls `abort` if the engine stops responding, until the returned function is called. */
    watch(connection: Connection, abort: () => void): () => void {
      const operation = { connection, abort };
      operations.add(operation);
      if (operations.size === 1) loop.schedule(everyMs);
      return () => void operations.delete(operation);
    },
    close: loop.close,
  };
}
