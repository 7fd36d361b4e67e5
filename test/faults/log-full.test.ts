import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { withSecretsKey } from '../support/secrets-key.ts';
import { PROGRAM } from '../support/server.ts';

/** It starts a server process and sends it thousands of requests. */
const LIMIT = { timeout: 300_000 };

const FULL = '/dev/full';

describe.skipIf(!existsSync(FULL))('a log that cannot be written', () => {
  it('stops the server neither from serving requests nor from shutting down', LIMIT, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--data', join(directory, 'data')], {
      stdio: ['ignore', 'pipe', openSync(FULL, 'w')],
      // A long run has variables that the program does not know.
      env: { PATH: process.env.PATH, ...withSecretsKey() },
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const line = await new Promise<string>((resolve) => {
        if (child.stdout) createInterface({ input: child.stdout }).once('line', resolve);
      });
      const { url } = JSON.parse(line);
      for (let request = 0; request < 200; request++) expect((await fetch(`${url}/healthz`)).status).toBe(200);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
