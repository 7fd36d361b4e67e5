import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInstallation } from '../../src/platform/listener/installation.ts';
import { spawnProgram } from '../support/process.ts';

const root = join(import.meta.dirname, '../..');
const packages = realpathSync(join(root, 'node_modules'));
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-native-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const listPackages = (): string[] =>
  readdirSync(packages).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(packages, name)).map((part) => `${name}/${part}`) : [name],
  );

describe('the start without a native package', () => {
  const installed = join(directory, 'installed');
  /** Without these options, Node looks for a linked package's own packages next to the original. */
  const environment = { NODE_OPTIONS: '--preserve-symlinks --preserve-symlinks-main' };

  beforeAll(() => {
    mkdirSync(installed);
    for (const part of ['dist', 'migrations', 'package.json'])
      cpSync(join(root, part), join(installed, part), { recursive: true, filter: (path) => !/\.(map|br)$/.test(path) });
    for (const name of listPackages().filter((path) => !path.startsWith('.'))) {
      const link = join(installed, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(packages, name), link);
    }
  });

  /** Starts the server and waits until it is ready or has ended. */
  async function start(missing: string) {
    rmSync(join(installed, 'node_modules', missing), { recursive: true });
    const args = ['serve', '--port', '0', '--log-level', 'silent', '--data', join(directory, 'data')];
    const running = spawnProgram(args, { program: join(installed, 'dist/main.js'), environment });
    const line = await running.firstLine;
    running.kill('SIGKILL');
    return { isReady: line !== undefined, code: await running.ended, stderr: running.stderr() };
  }

  it('without chdb it starts, and says in one line what is missing', async () => {
    const { isReady, stderr } = await start('@chdb');
    expect(isReady).toBe(true);
    expect(stderr).toMatch(
      /^warning: The embedded engine cannot run\. The package @chdb\/[\w-]+ is not installed; run npm install without --omit=optional\. Alternatively, set --clickhouse-url to the URL of a ClickHouse server\.\n(There is no organization yet|$)/,
    );
  });

  it('without libSQL it fails, and says in one line what is missing', async () => {
    const { isReady, code, stderr } = await start('@libsql');
    expect([isReady, code]).toEqual([false, 1]);
    expect(stderr).toMatch(
      /(^|\n)error: The embedded store cannot run: the package @libsql\/[\w-]+ is not installed; run npm install without --omit=optional, or set --database-url to the URL of a PostgreSQL database\n$/,
    );
  });
});

describe('the packages of the embedded engine', () => {
  it.each([
    ['chdb', /^chdb$/, 'chdb'],
    ['the library of chdb', /^@chdb\//, '@chdb/lib-'],
    ['ffi-rs', /^ffi-rs$/, 'ffi-rs'],
    ['the library of ffi-rs', /^@yuuang\//, '@yuuang/ffi-rs-'],
  ])('%s is named if it is missing', (_, pattern, missing) => {
    const folder = mkdtempSync(join(directory, 'engine-'));
    const program = join(folder, 'listener.cjs');
    cpSync(join(root, 'dist/listener.cjs'), program);
    const names = listPackages().filter((name) => /^(chdb|@chdb\/.*|ffi-rs|@yuuang\/.*)$/.test(name));
    expect(names.length).toBeGreaterThanOrEqual(4);
    for (const name of names.filter((found) => !pattern.test(found)))
      cpSync(join(packages, name, 'package.json'), join(folder, 'node_modules', name, 'package.json'));
    expect(findInstallation(program)).toEqual({
      obstacle: expect.stringMatching(
        new RegExp(`^The package ${missing}[\\w-]* is not installed; run npm install without --omit=optional\\.$`),
      ),
    });
  });

  it('are in the lock file for Linux and macOS, on x64 and arm64', () => {
    const source = readFileSync(join(root, 'src/platform/listener/installation.ts'), 'utf8');
    const names = [...source.matchAll(/'(@(?:chdb|yuuang)\/[\w-]+)'/g)].map(([, name = '']) => name);
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    expect(names).toHaveLength(8);
    expect(names.filter((name) => lock[`node_modules/${name}`]?.optional !== true)).toEqual([]);
  });
});
