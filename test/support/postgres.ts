import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { listChildren, sendSignal } from './processes.ts';

/** In the server that all tests share: a database with our tables, which takes less time to copy than to migrate an empty one. */
export const MIGRATED = 'migrated';

export interface Postgres {
  /** The URL of the maintenance database; each test creates its own database. */
  url: string;
  stop(): Promise<void>;
  /** Kills the server without a shutdown. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends all its processes (Linux): connections stay open, and nothing responds. */
  freeze(): void;
  resume(): void;
  /** Stops the server and removes its directory. */
  remove(): Promise<void>;
}

/** Finds the newest installed PostgreSQL. */
function findPostgresBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(root, version, 'bin')),
    '/usr/local/bin',
    '/usr/bin',
    '/opt/homebrew/bin',
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

interface PostgresDirectories {
  data?: string;
  /** Of the write-ahead log. */
  log?: string;
}

/**
 * Starts a PostgreSQL server with its own directory, on a free loopback port, and not as root, which PostgreSQL rejects.
 * Parts of it are in other directories if these are given; the caller removes them.
 */
export async function openPostgres(given: PostgresDirectories = {}): Promise<Postgres | undefined> {
  const binaries = findPostgresBinaries();
  if (!binaries) return undefined;
  const account = findUnprivilegedAccount();
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-postgres-'));
  const { data = join(directory, 'data'), log = join(directory, 'log') } = given;
  if (account) for (const path of [directory, ...Object.values(given)]) chownSync(path, account.uid, account.gid);
  const asAccount = { ...account, cwd: directory };
  const options = ['-U', 'pilothouse', '-A', 'trust', '-E', 'UTF8', '--no-sync', '-X', log];
  // Small files, so that a small disk is soon full.
  if (given.log) options.push('--wal-segsize', '1');
  execFileSync(join(binaries, 'initdb'), ['-D', data, ...options], { ...asAccount, stdio: 'pipe' });
  const port = await findFreePort();
  const url = `postgres://pilothouse@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;

  const spawnServer = () => {
    // Without fsync, what was written survives a kill of the processes, but not a crash of the machine.
    const settings = [
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${directory}`,
      'max_connections=200',
      'fsync=off',
      'full_page_writes=off',
    ].flatMap((setting) => ['-c', setting]);
    child = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      ...asAccount,
      stdio: 'ignore',
    });
  };
  const start = async () => {
    for (let attempt = 0; ; attempt++) {
      // After a kill, a new server exits until the last process of the old one is gone.
      if (!isRunning(child)) spawnServer();
      const client = new pg.Client({ connectionString: url });
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (attempt > 1000) throw error;
        await delay(100);
      }
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    if (!running || !isRunning(running)) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await ended;
  };
  // Fast shutdown: connections are closed, data is safe.
  const stop = () => end('SIGINT');

  const signalAll = (signal: 'SIGSTOP' | 'SIGCONT') => {
    const pid = child?.pid ?? 0;
    // First the process that starts the others: none can be missing from the list.
    sendSignal(pid, signal);
    for (const one of listChildren(pid)) sendSignal(one, signal);
  };

  await start();
  return {
    url,
    start,
    stop,
    freeze: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    kill: () => end('SIGKILL'),
    async remove() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const isRunning = (child: ChildProcess | undefined): boolean => child?.exitCode === null && child.signalCode === null;

/** The account to run PostgreSQL as; undefined if the current user is not root. */
function findUnprivilegedAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const { status, stdout } = spawnSync('id', ['-u', name], { encoding: 'utf8' });
    const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' }).stdout;
    if (status === 0) return { uid: Number(stdout), gid: Number(gid) };
  }
  return { uid: 65534, gid: 65534 };
}

/** Below the ports that the system gives to connections: one of those may be taken while its server is stopped. */
const [FIRST_PORT, PORTS] = [20_000, 12_000];

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

/** Creates a database: empty, or a copy of one without connections. The caller must drop it. */
export async function createDatabase(
  maintenanceUrl: string,
  { template = 'template1', name = `test_${process.pid}_${Math.random().toString(36).slice(2, 10)}` } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: maintenanceUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
