import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { type Answer, type Call, createClient } from './client.ts';
import { fleet as defaultFleet } from './fleet.ts';
import { createDatabase } from './postgres.ts';

export const PROGRAM = join(import.meta.dirname, '../../dist/main.js');

export type StoreName = 'libsql' | 'postgres';

export interface StartOptions {
  /** What the server is given to begin with; the shared test fleet when left out. */
  fleet?: object;
  args?: string[];
  environment?: Record<string, string>;
}

/** A server in a process of its own, on a store of its own. */
export interface TestServer {
  store: StoreName;
  url: string;
  dashboardUrl: string;
  directory: string;
  databaseUrl: string | undefined;
  pid: number;
  /** Everything on standard error so far. */
  log(): string;
  /** One request; its answer is checked against the server's OpenAPI document. */
  call(call: Call): Promise<Answer>;
  /** Ends the process and answers its exit code; the store stays. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts it again on the same store. */
  restart(args?: string[]): Promise<void>;
  /** Ends the process and removes the store. */
  remove(): Promise<void>;
}

export async function startServer(
  store: StoreName,
  { fleet = defaultFleet, args = [], environment = {} }: StartOptions = {},
): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(fleet));
  const database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
  // The engine keeps its files there also where the state lies in PostgreSQL.
  const storeArgs = ['--data', join(directory, 'data'), ...(database ? ['--database-url', database.url] : [])];
  let running: Running;
  const server: TestServer = {
    store,
    directory,
    databaseUrl: database?.url,
    url: '',
    dashboardUrl: '',
    pid: 0,
    log: () => running.log(),
    call: (call) => client(call),
    stop: (signal) => running.stop(signal),
    async restart(again = args) {
      running = await run(
        ['serve', '--port', '0', '--fleet', fleetFile, '--rate-limit', '1000000/10s', ...storeArgs, ...again],
        environment,
      );
      Object.assign(server, { url: running.url, dashboardUrl: running.dashboardUrl, pid: running.pid });
    },
    async remove() {
      await running.stop();
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
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const ready = new Promise<{ url: string; dashboardUrl: string }>((resolve, reject) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    void ended.then((code) => reject(new Error(`the server ended with ${code} before it was ready:\n${log}`)));
  });
  const { url, dashboardUrl } = await ready;
  return {
    url,
    dashboardUrl,
    pid: child.pid ?? 0,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Runs the suite once on libSQL and once on PostgreSQL; without a PostgreSQL, that half counts as skipped. */
export function onEachStore(name: string, suite: (store: StoreName) => void): void {
  describe(`${name} on libSQL`, () => suite('libsql'));
  describe.skipIf(inject('postgresUrl') === '')(`${name} on PostgreSQL`, () => suite('postgres'));
}

/** A server for all tests of the surrounding `describe`; use it inside tests and hooks only. */
export function useServer(store: StoreName, options: StartOptions = {}): TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer(store, options);
  });
  afterAll(async () => server?.remove());
  return new Proxy({} as TestServer, { get: (_, name) => Reflect.get(server ?? {}, name) });
}
