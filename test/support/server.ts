import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { getWriterUrl, startClickHouseServer } from './clickhouse-server.ts';
import { type ApiResponse, type Call, createClient } from './client.ts';
import { closeIdleConnections } from './connections.ts';
import { fleet as defaultFleet } from './fleet.ts';
import { runInProcess } from './in-process.ts';
import { isLongRun } from './long-run.ts';
import { createDatabase, MIGRATED } from './postgres.ts';
import { withSecretsKey } from './secrets-key.ts';

export const PROGRAM = join(import.meta.dirname, '../../dist/main.js');

/** Of hooks: starting processes, engines or PostgreSQL took up to a minute at a load average of 50 on two cores. */
export const START_LIMIT_MS = 120_000;

export type StoreName = 'libsql' | 'postgres';

export interface StartOptions {
  /** The initial fleet; by default the shared test fleet. */
  fleet?: object;
  args?: string[];
  /** Starts an engine that several servers can share, and uses it as a ClickHouse server. */
  sharedEngine?: boolean;
  environment?: Record<string, string>;
  /** Runs the server in the test process, which starts it in a fraction of the time; it has no `pid` and no `log`. */
  inProcess?: boolean;
  /** The PostgreSQL server to use; by default the one that all tests share. */
  postgresUrl?: string | undefined;
}

/** A server with its own store. */
export interface TestServer {
  store: StoreName;
  /**
   * Everything else that opens its libSQL file must run in the test process too, or nothing: connections of one process
   * share state that another process can make invalid.
   */
  inProcess: boolean;
  url: string;
  dashboardUrl: string;
  directory: string;
  databaseUrl: string | undefined;
  pid: number;
  args: string[];
  /** Everything on standard error so far. */
  log(): string;
  /** Sends a request and checks the response against the server's OpenAPI document. */
  call(call: Call): Promise<ApiResponse>;
  /** Stops the process and resolves with its exit code; the store remains. A test about stopping names the signal: without it, idle connections are closed first. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts the server again on the same store. */
  restart(args?: string[]): Promise<void>;
  /** Stops the process and removes the store. */
  remove(): Promise<void>;
}

export async function startServer(store: StoreName, options: StartOptions = {}): Promise<TestServer> {
  const { fleet = defaultFleet, args: given = [], sharedEngine = false, environment = {} } = options;
  const { postgresUrl = inject('postgresUrl'), inProcess = false } = options;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const template = postgresUrl === inject('postgresUrl') ? { template: MIGRATED } : {};
  const database = store === 'postgres' ? await createDatabase(postgresUrl, template) : undefined;
  const engine = sharedEngine ? await startClickHouseServer(join(directory, 'shared-engine')) : undefined;
  const args = [...given, ...(engine ? ['--clickhouse-url', getWriterUrl(engine)] : [])];
  // The engine's files are in this directory even if the state is in PostgreSQL.
  const storeArgs = ['--data', join(directory, 'data'), ...(database ? ['--database-url', database.url] : [])];
  let running: Running;
  let stopRunning = async () => {};
  const server: TestServer = {
    store,
    inProcess,
    directory,
    databaseUrl: database?.url,
    args,
    url: '',
    dashboardUrl: '',
    pid: 0,
    log: () => running.log(),
    call: (call) => client(call),
    stop: (signal) => running.stop(signal),
    async restart(again = args) {
      // A process that is killed needs no stop.
      await stopRunning();
      running = await (inProcess ? serveInProcess : run)(
        ['serve', '--port', '0', '--fleet', fleetFile, '--rate-limit', '1000000/10s', ...storeArgs, ...again],
        environment,
      );
      if (inProcess) stopRunning = async () => void (await running.stop());
      Object.assign(server, { url: running.url, dashboardUrl: running.dashboardUrl, pid: running.pid });
    },
    async remove() {
      await running.stop();
      await engine?.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  const client = createClient(() => server);
  await server.restart();
  return server;
}

interface Running {
  url: string;
  dashboardUrl: string;
  pid: number;
  log(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the built program and waits for its ready line. */
export async function run(args: string[], environment: Record<string, string> = {}): Promise<Running> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH, ...withSecretsKey(environment) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const ready = new Promise<{ url: string; dashboardUrl: string }>((resolve, reject) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    void ended.then((code) => reject(new Error(`the server exited with ${code} before it was ready:\n${log}`)));
  });
  const { url, dashboardUrl } = await ready;
  return {
    url,
    dashboardUrl,
    pid: child.pid ?? 0,
    log: () => log,
    async stop(signal) {
      if (signal === undefined) closeIdleConnections();
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** As `run`, in the test process. */
export async function serveInProcess(args: string[], environment: Record<string, string> = {}): Promise<Running> {
  const { firstLine, finished, stop } = runInProcess(args, environment);
  const line = await firstLine;
  if (line === undefined) throw new Error(`the server ended before it was ready:\n${(await finished).stderr}`);
  const { url, dashboardUrl } = JSON.parse(line);
  return {
    url,
    dashboardUrl,
    pid: 0,
    log() {
      throw new Error('only a server with its own process has a log');
    },
    async stop(signal) {
      if (signal === undefined) closeIdleConnections();
      else if (signal !== 'SIGTERM') throw new Error('only a server with its own process can be killed');
      stop();
      return (await finished).code;
    },
  };
}

/** Runs the suite on libSQL and on PostgreSQL; the latter is skipped if PostgreSQL is not installed. */
export function onEachStore(name: string, suite: (store: StoreName) => void): void {
  describe(`${name} on libSQL`, () => suite('libsql'));
  describe.skipIf(inject('postgresUrl') === '')(`${name} on PostgreSQL`, () => suite('postgres'));
}

/** As `onEachStore` in `npm run faults`, and on one store otherwise: for tests that take long and differ little between the stores. */
export function onEachStoreInLongRuns(
  name: string,
  suite: (store: StoreName) => void,
  { short = 'libsql' }: { short?: StoreName } = {},
): void {
  if (isLongRun || inject('postgresUrl') === '') onEachStore(name, suite);
  else describe(`${name} on ${short === 'libsql' ? 'libSQL' : 'PostgreSQL'}`, () => suite(short));
}

/**
 * A server shared by the tests of the surrounding `describe`; use it inside tests and hooks only. Runs in the test process
 * unless `inProcess` is false.
 */
export function useServer(store: StoreName, options: StartOptions = {}): TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer(store, { inProcess: true, ...options });
  }, START_LIMIT_MS);
  afterAll(async () => server?.remove(), START_LIMIT_MS);
  return new Proxy({} as TestServer, { get: (_, name) => Reflect.get(server ?? {}, name) });
}
