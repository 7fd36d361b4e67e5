#!/usr/bin/env node
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { openFile, readFile, readFileMode, writeFile, writeNewFile, writePrivateFile } from './cli/files.ts';
import { runProgram } from './cli/program.ts';
import { promptSecret } from './cli/secret-prompt.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Containers may run as a user id without a name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user';
  }
}

// A reader that closes its end of the pipe (`| head`) ends the program without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
// A message that cannot be written, to a full disk for example, must not stop a server.
process.stderr.on('error', (error: NodeJS.ErrnoException) => void (error.code === 'EPIPE' && process.exit(0)));

const MAX_STOP_MS = 30_000;

/** A second signal exits immediately, and so does a shutdown that takes too long. */
function waitForStop(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        setTimeout(() => process.exit(1), MAX_STOP_MS).unref();
        resolve();
      });
    }
  });
}

// The arguments of a process can be seen by every user of the machine; a title replaces them.
if (process.argv.some((argument) => /^--(key|password)(=|$)/.test(argument))) process.title = 'pilothouse';

process.exitCode = await runProgram(process.argv.slice(2), {
  environment: process.env,
  readFile,
  readFileMode,
  writeFile,
  writeNewFile,
  writePrivateFile,
  readSecret: (prompt) =>
    promptSecret(
      {
        input: process.stdin,
        write: (text) => process.stderr.write(text),
        interrupt: () => process.kill(process.pid, 'SIGINT'),
      },
      prompt,
    ),
  openFile,
  print: (line) => process.stdout.write(`${line}\n`),
  async write(bytes) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  },
  printMessage: (line) => process.stderr.write(`${line}\n`),
  hasTerminal: process.stderr.isTTY === true,
  showProgress: (line) => void (process.stderr.isTTY && process.stderr.write(CLEAR_LINE + line)),
  waitForStop,
  onToggleDebug(listener) {
    // Windows has no such signal. SIGUSR1 starts Node's debugger.
    if (process.platform !== 'win32') process.on('SIGUSR2', listener);
  },
  userName: readUserName(),
});
