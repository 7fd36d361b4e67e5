// npm run release [-- --skip-tests]: checks that the version in package.json can be released, and writes its files to
// release/VERSION/: the npm package, the Helm chart, the SBOM and their checksums. It publishes nothing, and sets no tag.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSbom } from './sbom.mjs';

const { values } = parseArgs({ options: { 'skip-tests': { type: 'boolean', default: false } } });
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const tag = `v${version}`;

const problems = findProblems();
if (problems.length > 0) {
  for (const problem of problems) console.error(`error: ${problem}`);
  process.exit(1);
}
if (!values['skip-tests']) run('npm', ['test']);
run('npm', ['run', '--silent', 'build']);

const folder = join('release', version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
// Built above.
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]);
run('tar', ['-czf', join(folder, `pilothouse-chart-${version}.tgz`), '-C', 'deploy/helm', 'pilothouse']);
writeFileSync(join(folder, `pilothouse-${version}.cdx.json`), `${JSON.stringify(createSbom(), null, 2)}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), listChecksums(folder));
console.log(`Wrote ${folder}/. To publish, run: git tag ${tag}, then npm publish ${folder}/pilothouse-${version}.tgz`);

function findProblems() {
  const found = [];
  if (git('status', '--porcelain') !== '')
    found.push('the working tree has changes that are not committed; commit or remove them');
  if (
    !new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm').test(
      readText('CHANGELOG.md'),
    )
  )
    found.push(`CHANGELOG.md has no entry "## [${version}] - YYYY-MM-DD"; move the entries of [Unreleased] below it`);
  const tags = git('tag', '--list', 'v*').split('\n').filter(Boolean);
  if (tags.includes(tag)) found.push(`the tag ${tag} exists already; increase the version in package.json`);
  const larger = tags.find((other) => compareVersions(other.slice(1), version) > 0);
  if (larger)
    found.push(`version ${version} is not larger than that of the tag ${larger}; increase it in package.json`);
  const locked = JSON.parse(readText('package-lock.json')).packages[''].version;
  if (locked !== version)
    found.push(`package-lock.json has version ${locked}, not ${version}; run npm install --package-lock-only`);
  const [, chart] = /^appVersion: "?([^"\n]+)"?$/m.exec(readText('deploy/helm/pilothouse/Chart.yaml')) ?? [];
  if (chart !== version) found.push(`deploy/helm/pilothouse/Chart.yaml has appVersion ${chart}, not ${version}`);
  return found;
}

/** Compares numbers one by one; a version with a suffix, such as 1.0.0-rc.1, precedes the same version without one. */
function compareVersions(a, b) {
  const [aCore, aSuffix] = a.split(/-(.*)/);
  const [bCore, bSuffix] = b.split(/-(.*)/);
  const order = aCore.localeCompare(bCore, 'en', { numeric: true });
  if (order !== 0 || aSuffix === bSuffix) return order;
  if (aSuffix === undefined || bSuffix === undefined) return aSuffix === undefined ? 1 : -1;
  return aSuffix.localeCompare(bSuffix, 'en', { numeric: true });
}

function listChecksums(directory) {
  return readdirSync(directory)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');
}

function readText(path) {
  return readFileSync(path, 'utf8');
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
