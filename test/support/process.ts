import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { PROGRAM } from './server.ts';

export interface Program {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first line on standard output, or undefined when the program ended without one. */
  firstLine: Promise<string | undefined>;
  /** Exit code, or null when a signal ended it. */
  ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/** The built program, however it ends; `run` in server.ts is for servers that are meant to come up. */
export function spawnProgram(
  args: string[],
  { program = PROGRAM, environment = {} }: { program?: string; environment?: Record<string, string> } = {},
): Program {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...environment },
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

/** The processes that a process has started itself. */
export const listChildren = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  );
