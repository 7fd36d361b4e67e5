/** Where Node keeps the connections of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

interface Dispatcher {
  close(): Promise<void>;
}

/**
 * Closes the idle connections of `fetch`; requests in flight finish. A server that stops waits a second for requests on
 * idle connections.
 */
export function closeIdleConnections(): void {
  const holder = globalThis as { [DISPATCHER]?: Dispatcher };
  const dispatcher = holder[DISPATCHER];
  if (!dispatcher) return;
  holder[DISPATCHER] = new (dispatcher.constructor as new () => Dispatcher)();
  void dispatcher.close();
}
