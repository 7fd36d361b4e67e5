import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Engine } from '../../engine/engine.ts';
import { AppError } from '../../kernel/errors.ts';
import { TABLES } from '../../telemetry/rows.ts';
import type { Counters } from './counters.ts';
import type { GenerationRequest, GeneratorMessage, Reply } from './messages.ts';

interface Options {
  /** The built program that makes the rows. */
  program: string;
  engine: Engine;
  order: GenerationRequest;
  isStopped(): boolean;
}

/**
 * Has a child make the rows that were ordered and writes them as they come. Answers how many there were, and the
 * counters to go on with unless it was stopped.
 */
export async function writeDay({ program, engine, order, isStopped }: Options) {
  // Nothing of our own command line or environment: it may ask for a debugger or a profile.
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

  child.on('message', async (piece: GeneratorMessage) => {
    try {
      if ('counters' in piece) counters = piece.counters;
      else {
        const { buffer, byteOffset, byteLength } = piece.lines;
        await engine.insertLines(TABLES[piece.kind], Buffer.from(buffer, byteOffset, byteLength));
        rows += piece.rows;
      }
      const answer: Reply = isStopped() ? 'stop' : 'next';
      child.send(answer, () => {});
    } catch (error) {
      failure = error;
      // It does not listen to milder signals.
      child.kill('SIGKILL');
    }
  });
  child.send(order, () => {});
  const [code] = await ended;
  if (failure) throw failure;
  if (code !== 0) throw new AppError('internal', `the program that makes it ended with ${code}`);
  return { rows, counters };
}
