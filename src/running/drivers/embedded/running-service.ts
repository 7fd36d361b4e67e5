import type { Logger } from 'pino';
import { AppError } from '../../../kernel/errors.ts';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Upstream } from '../../../management/services/driver.ts';
import { type Elements, newStartSecret } from '../../../platform/listener/configuration.ts';
import { StartFailure, startListener, withUser } from '../../../platform/listener/listener.ts';
import type { ListenerProcess } from '../../../platform/listener/process.ts';
import { query, queryRows, quoteName } from '../../../platform/listener/query.ts';
import { prepareServiceDirectory, type ServiceDirectory } from './directory.ts';
import { openLog } from './log-file.ts';
import { listServerSettings } from './server-settings.ts';
import { createUsers } from './users.ts';

/** A service that answers queries. */
export interface RunningService extends ListenerProcess {
  upstream: Upstream;
  /** Of the user that backs the service up. */
  backupUpstream: Upstream;
  memoryMiB: number;
  version: string;
}

interface Options {
  program: string;
  library: string;
  directory: ServiceDirectory;
  memoryMiB: number;
  /** Further elements of the configuration. */
  server?: Elements;
  log: Pick<Logger, 'debug' | 'warn'>;
  /** A port of the loopback address that is free. */
  findPort(): Promise<number>;
}

const FLUSH_MS = 10 * SECOND_MS;
const MEBIBYTE = 2 ** 20;

/** Starts the process and waits until it answers. An aborted signal ends the process. */
export async function startService(options: Options, signal: AbortSignal): Promise<RunningService> {
  const { program, library, directory, memoryMiB, server, log, findPort } = options;
  prepareServiceDirectory(directory);
  const { data, configuration } = directory;
  const memoryBytes = memoryMiB * MEBIBYTE;
  // All secrets are new for each start, and only in the memory of the two processes.
  const { owner, reader, admin, stopper, backup } = createUsers(memoryBytes);
  const errors = openLog(directory.log);
  try {
    const listener = await startListener(
      {
        program,
        library,
        folder: configuration,
        data,
        secret: newStartSecret(),
        memoryBytes,
        isNative: true,
        users: [owner, reader, admin, stopper, backup],
        server: { ...listServerSettings(data, memoryBytes), ...server },
        errors,
        log,
        findPort,
      },
      signal,
    );
    const { address, nativePort, ...process } = listener;
    void process.ended.then(errors.close);
    const sqlUsers = {
      reader: withUser(address, reader).headers,
      admin: withUser(address, admin).headers,
      stopper: withUser(address, stopper).headers,
    };
    return {
      ...process,
      upstream: {
        ...withUser(address, owner),
        sqlUsers,
        native: nativePort === undefined ? undefined : { port: nativePort, user: owner.name, password: owner.password },
      },
      backupUpstream: withUser(address, backup),
      memoryMiB,
    };
  } catch (error) {
    errors.close();
    if (!(error instanceof StartFailure)) throw error;
    throw new AppError('unavailable', `The service did not start: ${error.message}`, { cause: error });
  }
}

/**
 * Ends the service without losing acknowledged rows. Inserts are acknowledged when their files are complete, also
 * asynchronous ones, which ClickHouse runs synchronously here. Only Buffer tables and the query log keep rows in memory.
 */
export async function stopService(service: RunningService, log: Pick<Logger, 'warn'>): Promise<void> {
  await flushBuffers(service.upstream).catch((error: Error) =>
    log.warn({ pid: service.pid, reason: error.message }, 'failed to flush the memory of an embedded service'),
  );
  service.kill();
  await service.ended;
}

async function flushBuffers(upstream: Upstream): Promise<void> {
  const signal = limitTime(FLUSH_MS);
  const buffers = await queryRows<[string, string]>(
    upstream,
    "SELECT database, name FROM system.tables WHERE engine = 'Buffer'",
    signal,
  );
  for (const [database, name] of buffers)
    await query(upstream, `OPTIMIZE TABLE ${quoteName(database)}.${quoteName(name)}`, signal);
  await query(upstream, 'SYSTEM FLUSH LOGS', signal);
}
