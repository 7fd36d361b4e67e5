import { openFile, readFile, readFileMode, writeFile, writeNewFile, writePrivateFile } from '../../src/cli/files.ts';
import { runProgram } from '../../src/cli/program.ts';
import { withSecretsKey } from './secrets-key.ts';

export interface FinishedCommand {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that runs in the test process, without the cost of starting one. */
interface RunningCommand {
  /** The first line on standard output; undefined if the command ends without one. */
  firstLine: Promise<string | undefined>;
  finished: Promise<FinishedCommand>;
  /** As SIGTERM does. */
  stop(): void;
}

/** Log messages are dropped: they go to the standard error of the process. */
export function runInProcess(args: readonly string[], environment: Record<string, string> = {}): RunningCommand {
  const stdout: Uint8Array[] = [];
  const stderr: string[] = [];
  let printed = (_line: string | undefined) => {};
  const firstLine = new Promise<string | undefined>((resolve) => {
    printed = resolve;
  });
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const run = async (): Promise<FinishedCommand> => {
    const code = await runProgram(args, {
      environment: { PILOTHOUSE_LOG_LEVEL: 'silent', ...withSecretsKey(environment) },
      readFile,
      readFileMode,
      writeFile,
      writeNewFile,
      writePrivateFile,
      readSecret: async () => undefined,
      openFile,
      print(line) {
        stdout.push(Buffer.from(`${line}\n`));
        printed(line);
      },
      async write(bytes) {
        stdout.push(Uint8Array.from(bytes));
      },
      printMessage: (line) => void stderr.push(`${line}\n`),
      hasTerminal: false,
      showProgress() {},
      waitForStop: () => stopped,
      onToggleDebug() {},
      userName: 'test',
    });
    printed(undefined);
    return { code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: stderr.join('') };
  };
  return { firstLine, finished: run(), stop };
}
