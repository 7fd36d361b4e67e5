import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../kernel/clock.ts';
import { createEmbeddedBackend } from './embedded-backend.ts';
import type { Engine } from './engine.ts';
import { defaultMemoryBytes } from './memory.ts';
import { type EngineObserver, unobserved } from './observer.ts';
import { createEngine } from './operations.ts';
import { findInPackage } from './package-files.ts';
import { createServerBackend } from './server-backend.ts';

interface Options {
  /** The embedded engine keeps its files in `engine` below it. */
  dataDirectory: string;
  /** A ClickHouse server instead of the embedded engine; may carry user, password and database. */
  clickhouseUrl?: string | undefined;
  /** What the embedded engine may use altogether. */
  engineMemoryBytes?: number | undefined;
  clock: Clock;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  observer?: EngineObserver;
  /** The child's program; the one this package was built with when left out. */
  program?: string;
}

/** Opens nothing yet: whatever has to be started is started by the first query, insert or `start()`. */
export function openEngine({
  dataDirectory,
  clickhouseUrl,
  engineMemoryBytes = defaultMemoryBytes(),
  clock,
  log,
  observer = unobserved,
  program = findInPackage('dist/engine.js'),
}: Options): Engine {
  const migrationsFolder = findInPackage('migrations/engine');
  if (migrationsFolder === undefined) throw new Error('The folder migrations/engine is missing from this installation');
  const backend = clickhouseUrl
    ? createServerBackend({ url: clickhouseUrl, log, observer })
    : createEmbeddedBackend({
        directory: join(dataDirectory, 'engine'),
        program,
        memoryBytes: engineMemoryBytes,
        clock,
        log,
        observer,
      });
  return createEngine({ backend, migrationsFolder, clock, log, observer });
}
