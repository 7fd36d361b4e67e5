import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Isolation, StartMessage, StartReport } from './program/messages.ts';

export interface ListenerProcess {
  pid: number;
  /** Set as soon as the process has restricted itself. */
  getIsolation(): Isolation | undefined;
  /** Whether it listens on its native port. */
  hasNative(): boolean;
  /** Resolves with the reason when the process has ended and its output has been read. */
  ended: Promise<string>;
  /** The last lines of its output. */
  listLines(): readonly string[];
  /** Ends it at once. Safe at any time: what ClickHouse has acknowledged is in files. */
  kill(): void;
}

/** Takes the standard error of a process. */
export interface ErrorOutput {
  stream: Writable;
  /** What the process has written so far, except for logged errors of queries. */
  listLines(): readonly string[];
}

const LAST_LINES = 20;
const MAX_LINE_CHARACTERS = 500;

export function startProcess(
  program: string,
  message: StartMessage,
  cwd: string,
  log: Pick<Logger, 'debug'>,
  errors?: ErrorOutput,
): ListenerProcess {
  // One thread of V8 and one of libuv: ClickHouse has its own.
  const child = spawn(process.execPath, ['--v8-pool-size=1', program], {
    cwd,
    // None of our environment variables, and times in UTC.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let report: StartReport | undefined;
  const addLine = (line: string) => {
    log.debug({ line: line.slice(0, MAX_LINE_CHARACTERS) }, 'clickhouse');
    lines.push(line.slice(0, MAX_LINE_CHARACTERS));
    if (lines.length > LAST_LINES) lines.shift();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (report !== undefined) return addLine(line);
    report = JSON.parse(line);
  });
  if (errors) child.stderr.pipe(errors.stream, { end: false });
  else createInterface({ input: child.stderr }).on('line', addLine);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  // The process may end before it has read the message.
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    pid: child.pid ?? 0,
    getIsolation: () => report?.isolation,
    hasNative: () => report?.hasNative ?? false,
    ended,
    listLines: () => [...lines, ...(errors?.listLines() ?? [])].slice(-LAST_LINES),
    kill: () => void child.kill('SIGKILL'),
  };
}
