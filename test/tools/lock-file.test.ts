import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

interface LockEntry {
  version?: string;
  resolved?: string;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
}

const PLATFORMS = [
  ['darwin', 'arm64'],
  ['darwin', 'x64'],
  ['linux', 'arm64'],
  ['linux', 'x64'],
] as const;

/** The native dependencies in use. Listed here so that the checks below cannot pass because they found nothing. */
const NATIVE_DEPENDENCIES = ['@biomejs/biome', 'chdb', 'ffi-rs', 'libsql', 'lightningcss', 'rolldown', 'typescript'];

/** A package for one platform: operating system and architecture are in its name, as in `@libsql/linux-arm64-gnu`. */
const PLATFORM_PACKAGE = /(darwin|linux|win32).*(arm64|x64)/;

const packages: Record<string, LockEntry> = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;

const natives = Object.entries(packages)
  .map(([path, { optionalDependencies = {} }]) => ({ path, optionalDependencies }))
  .filter(({ optionalDependencies }) => Object.keys(optionalDependencies).some((name) => PLATFORM_PACKAGE.test(name)));

/** The entry Node would resolve for `name` from the package at `path`. */
function findEntry(path: string, name: string): LockEntry | undefined {
  return packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
}

/** npm skips a package unless os, cpu and libc match the machine. */
function runsOn({ os = [], cpu = [], libc = ['glibc'] }: LockEntry, platform: string, architecture: string): boolean {
  return os.includes(platform) && cpu.includes(architecture) && (platform === 'darwin' || libc.includes('glibc'));
}

describe('package-lock.json', () => {
  it('lists every native dependency exactly once', () => {
    expect(natives.map(({ path }) => path).sort()).toEqual(NATIVE_DEPENDENCIES.map((name) => `node_modules/${name}`));
  });

  it.each(PLATFORMS)('has the native part of every dependency for %s-%s', (platform, architecture) => {
    const incomplete = natives.filter(
      ({ path, optionalDependencies }) =>
        !Object.entries(optionalDependencies).some(([name, version]) => {
          const entry = findEntry(path, name);
          return entry?.optional && entry.version === version && runsOn(entry, platform, architecture);
        }),
    );
    expect(incomplete.map(({ path }) => path)).toEqual([]);
  });

  it('contains no download URLs', () => {
    expect(Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined)).toEqual([]);
  });

  it('is accepted by npm ci', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-lock-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const file of ['package.json', 'package-lock.json']) cpSync(file, join(folder, file));
    const options = ['--dry-run', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
    const output = execFileSync('npm', ['ci', ...options], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(output).toMatch(/added \d+ packages/);
  });
});
