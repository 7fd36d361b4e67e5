import { createBackgroundLoop } from '../kernel/background-loop.ts';
import { SECOND_MS } from '../kernel/clock.ts';

interface Options<Connection> {
  /** Resolves once the engine has responded in any way; rejects or never resolves otherwise. */
  ping(connection: Connection, signal: AbortSignal): Promise<void>;
  everyMs?: number;
  timeoutMs?: number;
}

interface Operation<Connection> {
  connection: Connection;
  abort(): void;
}

const PING_EVERY_MS = 2 * SECOND_MS;
const PING_TIMEOUT_MS = 8 * SECOND_MS;

/**
 * Tells a slow engine from one that hangs (frozen, unreachable without a reset). A statement may take minutes, but a
 * ping is always quick: while operations run, the engine is pinged, and a ping without a response aborts them.
 */
export function createLiveness<Connection>({
  ping,
  everyMs = PING_EVERY_MS,
  timeoutMs = PING_TIMEOUT_MS,
}: Options<Connection>) {
  const operations = new Set<Operation<Connection>>();
  const loop = createBackgroundLoop({ run: check, onError() {} });

  async function check(): Promise<void> {
    const watched = [...operations];
    const latest = watched.at(-1);
    if (!latest) return;
    if (await hangs(latest.connection)) for (const operation of watched) operation.abort();
    if (operations.size > 0) loop.schedule(everyMs);
  }

  async function hangs(connection: Connection): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    await ping(connection, signal).catch(() => {});
    return signal.aborted;
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
