import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, listErrors } from '../support/cli.ts';
import { runInProcess } from '../support/in-process.ts';
import { serveInProcess } from '../support/server.ts';

describe('--config', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function write(text: string, mode = 0o600): string {
    const path = join(directory, 'pilothouse.yaml');
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  it('gives the server its settings, as YAML or JSON, from a flag or a variable', async () => {
    const settings = { port: 0, data: join(directory, 'data'), 'base-path': '/tools', 'rate-limit': 'off' };
    const yaml = write(
      Object.entries(settings)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(''),
    );
    const server = await serveInProcess(['serve', '--config', yaml]);
    expect(server.url).toMatch(/\/tools$/);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const json = write(JSON.stringify(settings));
    expect(await cli(['org', 'list', '--json'], { PILOTHOUSE_CONFIG: json })).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
  });

  it('reports all mistakes at once and exits with 2', async () => {
    const path = write('prot: 8080\nmax-keys: 0\nport: [1]\n');
    const finished = await cli(['org', 'list', '--config', path, '--data', '']);
    expect(finished.code).toBe(2);
    expect(listErrors(finished)).toEqual([
      `${path}: port must be text or a number, not a list`,
      '--data must not be empty, not ""',
      `${path}: max-keys must be a whole number from 1 to 1000000, not "0"`,
      `${path}: prot is not a known setting; did you mean port?`,
    ]);
  });

  it('rejects a file that is missing, too large, malformed or without settings', async () => {
    const run = async (path: string) => listErrors(await cli(['org', 'list', '--config', path]));
    const missing = join(directory, 'none.yaml');
    expect(await run(missing)).toEqual([expect.stringContaining(`${missing} cannot be read: ENOENT`)]);
    expect(await run(write(`# ${'x'.repeat(1024 * 1024)}`))).toEqual([expect.stringContaining('larger than 1048576')]);
    const [malformed] = await run(write('port: "8080\ndatabase-url: postgres://u:hunter2@db'));
    expect(malformed).toMatch(/cannot be read: line \d+, column \d+/);
    expect(malformed).not.toContain('hunter2');
    expect(await run(write('- port\n'))).toEqual([expect.stringContaining('must contain settings')]);
  });

  it('warns if others can read a secret in the file', async () => {
    const text = `port: 0\ndata: ${join(directory, 'data')}\nmetrics-token: scrape-token-0001\n`;
    const start = async (mode: number) => {
      const fleet = join(directory, 'missing-fleet.yaml');
      return (await runInProcess(['serve', '--config', write(text, mode), '--fleet', fleet]).finished).stderr;
    };
    expect(await start(0o600)).not.toContain('warning');
    const stderr = await start(0o644);
    expect(stderr).toContain('pilothouse.yaml contains metrics-token and every user of this machine can read it');
    expect(stderr).not.toContain('scrape-token');
  });
});
