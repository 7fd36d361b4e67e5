import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../clients/install.ts';
import { packPackage, queryService, readWelcome } from './package.ts';

// Packs the program and runs it from the package.
vi.setConfig({ testTimeout: 300_000 });

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-package-'));
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const { packed, tarball } = packPackage(directory);

describe('the npm package', () => {
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path);

  it('contains what it needs', () => {
    expect(packed).toMatchObject({ name, version });
    expect(paths).toEqual(
      expect.arrayContaining([
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'SECURITY.md',
        'package.json',
        'dist/main.js',
        'dist/listener.cjs',
        'dist/demo-telemetry.js',
        'dist/console/index.html',
        'dist/third-party-licenses.txt',
        'docs/openapi.json',
        'migrations/state/0001-schema.sql',
        'migrations/engine/0001-schema.sql',
      ]),
    );
    const migrations = readdirSync(join(root, 'migrations'), { recursive: true, encoding: 'utf8' });
    for (const file of migrations.filter((path) => path.endsWith('.sql')))
      expect(paths).toContain(`migrations/${file}`);
  });

  it('contains no sources, no source maps and no tests', () => {
    expect(paths.filter((path) => /\.(tsx?|map)$|(^|\/)(src|test|tools|bench|node_modules)\//.test(path))).toEqual([]);
  });
});

/**
 * Unpacks the package next to its direct dependencies, which are links into the checkout: what the package does not contain
 * or does not declare is missing. `downloaded/npm-install.test.ts` installs it from the registry.
 */
function unpack(folder: string): void {
  const modules = join(folder, 'node_modules');
  const target = join(modules, name);
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(target);
  runProgram('tar', ['-xzf', tarball, '-C', target, '--strip-components', '1']);
  const { dependencies, optionalDependencies, bin } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules', dependency)), join(modules, dependency));
  }
  symlinkSync(join(target, bin[name]), join(modules, '.bin', name));
}

describe('the npm package, unpacked into an empty folder', () => {
  const folder = join(directory, 'empty');
  const program = join(folder, 'node_modules/.bin/pilothouse');
  beforeAll(() => unpack(folder));

  it('pilothouse prints help that names the demo, and --version the version', () => {
    const run = (...args: string[]) => runProgram(program, args, { cwd: folder });
    expect(run('--version').trim()).toBe(version);
    expect(run()).toContain('To try it: pilothouse demo');
  });

  it('pilothouse demo runs the demo, and stops on SIGTERM with 0', async () => {
    const child = spawn(program, ['demo', '--port', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    queryService(await readWelcome(child, ended));
    expect(existsSync(join(folder, '.pilothouse/demo/state.db'))).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
