import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { type Backend, type Connection, limitSettings } from './backend.ts';
import { type Child, StartFailure, startChild } from './child.ts';
import { openClient } from './client.ts';
import { removeEndpoint, writeEndpoint } from './endpoint.ts';
import { directoryInUse, unavailable } from './failures.ts';
import { splitMemory } from './memory.ts';
import type { EngineObserver } from './observer.ts';
import { createSupervisor } from './supervisor.ts';

interface Options {
  directory: string;
  /** Path of the engine program; undefined if this installation does not include it. */
  program: string | undefined;
  memoryBytes: number;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  observer: EngineObserver;
}

const READERS = 8;
const WRITERS = 2;

const MISSING =
  'The embedded engine is not installed: install the chdb package (Linux with glibc or macOS, x64 or arm64), or set --clickhouse-url to a ClickHouse server';

interface Running extends Child {
  connection: Connection;
}

/** ClickHouse in a child process, started on first use. */
export function createEmbeddedBackend({ directory, program, memoryBytes, clock, log, observer }: Options): Backend {
  const memory = splitMemory(memoryBytes);
  const supervisor = createSupervisor<Running>({ start, clock, log, observer });

  async function start(): Promise<Running> {
    if (program === undefined || !isEngineInstalled(program)) throw new AppError('unavailable', MISSING);
    // New passwords for every start. The writer's exists only in the memory of the two processes.
    const passwords = { reader: newPassword(), writer: newPassword() };
    const options = { directory: resolve(directory), passwords, ...memory, readers: READERS, writers: WRITERS };
    const child = await startChild({ program, options, log }).catch((error) => {
      throw error instanceof StartFailure ? toStartError(error, directory) : error;
    });
    log.info({ pid: child.pid }, 'the engine is running');
    const url = `http://127.0.0.1:${child.port}`;
    const reader = await openClient({ url, username: 'reader', password: passwords.reader });
    const writer = await openClient({ url, username: 'writer', password: passwords.writer });
    publishEndpoint(child, passwords.reader);
    const closeClients = () => Promise.all([reader.close(), writer.close()]);
    child.ended.then(closeClients).catch(() => {});
    const connection: Connection = {
      reader,
      writer,
      readSettings: limitSettings,
      mayLackPrivileges: false,
      defaultMemoryBytes: memory.queryMemoryBytes,
    };
    return { ...child, connection };
  }

  /** `pilothouse backup` reads from the engine of a running server. */
  function publishEndpoint({ pid, port, ended }: Child, password: string): void {
    try {
      writeEndpoint(directory, { pid, port, password });
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'failed to write the endpoint of the engine; backups need it');
    }
    void ended.then(() => removeEndpoint(directory));
  }

  return {
    kind: 'embedded',
    concurrency: READERS,
    connect: async () => (await supervisor.get()).connection,
    isRunning: supervisor.isRunning,
    close: supervisor.close,
  };
}

const newPassword = (): string => randomBytes(32).toString('base64url');

/** Resolves the package as the child would, but does not load it: it is half a gigabyte in size. */
function isEngineInstalled(program: string): boolean {
  try {
    createRequire(program).resolve('chdb');
    return true;
  } catch {
    return false;
  }
}

function toStartError(error: StartFailure, directory: string): AppError {
  const output = error.lines.join('\n');
  if (error.failure.isMissing) return new AppError('unavailable', MISSING, { cause: error });
  if (/Cannot lock file|already running/.test(output)) return directoryInUse(directory, error);
  const [, reason = error.message] = /DB::Exception: (.{1,200})/.exec(output) ?? [];
  return unavailable(`The engine could not be started: ${reason}`, error, 5);
}
