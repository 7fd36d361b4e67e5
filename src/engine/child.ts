import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { SECOND_MS } from '../kernel/clock.ts';
import type { Command, EngineOptions, StartupFailure, StartupReport } from './embedded/messages.ts';

/** The engine's process while it runs. */
export interface Child {
  pid: number;
  port: number;
  /** Resolves with how it ended, whoever ended it. */
  ended: Promise<string>;
  /** Lets it finish; by force when it does not. */
  close(): Promise<void>;
}

/** It never came up; `lines` is what it said on standard error. */
export class StartFailure extends Error {
  readonly failure: StartupFailure;
  readonly lines: string[];
  constructor(failure: StartupFailure, lines: string[]) {
    super(failure.text);
    this.failure = failure;
    this.lines = lines;
  }
}

interface Options {
  program: string;
  order: EngineOptions;
  log: Pick<Logger, 'debug' | 'warn'>;
}

const LAST_LINES = 20;
const START_MS = 120 * SECOND_MS;
const CLOSE_MS = 10 * SECOND_MS;
/** For kills, compression and whatever else Node gives to its threads, beside one for each statement. */
const SPARE_THREADS = 4;

export async function startChild({ program, order, log }: Options): Promise<Child> {
  const child = fork(program, [], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A clean environment: nothing of ours that it need not know, and times in UTC wherever the machine stands.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: String(order.readers + order.writers + SPARE_THREADS) },
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      log.debug({ line }, 'engine');
      lines.push(line);
      if (lines.length > LAST_LINES) lines.shift();
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  // Later than its end: everything it said has been read.
  const silent = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const send = (instruction: Command) => {
    if (child.connected) child.send(instruction, () => {});
  };
  const kill = () => void child.kill('SIGKILL');
  const tooLate = setTimeout(kill, START_MS);
  const report = await new Promise<StartupReport>((resolve) => {
    child.once('message', resolve);
    void ended.then((how) => resolve({ failed: { isMissing: false, text: `it ended with ${how}` } }));
    send({ open: order });
  });
  clearTimeout(tooLate);
  if ('failed' in report) {
    const tooLong = setTimeout(kill, CLOSE_MS);
    await silent;
    clearTimeout(tooLong);
    throw new StartFailure(report.failed, lines);
  }
  let isWanted = true;
  void silent.then(async () => {
    if (isWanted) log.warn({ how: await ended, lines }, 'the engine ended by itself');
  });
  return {
    pid: child.pid ?? 0,
    port: report.ready.port,
    ended,
    async close() {
      isWanted = false;
      send({ close: true });
      const tooLong = setTimeout(kill, CLOSE_MS);
      await ended;
      clearTimeout(tooLong);
    },
  };
}
