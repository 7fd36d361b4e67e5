import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFolderReader, type FoundFile, readFolder } from './folder.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  folder = join(root, 'dashboards');
  mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text = '{"name": "A", "tiles": []}') => writeFileSync(join(folder, path), text);
const listPaths = (files: readonly FoundFile[]) => files.map(({ path }) => path);
const listAllProblems = async () =>
  (await readFolder(folder)).flatMap((file) =>
    'problems' in file ? [`${file.path}: ${file.problems.join('; ')}`] : [],
  );

it('follows links inside the folder, and not in circles', async () => {
  mkdirSync(join(folder, 'team'));
  put('team/a.json');
  for (const name of ['a', 'b', 'team/up']) symlinkSync('.', join(folder, name));
  symlinkSync('..', join(folder, 'team/parent'));
  symlinkSync('team', join(folder, 'link'));
  symlinkSync('team/a.json', join(folder, 'file.json'));
  expect(listPaths(await readFolder(folder))).toEqual(['file.json', 'link/a.json', 'team/a.json']);
  expect(await listAllProblems()).toEqual([]);
});

it('reads a ConfigMap, and its next version', async () => {
  const mount = (version: string, name: string) => {
    mkdirSync(join(folder, `..${version}/team`), { recursive: true });
    put(`..${version}/a.json`, `{"name": "${name}", "tiles": []}`);
    put(`..${version}/team/b.json`);
    symlinkSync(`..${version}`, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  mount('2026_01', 'first');
  symlinkSync('..data/a.json', join(folder, 'a.json'));
  symlinkSync('..data/team', join(folder, 'team'));
  const read = createFolderReader(folder);
  const { files } = await read();
  expect(files).toMatchObject([{ path: 'a.json', file: { name: 'first' } }, { path: 'team/b.json' }]);
  expect((await read()).files[0]).toBe(files[0]);
  mount('2026_02', 'second');
  expect((await read()).files).toMatchObject([{ file: { name: 'second' } }, { path: 'team/b.json' }]);
});

it('does not read what is outside, or no file', async () => {
  writeFileSync(join(root, 'secret.json'), '"a-secret"');
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside/b.json'), '{}');
  symlinkSync('../secret.json', join(folder, 'a.json'));
  symlinkSync(join(root, 'outside'), join(folder, 'b'));
  symlinkSync('loop.json', join(folder, 'loop.json'));
  symlinkSync('missing', join(folder, 'missing.yaml'));
  symlinkSync('/dev/zero', join(folder, 'zero.json'));
  execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
  mkdirSync(join(folder, 'folder.yaml'));
  expect(await listAllProblems()).toEqual([
    'a.json: It is a link to a place outside of the folder',
    'loop.json: It is a link that leads nowhere',
    'missing.yaml: It is a link that leads nowhere',
    'pipe.yaml: It is not a regular file',
    'zero.json: It is a link to a place outside of the folder',
  ]);
});

it('limits bytes, files and levels', async () => {
  put('a.json', '{}');
  truncateSync(join(folder, 'a.json'), 5 * 2 ** 20);
  put('b.yaml', `name: A\ntiles: []\n#${'x'.repeat(256 * 1024)}`);
  expect(await listAllProblems()).toEqual([
    'a.json: The file cannot be read: it is larger than 4194304 bytes',
    'b.yaml: The file cannot be read: it is larger than 262144 bytes',
  ]);
  mkdirSync(join(folder, Array.from({ length: 20 }, () => 'x').join('/')), { recursive: true });
  await expect(readFolder(folder)).rejects.toThrow('it has more than 16 levels of folders');
  rmSync(join(folder, 'x'), { recursive: true });
  for (let index = 0; index <= 2000; index++) put(`${index}.json`, '');
  await expect(readFolder(folder)).rejects.toThrow('it has more than 2000 YAML and JSON files');
  // Every folder has a link to every other: more paths than could ever be listed.
  rmSync(folder, { recursive: true });
  const names = Array.from({ length: 12 }, (_, index) => `f${index}`);
  for (const name of names) {
    mkdirSync(join(folder, name), { recursive: true });
    for (const other of names) symlinkSync(`../${other}`, join(folder, name, other));
  }
  await expect(readFolder(folder)).rejects.toThrow('it has more than 10000 files and folders');
});

it.each([
  ['text', 'secret-words of another file'],
  ['JSON', '"secret-words"'],
  ['an unknown member', '{"name": "A", "tiles": [], "tags": "secret-words"}'],
  ['a broken file', '{"secret-words": [}'],
  ['a tag', 'name: !secret-words! x'],
  ['an escape', 'name: "\\xsecret-words"'],
  ['an alias', 'name: *secret-words'],
])('names no contents of a file in its problems: %s', async (_, text) => {
  put('a.yaml', text);
  const problems = await listAllProblems();
  expect(problems).toHaveLength(1);
  expect(problems[0]).not.toMatch(/secret|words/);
});

it('lets other work go on while it reads', async () => {
  for (let index = 0; index < 200; index++) put(`${index}.yaml`, 'name: A\ntiles: []\n');
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await readFolder(folder);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(100);
});
