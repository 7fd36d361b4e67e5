import { fork } from 'node:child_process';
import { once } from 'node:events';
import { AppError } from '../../../kernel/errors.ts';
import { TABLES } from '../../../observability/own-telemetry/rows.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { Counters } from './counters.ts';
import type { GenerationRequest, GeneratorMessage, Reply } from './messages.ts';

interface Options {
  /** Path of the program that generates the rows. */
  program: string;
  engine: Engine;
  request: GenerationRequest;
  isStopped(): boolean;
}

/**
 * Generates the requested rows in a child process and writes them as they arrive. Returns their number, and the counters to
 * continue with unless it was stopped.
 */
export async function writeDay({ program, engine, request, isStopped }: Options) {
  // Not the arguments and environment of this process: they may enable a debugger or a profiler.
  const child = fork(program, {
    serialization: 'advanced',
    execArgv: [],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  let rows = 0;
  let counters: Counters | undefined;
  let failure: unknown;

  child.on('message', async (message: GeneratorMessage) => {
    try {
      if ('counters' in message) counters = message.counters;
      else {
        const { buffer, byteOffset, byteLength } = message.lines;
        await engine.insertLines(TABLES[message.kind], Buffer.from(buffer, byteOffset, byteLength));
        rows += message.rows;
      }
      const reply: Reply = isStopped() ? 'stop' : 'next';
      child.send(reply, () => {});
    } catch (error) {
      failure = error;
      // The child ignores other signals.
      child.kill('SIGKILL');
    }
  });
  child.send(request, () => {});
  const [code] = await ended;
  if (failure) throw failure;
  if (code !== 0) throw new AppError('internal', `the demo telemetry generator exited with code ${code}`);
  return { rows, counters };
}
