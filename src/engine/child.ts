import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { SECOND_MS } from '../kernel/clock.ts';
import type { Command, EngineOptions, StartupFailure, StartupReport } from './embedded/messages.ts';

/** The running engine process. */
export interface Child {
  pid: number;
  port: number;
  /** Resolves with the exit reason. */
  ended: Promise<string>;
  /** Stops the process, and kills it if it does not exit in time. */
  close(): Promise<void>;
}

/** The process failed to start; `lines` are the last lines of its output. */
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
  options: EngineOptions;
  log: Pick<Logger, 'debug' | 'warn'>;
}

const LAST_LINES = 20;
const START_MS = 120 * SECOND_MS;
const CLOSE_MS = 5 * SECOND_MS;
/** Threads for kills and compression, in addition to one per statement. */
const SPARE_THREADS = 4;

export async function startChild({ program, options, log }: Options): Promise<Child> {
  const child = fork(program, [], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // The child gets none of our environment variables. Times are in UTC regardless of the machine's time zone.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: String(options.readers + options.writers + SPARE_THREADS) },
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
  // Resolves after `ended`, once all output has been read.
  const outputClosed = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const send = (command: Command) => {
    if (child.connected) child.send(command, () => {});
  };
  const kill = () => void child.kill('SIGKILL');
  // The process exits with us even if it is frozen and cannot notice that we are gone.
  process.once('exit', kill);
  void ended.then(() => process.removeListener('exit', kill));
  const startTimeout = setTimeout(kill, START_MS);
  const report = await new Promise<StartupReport>((resolve) => {
    child.once('message', resolve);
    void ended.then((reason) => resolve({ failed: { isMissing: false, text: `the process stopped: ${reason}` } }));
    send({ open: options });
  });
  clearTimeout(startTimeout);
  if ('failed' in report) {
    const closeTimeout = setTimeout(kill, CLOSE_MS);
    await outputClosed;
    clearTimeout(closeTimeout);
    throw new StartFailure(report.failed, lines);
  }
  let isClosing = false;
  void outputClosed.then(async () => {
    if (!isClosing) log.warn({ reason: await ended, lines }, 'the engine stopped unexpectedly');
  });
  return {
    pid: child.pid ?? 0,
    port: report.ready.port,
    ended,
    async close() {
      isClosing = true;
      send({ close: true });
      const closeTimeout = setTimeout(kill, CLOSE_MS);
      await ended;
      clearTimeout(closeTimeout);
    },
  };
}
