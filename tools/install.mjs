// Installs missing dependencies. Runs before any package is installed, so it may import only Node's modules and files in tools/.
//   node tools/install.mjs              the packages in package-lock.json
//   node tools/install.mjs --for-tests  also PostgreSQL and Chromium, through apt as root
//   node tools/install.mjs --for-faults also HAProxy
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isForFaults = process.argv.includes('--for-faults');
const isForTests = isForFaults || process.argv.includes('--for-tests');

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
  // Older versions of Debian have the second package only.
  for (const name of ['chromium-headless-shell', 'chromium'])
    if (findChromium() === '') installForTests('Chromium', name);
  if (isForFaults && !existsSync('/usr/sbin/haproxy')) installForTests('HAProxy', 'haproxy');
}

/** Compares npm's record of the installed packages with the lock file. */
function arePackagesInstalled() {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = Object.entries(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages);
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  // npm leaves out optional packages for other platforms.
  return wanted.every(([path, { version, optional }]) => {
    const found = present[path];
    return path === '' || (found ? found.version === version : optional);
  });
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

/** Needs root and apt. On other systems, the test run reports that it skips the tests that need the program. */
function installForTests(name, systemPackage) {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    console.error(`${name} is not installed; tests that need it will be skipped.`);
    return;
  }
  console.error(`Installing ${name} for the tests …`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env: environment });
  const { status } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', systemPackage], {
    stdio: 'ignore',
    env: environment,
  });
  if (status !== 0) console.error(`${name} could not be installed; tests that need it will be skipped.`);
}

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
