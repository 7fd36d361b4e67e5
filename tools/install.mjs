// Installs what is missing and nothing else. Runs before there are any packages, so it uses Node and its neighbours alone.
//   node tools/install.mjs              the packages of package-lock.json
//   node tools/install.mjs --for-tests  and PostgreSQL and Chromium from the system's package manager, where we may
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isForTests = process.argv.includes('--for-tests');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Pilothouse needs Node 20.19 or later; this is ${process.versions.node}.`);
  process.exit(2);
}

if (!arePackagesInstalled()) {
  console.error('Installing packages …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
if (isForTests) {
  if (!hasPostgres()) installForTests('PostgreSQL', 'postgresql');
  if (findChromium() === '') installForTests('Chromium', 'chromium');
}

/** npm writes down what it installed; it is up to date when that agrees with the lock file. */
function arePackagesInstalled() {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = Object.entries(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages);
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return wanted.every(([path, { version, optional }]) => path === '' || optional || present[path]?.version === version);
}

function hasPostgres() {
  const folder = '/usr/lib/postgresql';
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  const folders = [
    ...versions.map((version) => join(folder, version, 'bin')),
    '/usr/local/bin',
    '/usr/bin',
    '/opt/homebrew/bin',
  ];
  return folders.some((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')));
}

/** Only as root and only with apt: anything else would be a guess. The tests say so when they go without. */
function installForTests(name, systemPackage) {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    console.error(`${name} is not installed and cannot be installed from here; its tests will be skipped.`);
    return;
  }
  console.error(`Installing ${name} for the tests …`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env: environment });
  const { status } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', systemPackage], {
    stdio: 'ignore',
    env: environment,
  });
  if (status !== 0) console.error(`${name} could not be installed; its tests will be skipped.`);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
