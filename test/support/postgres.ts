import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { listChildren } from './processes.ts';

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

/** Starts a PostgreSQL server with its own directory, on a free loopback port, and not as root, which PostgreSQL rejects. */
export async function openPostgres(): Promise<Postgres | undefined> {
  const binaries = findPostgresBinaries();
  if (!binaries) return undefined;
  const account = findUnprivilegedAccount();
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-postgres-'));
  if (account) chownSync(directory, account.uid, account.gid);
  const asAccount = { ...account, cwd: directory };
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', join(directory, 'data'), '-U', 'pilothouse', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    {
      ...asAccount,
      stdio: 'pipe',
    },
  );
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
    child = spawn(join(binaries, 'postgres'), ['-D', join(directory, 'data'), '-p', String(port), ...settings], {
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
    for (const one of [pid, ...listChildren(pid)]) process.kill(one, signal);
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

export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** Creates an empty database. The caller must drop it. */
export async function createDatabase(maintenanceUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: maintenanceUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
