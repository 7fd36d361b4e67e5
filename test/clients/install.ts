import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Installed clients are kept between runs. */
const CACHE = process.env.PILOTHOUSE_CLIENTS_CACHE ?? join(homedir(), '.cache', 'pilothouse-clients');
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const INSTALL_TIMEOUT_MS = 30 * 60_000;

/** Runs a program to its end and returns its standard output. Throws with the end of its standard error if it fails. */
export function runProgram(program: string, args: string[], options: { cwd?: string; env?: object } = {}): string {
  return execFileSync(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/** Packages of PyPI in an environment of their own; the result is its folder of programs. */
export const installFromPyPi = (...packages: string[]): string =>
  install(packages.join(' '), (directory) => {
    runProgram('python3', ['-m', 'venv', directory]);
    runProgram(join(directory, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
  }).concat('/bin');

/** Packages of npm; the result is the folder that contains their node_modules. */
export const installFromNpm = (...packages: string[]): string =>
  install(packages.join(' '), (directory) => {
    const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts'];
    runProgram('npm', ['install', '--prefix', directory, ...flags, ...packages]);
  });

/** Packages of the Debian release of this machine, without their scripts; the result is the folder of their files. */
export const installFromDebian = (...packages: string[]): string =>
  install(`debian ${packages[0]}`, (directory) => {
    runProgram('apt-get', ['download', '--quiet', ...packages], { cwd: directory });
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.deb')))
      runProgram('dpkg', ['-x', join(directory, name), directory]);
  });

/** A program of the Go module proxy; the result is the folder that contains it. */
export const installFromGo = (module: string): string =>
  install(module, (directory) => {
    runProgram('go', ['install', module], { env: { GOBIN: directory } });
  });

/** An artifact of Maven Central, such as `group:name:1.0`; the result is the folder that contains it. */
export const installFromMaven = (artifact: string): string =>
  install(artifact, (directory) => {
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    runProgram('mvn', ['--quiet', copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`]);
  });

/** Builds a Rust package in the cache; the result is the folder of its programs. */
export function buildRustPackage(name: string, source: string): string {
  const directory = getFolder(name);
  cpSync(source, directory, { recursive: true });
  const env = { CARGO_TARGET_DIR: getFolder('cargo target') };
  runProgram('cargo', ['build', '--quiet', '--locked'], { cwd: directory, env });
  return join(env.CARGO_TARGET_DIR, 'debug');
}

/** Builds a Go program in the cache; the result is its folder. */
export function buildGoProgram(name: string, source: string): string {
  const directory = getFolder(name);
  cpSync(source, directory, { recursive: true });
  runProgram('go', ['build', '-o', name, '.'], { cwd: directory });
  return directory;
}

/** Builds a Maven project in the cache; the result is the class path. */
export function buildMavenProject(name: string, source: string): string {
  const directory = getFolder(name);
  // Or the class path would have the jars of an earlier version too.
  rmSync(directory, { recursive: true });
  cpSync(source, directory, { recursive: true });
  const goals = ['compile', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=target/jars'];
  runProgram('mvn', ['--quiet', ...goals], { cwd: directory });
  return [join(directory, 'target/classes'), join(directory, 'target/jars/*')].join(':');
}

export const getFolder = (name: string): string => {
  const directory = join(CACHE, name.replace(/[^A-Za-z0-9.=-]+/g, '_'));
  mkdirSync(directory, { recursive: true });
  return directory;
};

function install(name: string, run: (directory: string) => void): string {
  const directory = getFolder(name);
  const marker = join(directory, '.complete');
  if (existsSync(marker)) return directory;
  rmSync(directory, { recursive: true, force: true });
  run(getFolder(name));
  writeFileSync(marker, '');
  return directory;
}

/** Tests of a client that is downloaded first. If that fails, they are skipped, and the name says why. */
export function describeClient(name: string, prepare: () => string, suite: (directory: string) => void): void {
  const prepared = attempt(prepare);
  const title = 'reason' in prepared ? `${name}, not available: ${prepared.reason}` : name;
  describe.skipIf('reason' in prepared)(title, () => {
    if ('directory' in prepared) suite(prepared.directory);
    else it('is installed', () => expect(prepared.reason).toBe(''));
  });
}

function attempt(prepare: () => string): { directory: string } | { reason: string } {
  try {
    return { directory: prepare() };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return { reason: (stderr?.trim() || message).split('\n').slice(-3).join(' ').slice(-300) };
  }
}
