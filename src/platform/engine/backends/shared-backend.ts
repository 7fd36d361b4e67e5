import type { EngineAccess } from '../engine.ts';
import { unavailable } from '../failures.ts';
import { type Backend, type Connection, toReadSettings } from './backend.ts';
import { openListenerClient } from './client.ts';
import { createSharedAttempt } from './shared-attempt.ts';

/** The embedded engine, seen from a process that does not run it. */
export interface SharedEngine {
  /** Starts the engine if necessary. */
  getAccess(): Promise<EngineAccess>;
  isRunning(): boolean;
  onStop(listener: () => void): void;
  /** How many queries of this process run at the same time. */
  concurrency: number;
}

/** Clients of an embedded engine; at most `writers` inserts run at the same time. */
export async function openConnection(
  { address, reader, writer, queryMemoryBytes }: EngineAccess,
  writers: number,
): Promise<Connection> {
  return {
    reader: await openListenerClient(address, reader),
    writer: await openListenerClient(address, writer, writers),
    readSettings: (limits) =>
      toReadSettings({ ...limits, maxMemoryBytes: Math.min(limits.maxMemoryBytes || Infinity, queryMemoryBytes) }),
    mayLackPrivileges: false,
    defaultMemoryBytes: queryMemoryBytes,
  };
}

/** Uses the embedded engine of another process. */
export function createSharedBackend({ getAccess, isRunning, onStop, concurrency }: SharedEngine): Backend {
  const connection = createSharedAttempt(connect);
  /** The result of `connection`. */
  let open: Connection | undefined;
  let stops = 0;
  let isClosed = false;

  /** The next start of the engine has another address and other passwords. */
  async function disconnect(): Promise<void> {
    if (!open) return;
    const { reader, writer } = open;
    connection.forget();
    open = undefined;
    await Promise.all([reader.close(), writer.close()]);
  }
  onStop(() => {
    stops++;
    void disconnect();
  });

  async function connect(): Promise<Connection> {
    const access = await getAccess();
    const stopsBefore = stops;
    open = await openConnection(access, 1);
    if (stops !== stopsBefore) {
      await disconnect();
      throw unavailable('The engine stopped');
    }
    return open;
  }

  return {
    kind: 'embedded',
    concurrency,
    connect() {
      return isClosed ? Promise.reject(unavailable('The engine is closed')) : connection.get();
    },
    isRunning,
    async close() {
      isClosed = true;
      await connection.find()?.catch(() => {});
      await disconnect();
    },
  };
}
