import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time/clock.ts';
import { newStartSecret, type User } from '../../listener/configuration.ts';
import { findInstallation, findObstacle } from '../../listener/installation.ts';
import { type Listener, StartFailure, startListener } from '../../listener/listener.ts';
import type { EngineAccess } from '../engine.ts';
import { directoryInUse, unavailable } from '../failures.ts';
import type { EngineObserver } from '../observer.ts';
import type { Backend, Connection } from './backend.ts';
import { ENGINE_SETTINGS, READER_GRANTS, WRITER_GRANTS } from './configuration.ts';
import { splitMemory } from './memory.ts';
import { removeAccessFile, writeAccessFile } from './running-engine.ts';
import { openConnection } from './shared-backend.ts';
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

/** Queries that run at the same time. */
export const READERS = 8;
const WRITERS = 2;

interface Running extends SupervisedProcess {
  access: EngineAccess;
  connection: Connection;
}

const formatObstacle = (obstacle: string): string =>
  `The embedded engine cannot run. ${obstacle} Alternatively, set --clickhouse-url to the URL of a ClickHouse server.`;

/** Why the embedded engine cannot run on this machine; undefined if it can. */
export function findEngineObstacle(): string | undefined {
  const obstacle = findObstacle();
  return obstacle === undefined ? undefined : formatObstacle(obstacle);
}

/** ClickHouse in a child process, started on first use. */
export function createEmbeddedBackend({ directory, program, memoryBytes, clock, log, observer }: Options): Backend {
  const { serverMemoryBytes, queryMemoryBytes } = splitMemory(memoryBytes);
  const supervisor = createSupervisor<Running>({ start, clock, log, observer });

  async function start(): Promise<Running> {
    const installation = findInstallation(program);
    if ('obstacle' in installation) throw new AppError('unavailable', formatObstacle(installation.obstacle));
    const root = resolve(directory);
    const data = join(root, 'data');
    // New for every start. The password of the writer exists only in the memory of the two processes.
    const settings = { max_memory_usage: queryMemoryBytes };
    const reader: User = { name: 'reader', password: newStartSecret(), grants: READER_GRANTS, settings };
    const writer: User = { name: 'writer', password: newStartSecret(), grants: WRITER_GRANTS, settings };
    let listener: Listener;
    try {
      mkdirSync(data, { recursive: true, mode: 0o700 });
      listener = await startListener({
        ...installation,
        folder: join(root, 'configuration'),
        data,
        logFile: join(data, 'clickhouse.log'),
        secret: newStartSecret(),
        memoryBytes: serverMemoryBytes,
        users: [reader, writer],
        server: ENGINE_SETTINGS,
        // Queries of users run as the reader, which cannot read files.
        hasThreadCounters: true,
        log,
      });
    } catch (error) {
      throw toStartError(error as Error, directory);
    }
    log.info({ pid: listener.pid }, 'the engine is running');
    shareAccess(listener, reader);
    return toRunning(listener, { address: listener.address, reader, writer, queryMemoryBytes });
  }

  async function toRunning(listener: Listener, access: EngineAccess): Promise<Running> {
    // The other inserts wait: each insert that runs at the same time needs memory, and becomes a part of a table.
    const connection = await openConnection(access, WRITERS);
    let isClosing = false;
    void listener.ended.then(async (reason) => {
      removeAccessFile(directory);
      if (!isClosing) log.warn({ reason, lines: listener.listLines() }, 'the engine stopped unexpectedly');
      await Promise.all([connection.reader.close(), connection.writer.close()]);
    });
    return {
      access,
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
  function shareAccess({ pid, address }: Listener, reader: User): void {
    try {
      writeAccessFile(directory, { pid, address, password: reader.password });
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'failed to write endpoint.json of the engine; backups need it');
    }
  }

  return {
    kind: 'embedded',
    concurrency: READERS,
    connect: async () => (await supervisor.get()).connection,
    isRunning: supervisor.isRunning,
    getAccess: async () => (await supervisor.get()).access,
    close: supervisor.close,
  };
}

/** Also for a directory that cannot be written, or a disk that is full. */
function toStartError(error: Error, directory: string): AppError {
  const output = error instanceof StartFailure ? error.lines.join('\n') : '';
  if (/Cannot lock file|already running/.test(output)) return directoryInUse(directory, error);
  const [, reason = error.message] = /DB::Exception: (.{1,200})/.exec(output) ?? [];
  return unavailable(`The engine could not be started: ${reason}`, error, 5);
}
