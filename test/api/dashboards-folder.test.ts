import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { cli, getServerStore } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { DASHBOARDS, HEX_ID, read, tile, write } from '../support/dashboards.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, type StartOptions, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const board = (more: object = {}) => ({ organization: 'Acme', name: 'From a file', tiles: [tile()], ...more });

onEachStoreInLongRuns('the dashboards folder', (store) => {
  let folder: string;
  let server: TestServer;

  const put = (file: string, content: object | string) => {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    // Atomic, like a deployment.
    writeFileSync(`${path}.part`, typeof content === 'string' ? content : stringify(content));
    renameSync(`${path}.part`, path);
  };
  const start = async (options: StartOptions = {}) => {
    server = await startServer(store, { args: ['--dashboards', folder], inProcess: true, ...options });
  };
  const dashboards = async (): Promise<Json[]> => (await read(server, '')).json.data;
  const findByName = async (name: string): Promise<Json> => (await dashboards()).find((one) => one.name === name);
  const untilNamed = (name: string) =>
    until(
      () => findByName(name),
      (one) => one !== undefined,
      `${name} is not created`,
    );
  const untilDeleted = (name: string) =>
    until(
      () => findByName(name),
      (one) => one === undefined,
      `${name} is not deleted`,
    );

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  });
  afterEach(async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is applied before the first request: YAML and JSON, subfolders, several organizations', async () => {
    put('a.yaml', board({ id: 'given', name: 'A' }));
    put('b.json', JSON.stringify(board({ name: 'B' })));
    put('team/c.yml', board({ name: 'C' }));
    put('theirs.yaml', board({ name: 'D', organization: globex.id.toUpperCase() }));
    put('.hidden.yaml', board({ name: 'hidden' }));
    put('notes.txt', 'no dashboard');
    await start();
    const names = (await dashboards()).map(({ name }) => name);
    expect(names).toEqual(['C', 'B', 'Acme board', 'A']);
    expect((await findByName('A')).id).toBe('given');
    expect((await findByName('B')).id).toMatch(HEX_ID);
    const globexDashboards = (await server.call({ path: DASHBOARDS, token: globex.token })).json.data;
    expect(globexDashboards.map(({ name }: Json) => name)).toEqual(['Globex board', 'D']);
    const ids = (await dashboards()).map(({ id }) => id);
    await server.stop();
    await server.restart();
    expect((await dashboards()).map(({ id }) => id)).toEqual(ids);
    expect((await read(server, '/given/versions')).json.data).toHaveLength(1);
  });

  it('applies new, changed and deleted files while the server runs', async () => {
    put('a.yaml', board({ id: 'a', name: 'first' }));
    await start();
    put('a.yaml', board({ id: 'a', name: 'second' }));
    put('b.yaml', board({ id: 'b', name: 'another' }));
    await untilNamed('second');
    await untilNamed('another');
    rmSync(join(folder, 'b.yaml'));
    await untilDeleted('another');
    expect((await read(server, '/b')).status).toBe(404);
    const versions = (await read(server, '/a/versions')).json.data;
    expect(versions.map(({ name, savedBy, provisionedFrom }: Json) => [name, savedBy, provisionedFrom])).toEqual([
      ['second', 'dashboards folder', 'a.yaml'],
      ['first', 'dashboards folder', 'a.yaml'],
    ]);
    const restored = await write(server, 'POST', '/b/versions/1/restore');
    expect([restored.status, restored.headers.get('x-pilothouse-provisioned')]).toEqual([200, null]);
  });

  it('marks dashboards from files in a header and rejects changes through the API', async () => {
    put('täam/a b.yaml', board({ id: 'a', name: 'A' }));
    await start();
    const { json, headers } = await read(server, '/a');
    expect(Object.keys(json.data)).toEqual(['id', 'name', 'tags', 'tiles']);
    expect(decodeURI(headers.get('x-pilothouse-provisioned') ?? '')).toBe('täam/a b.yaml');
    const known = await read(server, '/a', { 'if-none-match': headers.get('etag') ?? '' });
    expect([known.status, known.headers.get('x-pilothouse-provisioned')]).toEqual([304, 't%C3%A4am/a%20b.yaml']);
    for (const [method, suffix, body] of [
      ['PUT', '/a', { name: 'x' }],
      ['PUT', '/a', json.data],
      ['DELETE', '/a'],
      ['POST', '/a/versions/1/restore'],
    ] as const) {
      const response = await write(server, method, suffix, body);
      expect([response.status, response.json]).toEqual([409, { message: expect.stringContaining('täam/a b.yaml') }]);
    }
    expect((await read(server, '/a')).json).toEqual(json);
    const at = getServerStore(server);
    const listed = JSON.parse((await at.run('dashboard', 'list', '--org', 'Acme', '--json')).stdout);
    expect(listed.find(({ id }: Json) => id === 'a').provisionedFrom).toBe('täam/a b.yaml');
    expect(listed.find(({ id }: Json) => id === acme.dashboard).provisionedFrom).toBeUndefined();
  });

  it('keeps the dashboard of an invalid file, logs the errors and applies the other files', async () => {
    put('a.yaml', board({ id: 'a', name: 'good' }));
    put('b.yaml', board({ id: 'b', name: 'B' }));
    await start({ inProcess: false });
    put('a.yaml', board({ id: 'a', name: 'bad', tiles: [tile({ w: 99 })] }));
    put('broken.json', '{"name": ');
    put('b.yaml', board({ id: 'b', name: 'B2' }));
    await untilNamed('B2');
    expect((await read(server, '/a')).json.data.name).toBe('good');
    await until(
      async () => server.log(),
      (log) => log.includes('tiles[0].w') && log.includes('broken.json'),
      'the error is not logged',
    );
    put('a.yaml', board({ id: 'a', name: 'fixed' }));
    await untilNamed('fixed');
  });

  it('renaming a file with an id keeps the dashboard without a new version', async () => {
    put('a.yaml', board({ id: 'a', name: 'A' }));
    await start();
    renameSync(join(folder, 'a.yaml'), join(folder, 'z.yaml'));
    await until(
      async () => (await read(server, '/a')).headers.get('x-pilothouse-provisioned'),
      (file) => file === 'z.yaml',
      'the renamed file is not detected',
    );
    expect((await read(server, '/a/versions')).json.data).toHaveLength(1);
  });

  it('uses the first of two files with the same id and logs both', async () => {
    put('a.yaml', board({ id: 'a', name: 'first' }));
    put('b.yaml', board({ id: 'a', name: 'second' }));
    await start({ inProcess: false });
    expect((await read(server, '/a')).json.data.name).toBe('first');
    await until(
      async () => server.log(),
      (log) => /"file":"b\.yaml".*a\.yaml has the same id/.test(log),
      'the duplicate id is not logged',
    );
  });

  it('takes over an existing dashboard and keeps its versions', async () => {
    put('a.yaml', board({ id: acme.dashboard, name: 'taken over' }));
    await start();
    expect((await read(server, `/${acme.dashboard}`)).json.data.name).toBe('taken over');
    expect((await read(server, `/${acme.dashboard}/versions`)).json.data).toHaveLength(2);
    const at = getServerStore(server);
    const changed = {
      organizations: [{ id: acme.id, name: 'Acme', dashboards: [{ id: acme.dashboard, name: 'fleet' }] }],
    };
    const { code, stderr } = await at.apply(changed);
    expect([code, stderr]).toEqual([1, expect.stringContaining('a.yaml')]);
    expect((await read(server, `/${acme.dashboard}`)).json.data.name).toBe('taken over');
  });

  it('deletes no dashboard while the folder is unavailable', async () => {
    put('a.yaml', board({ id: 'a', name: 'A' }));
    await start({ inProcess: false });
    renameSync(folder, `${folder}-away`);
    await until(
      async () => server.log(),
      (log) => log.includes('failed to apply the dashboards folder'),
      'the error is not logged',
    );
    expect((await read(server, '/a')).status).toBe(200);
    renameSync(`${folder}-away`, folder);
  });

  it('makes dashboards editable when the server starts without the folder, and takes them over again', async () => {
    put('a.yaml', board({ id: 'a', name: 'A' }));
    put('theirs.yaml', board({ id: 'b', name: 'B', organization: 'Globex' }));
    await start();
    const { etag } = Object.fromEntries((await read(server, '/a')).headers);
    await server.stop();
    await server.restart([]);
    const released = await read(server, '/a');
    expect([released.status, released.headers.get('x-pilothouse-provisioned')]).toEqual([200, null]);
    expect(released.headers.get('etag')).toBe(etag);
    expect((await read(server, '/a/versions')).json.data).toHaveLength(1);
    const activities = await server.call({
      path: `/v1/organizations/${acme.id}/activities?resource_id=a&type=dashboard_update`,
      key: acme.admin,
    });
    expect(activities.json.result).toMatchObject([
      {
        actorDetails: 'dashboards folder',
        before: { provisionedFrom: 'a.yaml' },
        after: { provisionedFrom: null },
      },
    ]);
    expect((await write(server, 'PUT', '/a', { name: 'By hand' })).status).toBe(200);
    const globexDashboards = { method: 'DELETE', path: `${DASHBOARDS}/b`, token: globex.writer };
    expect((await server.call(globexDashboards)).status).toBe(200);

    await server.stop();
    await server.restart();
    expect((await read(server, '/a')).json.data.name).toBe('A');
    expect((await write(server, 'PUT', '/a', { name: 'again' })).status).toBe(409);
    expect((await server.call({ path: `${DASHBOARDS}/b`, token: globex.token })).status).toBe(200);
    const versions = (await read(server, '/a/versions')).json.data;
    expect(versions.map(({ name }: Json) => name)).toEqual(['A', 'By hand', 'A']);
  });

  it('deletes the dashboard of a file that was deleted while the server was down; a version restores it', async () => {
    put('a.yaml', board({ id: 'a', name: 'A' }));
    await start();
    await server.stop();
    rmSync(join(folder, 'a.yaml'));
    await server.restart();
    expect((await read(server, '/a')).status).toBe(404);
    const restored = await write(server, 'POST', '/a/versions/1/restore');
    expect([restored.status, restored.headers.get('x-pilothouse-provisioned')]).toEqual([200, null]);
    expect((await write(server, 'PUT', '/a', { name: 'By hand' })).status).toBe(200);
  });

  it('a fleet file can change dashboards of a folder that is no longer used', async () => {
    put('a.yaml', board({ id: acme.dashboard, name: 'taken over' }));
    await start();
    await server.stop();
    const fleetFile = join(server.directory, 'fleet.json');
    const fleet = JSON.parse(readFileSync(fleetFile, 'utf8'));
    fleet.organizations[0].dashboards[0].name = 'Of the fleet';
    writeFileSync(fleetFile, JSON.stringify(fleet));
    await server.restart([]);
    expect((await read(server, `/${acme.dashboard}`)).json.data.name).toBe('Of the fleet');
  });

  it('answers with links in circles and special files in the folder, and logs no contents', async () => {
    put('a.yaml', board({ id: 'a', name: 'A' }));
    put('text.json', 'secret-contents of a file that is no JSON');
    for (const name of ['x', 'y']) symlinkSync('.', join(folder, name));
    symlinkSync('loop.json', join(folder, 'loop.json'));
    symlinkSync('/etc/hostname', join(folder, 'host.yaml'));
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    await start({ inProcess: false });
    expect((await read(server, '/a')).json.data.name).toBe('A');
    await until(
      async () => ['text', 'loop', 'host', 'pipe'].filter((name) => !server.log().includes(`"file":"${name}.`)),
      (missing) => missing.length === 0,
      'the problems are not logged',
    );
    expect(server.log()).not.toContain('secret-contents');
    put('b.yaml', board({ id: 'b', name: 'B' }));
    await untilNamed('B');
  });

  it('skips files whose organization is ambiguous or unknown', async () => {
    put('none.yaml', board({ organization: undefined, name: 'none' }));
    put('unknown.yaml', board({ organization: 'Nobody', name: 'unknown' }));
    await start({ inProcess: false });
    expect(await findByName('none')).toBeUndefined();
    await until(
      async () => server.log(),
      (log) => log.includes('must be one of Acme, Globex, Initech') && log.includes('The organization does not exist'),
      'the error is not logged',
    );
  });
});

describe('a missing dashboards folder', () => {
  it('prevents the start, and doctor reports it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const args = ['--port', '0', '--data', join(directory, 'data'), '--dashboards', join(directory, 'none')];
    const { code, stderr } = await cli(['serve', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The dashboards folder cannot be read')]);
    expect((await cli(['doctor', ...args])).stdout).toMatch(/^FAIL {2}dashboards .*none cannot be read/m);
    mkdirSync(join(directory, 'none'));
    writeFileSync(join(directory, 'none/a.yaml'), 'name: ""');
    const found = await cli(['doctor', ...args]);
    expect([found.code, found.stdout]).toEqual([1, expect.stringMatching(/^FAIL {2}dashboards +a\.yaml: name: /m)]);
    rmSync(directory, { recursive: true });
  });
});
