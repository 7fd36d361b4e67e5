import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cli, type Json, listErrors, useStore } from '../support/cli.ts';
import { anyDashboard, HEX_ID, tile } from '../support/dashboards.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';

const fleet = {
  organizations: [{ name: 'Acme', dashboards: [{ id: 'one', name: 'One', tags: ['t'], tiles: [tile()] }] }],
};

onEachStoreInLongRuns('dashboard commands', (store) => {
  const at = useStore(store);
  const json = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await at.run('dashboard', ...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const file = (name: string, content: object | string) => {
    const path = join(at.directory, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  beforeEach(async () => {
    await at.plan(fleet);
  });

  it('list prints all dashboards; get prints one as a file for apply', async () => {
    expect(await json('list')).toEqual([{ id: 'one', name: 'One', tags: ['t'], tiles: 1, version: 1 }]);
    expect((await at.run('dashboard', 'list')).stdout).toMatch(
      /^ID +NAME +TILES +TAGS +VERSION.*\none +One +1 +t +1\n$/,
    );
    const one = await json('get', 'one');
    expect(one).toMatchObject({ id: 'one', name: 'One', tags: ['t'] });
    expect(parse((await at.run('dashboard', 'get', 'one')).stdout)).toEqual(one);
    const missing = await at.run('dashboard', 'get', 'none');
    expect([missing.code, listErrors(missing)]).toEqual([1, ['Dashboard not found']]);
  });

  it('apply creates and replaces dashboards, all or none, and prints the changes', async () => {
    const changed = file('a.json', { id: 'one', name: 'Renamed' });
    const added = file(
      'b.yaml',
      'name: Two\ntiles: [{x: 0, y: 0, w: 1, h: 1, series: [{type: markdown, content: hi}]}]',
    );
    const plan = await at.run('dashboard', 'apply', changed, added, '--dry-run');
    expect([plan.code, plan.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^~ Renamed \(one\)\n\+ Two \(\w{24}\)\nPlan: 1 added, 1 changed, 0 unchanged\. Nothing was stored\.\n$/,
      ),
    ]);
    expect(await json('list')).toHaveLength(1);
    const broken = file('c.json', { name: 'Broken', tiles: [tile({ w: 99 })] });
    const rejected = await at.run('dashboard', 'apply', changed, broken);
    expect([rejected.code, listErrors(rejected)]).toEqual([2, [expect.stringMatching(/c\.json: tiles\[0\]\.w: /)]]);
    expect((await json('get', 'one')).name).toBe('One');
    const applied = await json('apply', changed, added);
    expect(applied.dashboards).toEqual([
      { action: 'change', id: 'one', name: 'Renamed', version: 2 },
      { action: 'add', id: expect.stringMatching(HEX_ID), name: 'Two', version: 1 },
    ]);
    expect((await json('apply', changed, added)).dashboards.map(({ action }: Json) => action)).toEqual([
      'unchanged',
      'unchanged',
    ]);
  });

  it('apply warns about unknown sources and stores the dashboard', async () => {
    const path = file('a.json', {
      name: 'A',
      tiles: [tile({ series: [{ type: 'time', aggFn: 'count', sourceId: 'later' }] })],
    });
    const { code, stderr } = await at.run('dashboard', 'apply', path);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('warning: A: tiles[0].series[0].sourceId: The source does not exist'),
    ]);
  });

  it('applying an export changes nothing, from standard output or from one file per dashboard', async () => {
    await json('apply', file('a.json', { name: 'Two', tags: ['x: y', '#'], tiles: [tile({ name: '- "&' })] }));
    for (const flags of [[], ['--json']]) {
      const { stdout } = await at.run('dashboard', 'export', ...flags);
      const all = await json('apply', file('all.yaml', stdout));
      expect(all.dashboards.map(({ action }: Json) => action)).toEqual(['unchanged', 'unchanged']);
      const out = join(at.directory, `out${flags.length}`);
      expect((await at.run('dashboard', 'export', '--out', out, ...flags)).code).toBe(0);
      const names = readdirSync(out);
      expect(names).toHaveLength(2);
      expect(names.every((name) => name.endsWith(flags.length ? '.json' : '.yaml'))).toBe(true);
      const each = await json('apply', ...names.map((name) => join(out, name)));
      expect(each.dashboards.map(({ action }: Json) => action)).toEqual(['unchanged', 'unchanged']);
    }
    expect(parse((await at.run('dashboard', 'export', 'one')).stdout)).toEqual(await json('get', 'one'));
    expect((await at.run('dashboard', 'export', 'none')).code).toBe(1);
    expect((await json('list')).map(({ version }: Json) => version)).toEqual([1, 1]);
  });

  it('applying an export of generated dashboards changes nothing', async () => {
    const bodies = fc.sample(anyDashboard, 60).map((body, index) => ({ id: `any-${index}`, ...body }));
    expect((await json('apply', file('any.json', bodies))).dashboards).toHaveLength(60);
    const before = await json('export');
    const { stdout: yaml } = await at.run('dashboard', 'export');
    const { dashboards } = await json('apply', file('again.yaml', yaml));
    expect(dashboards.every(({ action }: Json) => action === 'unchanged')).toBe(true);
    expect(await json('export')).toEqual(before);
  });

  it('versions lists versions, and restore saves an old one as the newest', async () => {
    const before = await json('get', 'one');
    await json('apply', file('a.json', { id: 'one', name: 'Bad' }));
    expect((await json('versions', 'one')).map(({ version, name }: Json) => [version, name])).toEqual([
      [2, 'Bad'],
      [1, 'One'],
    ]);
    expect((await at.run('dashboard', 'restore', 'one', '1')).stdout).toBe('Restored One as version 3.\n');
    expect(await json('get', 'one')).toEqual(before);
    for (const version of ['9', 'x']) {
      const { code, stderr } = await at.run('dashboard', 'restore', 'one', version);
      expect([code, stderr]).toEqual([1, 'error: Version not found\n']);
    }
  });

  it('with several organizations, --org or the file must name one', async () => {
    await at.plan({ organizations: [...fleet.organizations, { name: 'Globex' }] });
    expect((await at.run('dashboard', 'list')).code).toBe(2);
    const path = file('a.json', { organization: 'Globex', name: 'Theirs' });
    expect((await at.run('dashboard', 'apply', path)).code).toBe(0);
    expect((await json('list', '--org', 'Globex')).map(({ name }: Json) => name)).toEqual(['Theirs']);
    expect((await json('list', '--org', 'Acme')).map(({ name }: Json) => name)).toEqual(['One']);
    const out = join(at.directory, 'out');
    await at.run('dashboard', 'export', '--org', 'Globex', '--out', out);
    const each = await json('apply', ...readdirSync(out).map((name) => join(out, name)));
    expect(each.dashboards.map(({ action }: Json) => action)).toEqual(['unchanged']);
  });
});

