import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { describeClient, runProgram } from '../../clients/install.ts';
import { listChildren } from '../../support/processes.ts';
import { packPackage, queryService, readWelcome } from '../package.ts';

vi.setConfig({ testTimeout: 300_000 });

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-package-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// Set by npm for this process; it would install into the checkout.
const environment = { ...process.env, npm_config_local_prefix: undefined, INIT_CWD: undefined };

/** As a user does. */
function install(): string {
  const folder = join(directory, 'empty');
  mkdirSync(folder);
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  runProgram('npm', ['install', ...flags, packPackage(directory).tarball], { cwd: folder, env: environment });
  return folder;
}

describeClient('the npm package, installed from the registry into an empty folder', install, (folder) => {
  it('has no package that this version of Node is too old for', () => {
    const [major = 0] = process.versions.node.split('.').map(Number);
    const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
    const installed = Object.entries<{ engines?: { node?: string } }>(JSON.parse(lock).packages);
    const unsuitable = installed.filter(([, { engines }]) => {
      const [, least = '0'] = /^>=\s*(\d+)/.exec(engines?.node ?? '') ?? [];
      return Number(least) > major;
    });
    expect(unsuitable.map(([path]) => path)).toEqual([]);
  });

  it('npx pilothouse demo runs the demo, and stops on SIGTERM with 0', async () => {
    const child = spawn('npx', ['--no-install', 'pilothouse', 'demo', '--port', '0'], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    queryService(await readWelcome(child, ended));
    expect(existsSync(join(folder, '.pilothouse/demo/state.db'))).toBe(true);
    // npx and its shell do not pass signals on; Ctrl+C in a terminal reaches all of them.
    process.kill(findProgram(child.pid ?? 0), 'SIGTERM');
    expect(await ended).toBe(0);
  });
});

/** The process of Pilothouse below npx (Linux): the first whose command line has the command after the program. */
function findProgram(pid: number): number {
  for (const child of listChildren(pid)) {
    const [program = '', file = ''] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
    if (program.endsWith('node') && file.endsWith('pilothouse')) return child;
    const found = findProgram(child);
    if (found !== 0) return found;
  }
  return 0;
}
