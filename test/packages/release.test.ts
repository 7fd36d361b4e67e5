import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-release-'));
const CHART = 'deploy/helm/pilothouse/Chart.yaml';

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: 'pipe',
  });
const read = (path: string) => readFileSync(join(directory, path), 'utf8');
const write = (path: string, text: string) => writeFileSync(join(directory, path), text);

/** The errors of the script, without the prefix. */
function release(): string[] {
  const { status, stderr } = spawnSync('node', ['tools/release.mjs', '--skip-tests'], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(1);
  return stderr
    .trim()
    .split('\n')
    .map((line) => line.replace(/^error: /, ''));
}

/** Commits the version in every file that has it. */
function setVersion(version: string): void {
  const manifest = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  lock.packages[''].version = version;
  write('package.json', JSON.stringify({ ...manifest, version }));
  write('package-lock.json', JSON.stringify({ ...lock, version }));
  write(CHART, read(CHART).replace(/^appVersion: .*$/m, `appVersion: "${version}"`));
  write('CHANGELOG.md', `# Changelog\n\n## [${version}] - 2026-01-31\n\n- Something.\n`);
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', version);
}

describe('the release script', () => {
  beforeAll(() => {
    for (const path of ['tools', 'deploy', 'package.json', 'package-lock.json', '.gitignore'])
      cpSync(join(root, path), join(directory, path), { recursive: true });
    git('init', '--quiet');
  });
  beforeEach(() => {
    setVersion('1.2.0');
    for (const tag of git('tag').split('\n').filter(Boolean)) git('tag', '--delete', tag);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('refuses a dirty tree', () => {
    write('new-file', '');
    expect(release()).toEqual(['the working tree has changes that are not committed; commit or remove them']);
    rmSync(join(directory, 'new-file'));
  });

  it('refuses a version without an entry in the changelog', () => {
    write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n- Something.\n');
    git('commit', '--quiet', '--all', '--message', 'changelog');
    expect(release()).toEqual([
      'CHANGELOG.md has no entry "## [1.2.0] - YYYY-MM-DD"; move the entries of [Unreleased] below it',
    ]);
  });

  it('refuses a tag that exists, and a version that is not larger than all others', () => {
    git('tag', 'v1.2.0');
    expect(release()).toEqual(['the tag v1.2.0 exists already; increase the version in package.json']);
    git('tag', '--delete', 'v1.2.0');
    git('tag', 'v1.10.0');
    expect(release()).toEqual([
      'version 1.2.0 is not larger than that of the tag v1.10.0; increase it in package.json',
    ]);
  });

  it('refuses a candidate after its release', () => {
    git('tag', 'v2.0.0');
    setVersion('2.0.0-rc.1');
    expect(release()).toEqual([
      'version 2.0.0-rc.1 is not larger than that of the tag v2.0.0; increase it in package.json',
    ]);
  });

  it('refuses versions that differ, and names every problem at once', () => {
    write(CHART, read(CHART).replace(/^appVersion: .*$/m, 'appVersion: "1.1.0"'));
    git('commit', '--quiet', '--all', '--message', 'chart');
    write('new-file', '');
    expect(release()).toEqual([
      'the working tree has changes that are not committed; commit or remove them',
      `${CHART} has appVersion 1.1.0, not 1.2.0`,
    ]);
    rmSync(join(directory, 'new-file'));
  });

  it('writes the package, the chart, the SBOM and checksums', () => {
    git('tag', 'v1.2.0-rc.2');
    // The build is tested by all other tests; this one packs what it left behind.
    const manifest = JSON.parse(read('package.json'));
    write('package.json', JSON.stringify({ ...manifest, scripts: { build: 'true' } }));
    git('commit', '--quiet', '--all', '--message', 'build');
    cpSync(join(root, 'dist'), join(directory, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.map') });
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    mkdirSync(join(directory, 'migrations'));
    const { status, stdout, stderr } = spawnSync('node', ['tools/release.mjs', '--skip-tests'], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('npm publish release/1.2.0/pilothouse-1.2.0.tgz');
    const files = ['pilothouse-1.2.0.cdx.json', 'pilothouse-1.2.0.tgz', 'pilothouse-chart-1.2.0.tgz'];
    expect(readdirSync(join(directory, 'release/1.2.0')).sort()).toEqual(['SHA256SUMS', ...files]);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(directory, 'release/1.2.0') });
    expect(git('status', '--porcelain'), 'nothing that it writes is tracked').toBe('');
  });
});
