import { join } from 'node:path';
import type { Session } from 'chdb';
import { writeConfiguration } from './configuration.ts';
import { openHttpServer } from './http-server.ts';
import type { Command, EngineOptions, StartupFailure, StartupReport } from './messages.ts';
import { createQueryRunner } from './query-runner.ts';

// The engine process. It stops when the control plane sends `close` or exits, and ignores signals: Ctrl+C and service
// managers signal both processes, and the control plane finishes its requests first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const KILL_AFTER_MS = 4000;

let close = async (): Promise<void> => {};
let isEnding = false;

process.on('message', (command: Command) => {
  if ('close' in command) void end();
  else open(command.open).catch((error: Error) => fail({ isMissing: false, text: error.message }));
});
process.on('disconnect', () => void end());

async function open(options: EngineOptions): Promise<void> {
  const chdb = await import('chdb').catch((error: Error) => error);
  if (chdb instanceof Error) return fail({ isMissing: true, text: chdb.message });
  const connectionArgs = writeConfiguration(options.directory, options.serverMemoryBytes);
  const openSession = (): Session => new chdb.Session(join(options.directory, 'data'), { connectionArgs });
  // One session stays open, so that the engine does not shut down between queries.
  const first = openSession();
  const timezone = (await first.queryAsync('SELECT timezone()', { format: 'TSVRaw' })).text().trim();
  const queries = createQueryRunner({ ...options, openSession });
  const { port, server } = await openHttpServer({ queries, passwords: options.passwords, timezone });
  close = async () => {
    server.close();
    await queries.close();
    server.closeAllConnections();
    first.close();
  };
  report({ ready: { port } });
}

/** The engine prints the details on standard error, which the parent process reads. */
function fail(failure: StartupFailure): void {
  report({ failed: failure });
  void end();
}

function report(message: StartupReport): void {
  if (process.connected) process.send?.(message);
}

async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  // A query that does not stop must not keep the process alive. Stored data is safe either way.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), KILL_AFTER_MS).unref();
  await close().catch(() => {});
  if (process.connected) process.disconnect();
}
