import { join } from 'node:path';
import type { Session } from 'chdb';
import { writeConfiguration } from './configuration.ts';
import { openHttpServer } from './http-server.ts';
import type { Command, EngineOptions, StartupFailure, StartupReport } from './messages.ts';
import { createQueryRunner } from './query-runner.ts';

// The engine in a process of its own. It ends when the control plane says so or is gone, and for no signal but SIGKILL:
// Ctrl+C and service managers signal both, and the control plane finishes its requests first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const KILL_AFTER_MS = 5000;

let close = async (): Promise<void> => {};
let isEnding = false;

process.on('message', (instruction: Command) => {
  if ('close' in instruction) void end();
  else open(instruction.open).catch((error: Error) => fail({ isMissing: false, text: error.message }));
});
process.on('disconnect', () => void end());

async function open(order: EngineOptions): Promise<void> {
  const chdb = await import('chdb').catch((error: Error) => error);
  if (chdb instanceof Error) return fail({ isMissing: true, text: chdb.message });
  const connectionArgs = writeConfiguration(order.directory, order.serverMemoryBytes);
  const openSession = (): Session => new chdb.Session(join(order.directory, 'data'), { connectionArgs });
  // One session stays, so that the engine does not close down between two queries.
  const first = openSession();
  const timezone = (await first.queryAsync('SELECT timezone()', { format: 'TSVRaw' })).text().trim();
  const queries = createQueryRunner({ ...order, openSession });
  const { port, server } = await openHttpServer({ queries, passwords: order.passwords, timezone });
  close = async () => {
    server.close();
    await queries.close();
    server.closeAllConnections();
    first.close();
  };
  report({ ready: { port } });
}

/** The engine itself says why on standard error, which whoever started us reads. */
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
  // A query that will not stop must not keep the process: what is stored is safe either way.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), KILL_AFTER_MS).unref();
  await close().catch(() => {});
  if (process.connected) process.disconnect();
}
