import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SECOND_MS } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Upstream } from '../driver.ts';
import { OWNER, removeConfiguration, SECRET_HEADER, type Secrets, writeConfiguration } from './configuration.ts';
import { createServiceDirectory, type ServiceDirectory } from './directory.ts';
import { type ServiceProcess, startProcess } from './process.ts';
import { query, queryRows, quoteName } from './query.ts';

/** A service that answers queries. */
export interface RunningService extends ServiceProcess {
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

const START_MS = 120 * SECOND_MS;
const POLL_MS = 10;
const FLUSH_MS = 10 * SECOND_MS;
/** Another process can take the free port before ClickHouse does. */
const PORT_ATTEMPTS = 5;
const MAX_REASON_CHARACTERS = 300;

/** Starts the process and waits until it answers. An aborted signal ends the process. */
export async function startService(options: Options, signal: AbortSignal): Promise<RunningService> {
  createServiceDirectory(options.directory);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  for (let attempt = 1; ; attempt++) {
    const started = await tryStart(options, await options.findPort(), limit);
    if (!('failure' in started)) return started;
    if (signal.aborted) throw new AppError('unavailable', 'The start of the service was canceled');
    if (limit.aborted) throw new AppError('unavailable', `The service did not start within ${START_MS / SECOND_MS} s`);
    if (attempt === PORT_ATTEMPTS || !/Address already in use/i.test(started.failure))
      throw new AppError('unavailable', `The service did not start: ${started.failure}`);
  }
}

async function tryStart(
  options: Options,
  port: number,
  signal: AbortSignal,
): Promise<RunningService | { failure: string }> {
  const { program, library, directory, memoryMiB, log } = options;
  // New for each start; in memory of the two processes only, once the service answers.
  const secrets: Secrets = { header: newSecret(), password: newSecret() };
  const upstream: Upstream = {
    host: '127.0.0.1',
    port,
    headers: {
      [SECRET_HEADER]: secrets.header,
      'X-ClickHouse-User': OWNER,
      'X-ClickHouse-Key': secrets.password,
    },
  };
  try {
    const values = writeConfiguration({ directory, port, memoryMiB, secrets });
    const { data, configuration } = directory;
    const process = startProcess(program, { library, data, configuration, port, arguments: values }, data, log);
    const version = await waitForAnswer(process, upstream, signal);
    if (version !== undefined) return { ...process, upstream, memoryMiB, version };
    process.kill();
    return { failure: describeEnd(process, await process.ended) };
  } finally {
    removeConfiguration(directory);
  }
}

/** The version of the service; undefined if the process ended or the signal was aborted. */
async function waitForAnswer(
  process: ServiceProcess,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ended = new AbortController();
  void process.ended.then(() => ended.abort());
  const limit = AbortSignal.any([signal, ended.signal]);
  while (!limit.aborted) {
    // Another process that took the port does not know the header, so it is not mistaken for the service.
    const version = await query(upstream, 'SELECT version()', limit).catch(() => undefined);
    if (version !== undefined) return version.trim();
    await delay(POLL_MS);
  }
  return undefined;
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

/** Why a process ended, in one sentence, with the last line of its output that tells more. */
export function describeEnd(process: ServiceProcess, reason: string): string {
  const line = process.listLines().findLast((text) => /Exception|rror/.test(text)) ?? process.listLines().at(-1);
  return `the process ended with ${reason}${line === undefined ? '' : `: ${line.slice(0, MAX_REASON_CHARACTERS)}`}`;
}

const newSecret = (): string => randomBytes(32).toString('hex');

export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
