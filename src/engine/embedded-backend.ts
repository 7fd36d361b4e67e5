import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { User } from '../listener/configuration.ts';
import { findInstallation } from '../listener/installation.ts';
import { type Listener, StartFailure, startListener } from '../listener/listener.ts';
import { type Backend, type Connection, toReadSettings } from './backend.ts';
import { openListenerClient } from './client.ts';
import { ENGINE_SETTINGS, READER_GRANTS, WRITER_GRANTS } from './configuration.ts';
import { removeEndpoint, writeEndpoint } from './endpoint.ts';
import { directoryInUse, unavailable } from './failures.ts';
import { splitMemory } from './memory.ts';
import type { EngineObserver } from './observer.ts';
import { createSupervisor, type SupervisedProcess } from './supervisor.ts';

interface Options {
  directory: string;
  /** Path of the listener program; by default the one in this package. */
  program?: string | undefined;
  memoryBytes: number;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  observer: EngineObserver;
}

const READERS = 8;
const WRITERS = 2;

interface Running extends SupervisedProcess {
  connection: Connection;
}

/** ClickHouse in a child process, started on first use. */
export function createEmbeddedBackend({ directory, program, memoryBytes, clock, log, observer }: Options): Backend {
  const { serverMemoryBytes, queryMemoryBytes } = splitMemory(memoryBytes);
  const supervisor = createSupervisor<Running>({ start, clock, log, observer });

  async function start(): Promise<Running> {
    const installation = findInstallation(program);
    if ('obstacle' in installation)
      throw new AppError(
        'unavailable',
        `The embedded engine cannot run. ${installation.obstacle} Or set --clickhouse-url to a ClickHouse server.`,
      );
    const root = resolve(directory);
    const data = join(root, 'data');
    mkdirSync(data, { recursive: true, mode: 0o700 });
    // New for every start. The password of the writer exists only in the memory of the two processes.
    const settings = { max_memory_usage: queryMemoryBytes };
    const reader: User = { name: 'reader', password: newSecret(), grants: READER_GRANTS, settings };
    const writer: User = { name: 'writer', password: newSecret(), grants: WRITER_GRANTS, settings };
    const listener = await startListener({
      ...installation,
      folder: join(root, 'configuration'),
      data,
      logFile: join(data, 'clickhouse.log'),
      secret: newSecret(),
      memoryBytes: serverMemoryBytes,
      users: [reader, writer],
      server: ENGINE_SETTINGS,
      log,
    }).catch((error) => {
      throw error instanceof StartFailure ? toStartError(error, directory) : error;
    });
    log.info({ pid: listener.pid }, 'the engine is running');
    writeEndpointFile(listener, reader);
    return toRunning(listener, {
      reader: await openListenerClient(listener.address, reader),
      // The other inserts wait: each insert that runs at the same time needs memory, and becomes a part of a table.
      writer: await openListenerClient(listener.address, writer, WRITERS),
      readSettings: (limits) =>
        toReadSettings({ ...limits, maxMemoryBytes: Math.min(limits.maxMemoryBytes || Infinity, queryMemoryBytes) }),
      mayLackPrivileges: false,
      defaultMemoryBytes: queryMemoryBytes,
    });
  }

  function toRunning(listener: Listener, connection: Connection): Running {
    let isClosing = false;
    void listener.ended.then(async (reason) => {
      removeEndpoint(directory);
      if (!isClosing) log.warn({ reason, lines: listener.listLines() }, 'the engine stopped unexpectedly');
      await Promise.all([connection.reader.close(), connection.writer.close()]);
    });
    return {
      connection,
      ended: listener.ended,
      /** Inserts are acknowledged when their files are complete, so nothing is lost. */
      async close() {
        isClosing = true;
        listener.kill();
        await listener.ended;
      },
    };
  }

  /** `pilothouse backup` reads from the engine of a running server. */
  function writeEndpointFile({ pid, address }: Listener, reader: User): void {
    try {
      writeEndpoint(directory, { pid, address, password: reader.password });
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'failed to write the endpoint of the engine; backups need it');
    }
  }

  return {
    kind: 'embedded',
    concurrency: READERS,
    connect: async () => (await supervisor.get()).connection,
    isRunning: supervisor.isRunning,
    close: supervisor.close,
  };
}

const newSecret = (): string => randomBytes(32).toString('hex');

function toStartError(error: StartFailure, directory: string): AppError {
  const output = error.lines.join('\n');
  if (/Cannot lock file|already running/.test(output)) return directoryInUse(directory, error);
  const [, reason = error.message] = /DB::Exception: (.{1,200})/.exec(output) ?? [];
  return unavailable(`The engine could not be started: ${reason}`, error, 5);
}
