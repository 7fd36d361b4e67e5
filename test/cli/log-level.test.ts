import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../support/server.ts';
import { until } from '../support/until.ts';

describe('SIGUSR2', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('turns debug messages on and off again, without a restart', { timeout: 300_000 }, async () => {
    const server = await run(['serve', '--port', '0', '--data', directory, '--log-level', 'warn']);
    const count = (text: string) => server.log().split(text).length - 1;
    const toggle = async (times: number, level: string) => {
      process.kill(server.pid, 'SIGUSR2');
      const line = `"logLevel":"${level}","msg":"log level changed"`;
      await until(
        async () => count('log level changed'),
        (changes) => changes === times,
        'the level does not change',
      );
      expect(server.log()).toContain(line);
    };
    const request = async () => expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await request();
    await toggle(1, 'debug');
    expect(count('request completed')).toBe(0);
    await request();
    await toggle(2, 'warn');
    await request();
    expect(await server.stop()).toBe(0);
    expect(count('request completed')).toBe(1);
  });
});
