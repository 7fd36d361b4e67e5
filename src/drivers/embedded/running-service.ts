import { join } from 'node:path';
import type { Logger } from 'pino';
import { SECOND_MS } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import { newStartSecret, type User } from '../../listener/configuration.ts';
import { StartFailure, startListener, withUser } from '../../listener/listener.ts';
import type { ListenerProcess } from '../../listener/process.ts';
import { query, queryRows, quoteName } from '../../listener/query.ts';
import type { Upstream } from '../driver.ts';
import { createServiceDirectory, type ServiceDirectory } from './directory.ts';

/** A service that answers queries. */
export interface RunningService extends ListenerProcess {
  upstream: Upstream;
  memoryMiB: number;
  version: string;
}

interface Options {
  program: string;
  library: string;
  directory: ServiceDirectory;
  memoryMiB: number;
  log: Pick<Logger, 'debug' | 'warn'>;
  /** A port of the loopback address that is free. */
  findPort(): Promise<number>;
}

/** Queries of clients run as this user. */
export const OWNER = 'owner';

const FLUSH_MS = 10 * SECOND_MS;
const MEBIBYTE = 2 ** 20;

/** Everything except what would end the listener or change its users. The owner can still stop its own queries. */
const OWNER_GRANTS = [
  'GRANT ALL ON *.*',
  'REVOKE SYSTEM SHUTDOWN, SYSTEM LISTEN, SYSTEM RELOAD USERS, KILL QUERY ON *.*',
];

/** Starts the process and waits until it answers. An aborted signal ends the process. */
export async function startService(options: Options, signal: AbortSignal): Promise<RunningService> {
  const { program, library, directory, memoryMiB, log, findPort } = options;
  createServiceDirectory(directory);
  const { data, configuration, log: logFile } = directory;
  const memoryBytes = memoryMiB * MEBIBYTE;
  // Both secrets are new for each start. Once the service answers, they are only in the memory of the two processes.
  const owner: User = { name: OWNER, password: newStartSecret(), grants: OWNER_GRANTS };
  try {
    const listener = await startListener(
      {
        program,
        library,
        folder: configuration,
        data,
        logFile,
        secret: newStartSecret(),
        memoryBytes,
        users: [owner],
        server: {
          mark_cache_size: Math.floor(memoryBytes / 16),
          primary_index_cache_size: Math.floor(memoryBytes / 16),
          index_mark_cache_size: Math.floor(memoryBytes / 64),
          query_condition_cache_size: Math.floor(memoryBytes / 64),
          backups: { allowed_path: join(data, 'backups/') },
        },
        log,
        findPort,
      },
      signal,
    );
    const { address, ...process } = listener;
    return { ...process, upstream: withUser(address, owner), memoryMiB };
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    throw new AppError('unavailable', `The service did not start: ${error.message}`, { cause: error });
  }
}

/**
 * Ends the service without losing acknowledged rows. Inserts are acknowledged when their files are complete, also
 * asynchronous ones, which ClickHouse runs synchronously here. Only Buffer tables keep rows in memory.
 */
export async function stopService(service: RunningService, log: Pick<Logger, 'warn'>): Promise<void> {
  await flushBuffers(service.upstream).catch((error: Error) =>
    log.warn({ pid: service.pid, reason: error.message }, 'failed to flush the Buffer tables of an embedded service'),
  );
  service.kill();
  await service.ended;
}

async function flushBuffers(upstream: Upstream): Promise<void> {
  const signal = AbortSignal.timeout(FLUSH_MS);
  const buffers = await queryRows<[string, string]>(
    upstream,
    "SELECT database, name FROM system.tables WHERE engine = 'Buffer'",
    signal,
  );
  for (const [database, name] of buffers)
    await query(upstream, `OPTIMIZE TABLE ${quoteName(database)}.${quoteName(name)}`, signal);
}
