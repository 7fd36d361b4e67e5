import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Backend } from './backends/backend.ts';
import { createEmbeddedBackend } from './backends/embedded-backend.ts';
import { defaultMemoryBytes } from './backends/memory.ts';
import { createServerBackend } from './backends/server-backend.ts';
import { createSharedBackend, type SharedEngine } from './backends/shared-backend.ts';
import type { Engine } from './engine.ts';
import { type EngineObserver, unobserved } from './observer.ts';
import { createEngine } from './operations.ts';

interface Options {
  /** The embedded engine stores its files in the subdirectory `engine`. */
  dataDirectory: string;
  /** A ClickHouse server to use instead of the embedded engine; may contain user, password and database. */
  clickhouseUrl?: string | undefined;
  /** The cluster of that server whose shards hold our tables. */
  clickhouseCluster?: string | undefined;
  /** The embedded engine's total memory limit. */
  engineMemoryBytes?: number | undefined;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  observer?: EngineObserver;
  /** How long telemetry is kept. Only the server sets it: a command may have other settings. */
  retentionDays?: number | undefined;
  /** Path of the listener program; by default the one in this package. */
  program?: string;
  /** The embedded engine of another process, to use instead of one of this process. */
  shared?: SharedEngine | undefined;
}

/** Starts nothing yet: the first query, insert or `start()` does. Must be closed. */
export function openEngine(options: Options): Engine {
  const { clock, log, observer = unobserved, retentionDays } = options;
  return createEngine({ backend: openBackend(options), clock, log, observer, retentionDays });
}

/** The same without our tables: it does not migrate them. */
export function openBackend({
  dataDirectory,
  clickhouseUrl,
  clickhouseCluster,
  engineMemoryBytes = defaultMemoryBytes(),
  clock,
  log,
  observer = unobserved,
  program,
  shared,
}: Options): Backend {
  if (clickhouseUrl) return createServerBackend({ url: clickhouseUrl, cluster: clickhouseCluster, log, observer });
  if (shared) return createSharedBackend(shared);
  return createEmbeddedBackend({
    directory: join(dataDirectory, 'engine'),
    program,
    memoryBytes: engineMemoryBytes,
    clock,
    log,
    observer,
  });
}
