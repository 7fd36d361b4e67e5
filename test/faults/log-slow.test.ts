import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { withSecretsKey } from '../support/secrets-key.ts';
import { PROGRAM } from '../support/server.ts';

/** It starts a server process and sends it thousands of requests. */
const LIMIT = { timeout: 300_000 };

it('a log that is not read for a while delays no request and loses no line', LIMIT, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--data', join(directory, 'data')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A long run has variables that the program does not know.
    env: { PATH: process.env.PATH, ...withSecretsKey() },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const line = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    const { url } = JSON.parse(line);
    // More than the buffer of a pipe.
    for (let round = 0; round < 100; round++)
      await Promise.all(
        Array.from({ length: 20 }, async () => expect((await fetch(`${url}/healthz`)).status).toBe(200)),
      );
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    // The link of the first run is printed between the lines of the log.
    const lines = text
      .split('\n')
      .filter((one) => one.startsWith('{'))
      .map((one) => JSON.parse(one).msg);
    expect(lines.filter((message) => message === 'request completed')).toHaveLength(2000);
    expect(lines.at(-1)).toBe('stopped');
  } finally {
    child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
});