describe('dashboard validate', () => {
  const at = useStore('libsql');
  const file = (name: string, text: string) => {
    writeFileSync(join(at.directory, name), text);
    return join(at.directory, name);
  };

  it('requires no store and lists every problem of every file with its path', async () => {
    const good = file('good.yaml', 'name: Good');
    const bad = file('bad.yaml', 'name: ""\ntags: [1]\ntiles: [{x: 0, y: 0, w: 1, h: 1, series: []}]');
    const broken = file('broken.yaml', 'name: [');
    const both = await cli(['dashboard', 'validate', good, bad, broken, join(at.directory, 'none')]);
    expect([both.code, both.stdout]).toEqual([2, '']);
    expect(listErrors(both)).toEqual([
      `${bad}: name: The value must not be empty <string:>`,
      `${bad}: tags[0]: The value must be a string <number:1>`,
      `${bad}: tiles[0].series: The list must have at least 1 element <array>`,
      expect.stringMatching(/broken\.yaml: The file cannot be read: line 1, column /),
      expect.stringContaining('ENOENT'),
    ]);
    expect(await cli(['dashboard', 'validate', good])).toEqual({ code: 0, stdout: 'The file is valid.\n', stderr: '' });
    const asJson = await cli(['dashboard', 'validate', bad, '--json']);
    expect([asJson.code, JSON.parse(asJson.stdout).valid, JSON.parse(asJson.stdout).mistakes.length]).toEqual([
      2,
      false,
      3,
    ]);
  });
});
