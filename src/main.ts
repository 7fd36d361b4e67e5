#!/usr/bin/env node
import { once } from 'node:events';
import { createReadStream, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { run } from './cli/program.ts';

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user';
  }
};

// Whoever reads our output may stop reading (`| head`): that is the end, and no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}

const stopped = (): Promise<void> =>
  new Promise((resolve) => {
    let isAsked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // A second signal means: now.
        if (isAsked) process.exit(1);
        isAsked = true;
        resolve();
      });
    }
  });

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  readFile: (path) => readFileSync(path, 'utf8'),
  writeFile: (path, text) => writeFileSync(path, text),
  openFile(path) {
    const fd = openSync(path, 'r');
    return { bytes: fstatSync(fd).size, chunks: createReadStream(path, { fd, highWaterMark: 1024 * 1024 }) };
  },
  print: (line) => process.stdout.write(`${line}\n`),
  async write(bytes) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  },
  say: (line) => process.stderr.write(`${line}\n`),
  redraw: (line) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${line}`)),
  stopped,
  user: userName(),
});
