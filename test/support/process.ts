import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readIfPresent } from './processes.ts';
import { withSecretsKey } from './secrets-key.ts';
import { PROGRAM } from './server.ts';

export interface Program {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first line on standard output, or undefined if the program exited without one. */
  firstLine: Promise<string | undefined>;
  /** The exit code, or null if a signal ended the program. */
  ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

interface SpawnOptions {
  program?: string;
  environment?: Record<string, string>;
  /** A command that starts the program. */
  wrapper?: readonly string[];
}

/** Runs the built program, for tests in which it may fail. For servers that must start, use `run` in server.ts. */
export function spawnProgram(
  args: string[],
  { program = PROGRAM, environment = {}, wrapper = [] }: SpawnOptions = {},
): Program {
  const [command = '', ...rest] = [...wrapper, process.execPath, program, ...args];
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, ...withSecretsKey(environment) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const firstLine = new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', () => {
      if (output.stdout.includes('\n')) resolve(output.stdout.split('\n', 1)[0]);
    });
    void ended.then(() => resolve(undefined));
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    firstLine,
    ended,
    kill: (signal) => void child.kill(signal),
  };
}

/**
 * Counts the TCP connections on which a process has unread data (Linux). For a stopped process, these are requests in
 * flight.
 */
export function countUnreadConnections(pid: number): number {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const link = readIfPresent(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '';
      const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? [];
      return inode === undefined ? [] : [inode];
    }),
  );
  const sockets = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [, local = '', , state, queues = '', , , , , inode = ''] = line.trim().split(/\s+/);
      return { port: local.split(':')[1], state, unreadBytes: Number.parseInt(queues.split(':')[1] ?? '0', 16), inode };
    });
  const [LISTEN, ESTABLISHED] = ['0A', '01'];
  const listening = sockets.find(({ state, inode }) => state === LISTEN && inodes.has(inode));
  return sockets.filter(
    ({ port, state, unreadBytes }) => port === listening?.port && state === ESTABLISHED && unreadBytes > 0,
  ).length;
}
