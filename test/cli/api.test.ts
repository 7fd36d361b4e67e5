import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, getServerStore, type Json, listErrors } from '../support/cli.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, PROGRAM, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const KEY = `${acme.admin.keyId}:${acme.admin.keySecret}`;
const ABSENT = '00000000-0000-4000-8000-000000000000';

/** What follows the place of a mistake: `The value must be at most 20 <number:50>`. */
const rules = (texts: readonly string[]) => texts.map((text) => text.slice(text.indexOf(': ') + 2));

onEachStoreInLongRuns('commands on the store and over --url', (store) => {
  const server = useServer(store);
  const local = (...args: string[]) => getServerStore(server).run(...args, '--org', 'Acme');
  const remote = (...args: string[]) => cli([...args, '--url', server.url], { PILOTHOUSE_KEY: KEY });
  const both = [local, remote];
  const json = async (run: typeof local, ...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const send = async (method: string, path: string, body: object) =>
    (await server.call({ method, path: `/v1/organizations/${acme.id}${path}`, key: acme.admin, body })).json;

  const scale = (member: string, flag: string, value: unknown) =>
    [
      { [member]: value },
      ['service', 'scale', acme.primary, `${flag}=${value}`],
      { services: [{ name: 'n', [member]: value }] },
      ['PATCH', `/services/${acme.primary}/replicaScaling`],
    ] as const;
  const createService = (body: object, args: string[]) =>
    [
      { name: 'new', provider: 'aws', region: 'us-east-1', ...body },
      ['service', 'create', '--name', 'new', ...args],
      { services: [{ name: 'new', ...body }] },
      ['POST', '/services'],
    ] as const;
  const createKey = (body: object, args: string[]) =>
    [
      body,
      ['key', 'create', ...args],
      { keys: [{ name: 'k', keyId: 'SomeKey0000000000001', keySecret: 'some-secret', ...body }] },
      ['POST', '/keys'],
    ] as const;
  const createToken = (body: object, args: string[]) =>
    [
      body,
      ['token', 'create', ...args],
      { dashboardTokens: [{ name: 't', token: 'some-token', ...body }] },
      ['POST', '/dashboardTokens'],
    ] as const;
  const MISTAKES = [
    scale('minReplicaMemoryGb', '--min-memory', 2.5),
    scale('minReplicaMemoryGb', '--min-memory', 10),
    scale('maxReplicaMemoryGb', '--max-memory', 5000),
    scale('numReplicas', '--replicas', 50),
    scale('numReplicas', '--replicas', 0),
    scale('idleTimeoutMinutes', '--idle-timeout', 1),
    createService({ maxReplicaMemoryGb: 5000, numReplicas: 50 }, ['--replicas', '50', '--max-memory', '5000']),
    createService({ driver: 'magic' }, ['--driver', 'magic']),
    createKey({ name: '' }, ['--name', '']),
    createKey({ name: 'x'.repeat(256) }, ['--name', 'x'.repeat(256)]),
    createKey({ roles: ['owner'] }, ['--role', 'owner']),
    createKey({ state: 'asleep' }, ['--state', 'asleep']),
    createKey({ ipAccessList: [{ source: '127.1' }] }, ['--allow', '127.1']),
    createToken({ name: '' }, ['--name', '']),
    createToken({ access: 'admin' }, ['--access', 'admin']),
  ];

  it.each(MISTAKES)(
    'S2, S3, S5, K5, K6, K8: %j has the same error in the API, on the command line and in a fleet file',
    async (body, args, declared, [method, path]) => {
      const { error } = await send(method, path, body);
      expect(error).toMatch(/^BAD_REQUEST: request body\./);
      const expected = rules(error.slice('BAD_REQUEST: '.length).split('; ')).sort();
      for (const run of both) {
        const finished = await run(...args);
        expect([finished.code, finished.stdout]).toEqual([2, '']);
        expect(rules(listErrors(finished)).sort()).toEqual(expected);
        for (const line of listErrors(finished)) expect(line).toMatch(/^--[a-z-]+: /);
      }
      const file = join(server.directory, 'mistake.json');
      writeFileSync(file, JSON.stringify({ organizations: [{ name: 'Mistaken', ...declared }] }));
      const applied = await getServerStore(server).run('apply', file);
      expect(applied.code).toBe(2);
      expect(rules(listErrors(applied)).sort()).toEqual(expected);
    },
  );

  it('print the same', async () => {
    for (const args of [
      ['service', 'list'],
      ['service', 'get', 'analytics'],
      ['token', 'list'],
      ['role', 'list'],
      ['role', 'get', 'developer'],
      ['budget', 'list'],
      ['usage', 'summary', '--from', '2026-11-01', '--to', '2026-11-03', '--group', 'metric'],
    ])
      expect(await json(remote, ...args), args.join(' ')).toEqual(await json(local, ...args));
    const forecasts = await Promise.all(both.map((run) => json(run, 'usage', 'forecast', '--month', '2026-11')));
    expect(forecasts[1]).toEqual({ ...forecasts[0], asOf: expect.any(String) });
    const files = await Promise.all(
      both.map((run) => run('usage', 'export', '--from', '2026-11-01', '--to', '2026-11-30')),
    );
    expect(files[0]?.stdout).toMatch(/^date,/i);
    expect(files[1]?.stdout).toBe(files[0]?.stdout);
    expect(await json(remote, 'org', 'list')).toEqual([expect.objectContaining({ id: acme.id, name: 'Acme' })]);
  });

  it('make the same changes; the audit log names the key, or the command', async () => {
    for (const [run, actor] of [
      [local, { actorType: 'system', actorId: 'cli', actorDetails: 'pilothouse cli, test' }],
      [remote, { actorType: 'api', actorIpAddress: '127.0.0.1' }],
    ] as const) {
      const { service, password } = await json(run, 'service', 'create', '--name', 'made', '--replicas', '2');
      expect([service.numReplicas, password]).toEqual([2, expect.stringMatching(/^php_/)]);
      await json(run, 'service', 'scale', 'made', '--min-memory', '24', '--idle', 'off');
      expect(await json(run, 'service', 'get', service.id.toUpperCase())).toMatchObject({
        minReplicaMemoryGb: 24,
        idleScaling: false,
      });
      expect((await run('service', 'stop', 'made')).stdout).toMatch(/^made is stopp/);
      const isStopped = ({ state }: Json) => state === 'stopped';
      await until(() => json(run, 'service', 'get', 'made'), isStopped, 'the service does not stop');
      expect((await run('service', 'delete', 'made')).stdout).toBe('Deleted service made.\n');
      expect(await run('service', 'get', 'made')).toMatchObject({
        code: 1,
        stderr: 'error: service made does not exist\n',
      });
      const activities = await json(run, 'audit', 'list', '--resource-id', service.id, '--limit', '10');
      expect(activities.at(-1)).toMatchObject({ activityType: 'service_create', ...actor });
      for (const activity of activities) expect(activity).toMatchObject(actor);
    }
  });

  it('key delete revokes a key', async () => {
    for (const run of both) {
      const { key, keyId, keySecret } = await json(run, 'key', 'create', '--name', 'gone', '--allow', '127.0.0.0/8');
      expect(key.ipAccessList).toEqual([{ source: '127.0.0.0/8' }]);
      const status = async () => (await server.call({ path: '/v1/organizations', key: { keyId, keySecret } })).status;
      expect(await status()).toBe(200);
      expect((await run('key', 'delete', key.id)).stdout).toBe(`Deleted key gone (…${key.keySuffix}).\n`);
      expect(await status()).toBe(401);
      expect(await run('key', 'delete', ABSENT)).toMatchObject({
        code: 1,
        stderr: `error: key ${ABSENT} does not exist\n`,
      });
    }
  });

  it('R3: role create, update and delete manage custom roles, which keys can have', async () => {
    for (const run of both) {
      const file = join(server.directory, 'policies.yaml');
      writeFileSync(file, `- {allowDeny: ALLOW, permissions: [instanceGet], resources: [instance/${acme.primary}]}\n`);
      const role = await json(run, 'role', 'create', '--name', 'watcher', '--policies', file);
      expect(role).toMatchObject({ name: 'watcher', type: 'custom', policies: [{ permissions: ['instanceGet'] }] });
      const { key } = await json(run, 'key', 'create', '--name', 'eye', '--role', 'watcher', 'developer');
      expect(key.assignedRoles.map(({ roleName }: Json) => roleName).sort()).toEqual(['developer', 'watcher']);
      expect((await run('role', 'delete', 'watcher')).code).toBe(1);
      expect(await json(run, 'role', 'update', 'watcher', '--name', 'guard', '--keys', key.id)).toMatchObject({
        id: role.id,
        name: 'guard',
        actors: [`apiKey/${key.id}`],
      });
      await json(run, 'key', 'delete', key.id);
      expect((await run('role', 'delete', role.id)).stdout).toBe('Deleted role guard.\n');
      writeFileSync(file, '[{allowDeny: MAYBE, permissions: [], resources: [x]}]');
      const rejected = await run('role', 'create', '--name', 'x', '--policies', file);
      expect(rejected.code).toBe(2);
      for (const line of listErrors(rejected)) expect(line).toMatch(/^--policies: /);
    }
  });

  it('audit list filters as the API does', async () => {
    for (const run of both) {
      const { key } = await json(run, 'key', 'create', '--name', 'audited');
      const [activity, ...others] = await json(run, 'audit', 'list', '--type', 'key_create', '--limit', '1');
      expect([activity.resourceId, others]).toEqual([key.id, []]);
      expect(await json(run, 'audit', 'list', '--resource-type', 'key', '--from', '2099-01-01')).toEqual([]);
      expect((await run('audit', 'list', '--text', key.id)).stdout).toMatch(
        /^TIME +TYPE +ACTOR +RESOURCE +ID\n.* key_create /,
      );
      expect(listErrors(await run('audit', 'list', '--from', 'soon', '--to', 'later'))).toEqual([
        '--from: The value must be an ISO 8601 date or date-time <string:soon>',
        '--to: The value must be an ISO 8601 date or date-time <string:later>',
      ]);
    }
  });

  it('a service is not idle for a reason that only the server knows', async () => {
    expect(await json(remote, 'service', 'idle', acme.primary)).toMatchObject({ state: 'running' });
    expect(await local('service', 'idle', acme.primary)).toMatchObject({
      code: 2,
      stderr: 'error: only the running server knows its queries: use --url, PILOTHOUSE_URL or a profile\n',
    });
  });

  it('R1: a key works for its own organization only', async () => {
    expect(await remote('service', 'list', '--org', globex.id)).toMatchObject({
      code: 1,
      stderr: `error: The key belongs to the organization Acme (${acme.id}), not to ${globex.id}\n`,
    });
    expect((await remote('service', 'list', '--org', 'Acme')).code).toBe(0);
  });

  it('the key comes from a flag, a file, the environment or a profile', async () => {
    const file = join(server.directory, 'key');
    writeFileSync(file, `${KEY}\n`);
    const list = (args: string[], environment: Record<string, string> = {}) =>
      cli(['org', 'list', ...args], { XDG_CONFIG_HOME: join(server.directory, 'config'), ...environment });
    const url = ['--url', server.url];
    for (const [args, environment] of [
      [[...url, '--key', KEY], {}],
      [[...url, '--key-file', file], {}],
      [url, { PILOTHOUSE_KEY: KEY }],
      [url, { PILOTHOUSE_KEY_FILE: file }],
      [[], { PILOTHOUSE_URL: server.url, PILOTHOUSE_KEY: KEY }],
      [[], { PILOTHOUSE_URL: server.url, PILOTHOUSE_KEY: KEY, PILOTHOUSE_DATA: '/nowhere' }],
    ] as const)
      expect((await list([...args], environment)).stdout, JSON.stringify(args)).toContain(acme.id);
    expect(listErrors(await list(url))).toEqual([
      `the key for ${server.url} is missing: use --key-file, PILOTHOUSE_KEY or a profile`,
    ]);
    expect(await list([...url, '--key', 'unknown:key'])).toMatchObject({
      code: 1,
      stderr: `error: ${server.url} rejects the key: Key is not found\n`,
    });
    expect(await list([...url, '--data', 'x', '--key', KEY])).toMatchObject({
      code: 2,
      stderr: 'error: --url and --data cannot be used together\n',
    });
  });

  it('profile add, list, use and remove keep servers in a file that only its owner can read', async () => {
    const XDG_CONFIG_HOME = join(server.directory, 'profiles');
    const path = join(XDG_CONFIG_HOME, 'pilothouse/config.yaml');
    const run = (args: string[], environment = {}) => cli(args, { XDG_CONFIG_HOME, ...environment });
    const globexKey = `${globex.admin.keyId}:${globex.admin.keySecret}`;
    const add = (name: string, PILOTHOUSE_KEY: string) =>
      run(['profile', 'add', name, '--url', server.url], { PILOTHOUSE_KEY });
    expect((await add('wrong', 'unknown:key')).code).toBe(1);
    expect(existsSync(path)).toBe(false);
    expect((await add('a', KEY)).stdout).toBe(
      `Commands now use ${server.url}, organization Acme. Stored in ${path}.\n`,
    );
    expect((await add('g', globexKey)).code).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await run(['profile', 'list'])).stdout.split('\n')).toEqual([
      '   NAME  URL',
      `   a     ${server.url}`,
      `*  g     ${server.url}`,
      '',
    ]);
    expect((await run(['profile', 'list', '--json'])).stdout).not.toContain(globex.admin.keySecret);

    // The current profile, another one by name, and a store that was named explicitly.
    expect((await run(['org', 'list'])).stdout).toContain(globex.id);
    expect((await run(['org', 'list', '--profile', 'a'])).stdout).toContain(acme.id);
    expect((await run(['org', 'list'], { PILOTHOUSE_PROFILE: 'a' })).stdout).toContain(acme.id);
    expect((await run(['org', 'list', '--data', join(server.directory, 'none')])).stderr).toContain(
      'There is no store',
    );
    // A key of the environment is not sent to the server of a profile.
    expect((await run(['org', 'list'], { PILOTHOUSE_KEY: KEY })).stdout).toContain(globex.id);
    expect((await run(['profile', 'use', 'a'])).code).toBe(0);
    expect((await run(['org', 'list'])).stdout).toContain(acme.id);
    expect(listErrors(await run(['org', 'list', '--profile', 'x']))).toEqual([
      `there is no profile x; profiles in ${path}: a, g`,
    ]);
    expect((await run(['profile', 'remove', 'a'])).code).toBe(0);
    expect(readFileSync(path, 'utf8')).not.toContain(acme.admin.keySecret);
    // Without a profile, commands use the store.
    expect((await run(['org', 'list'], { PILOTHOUSE_DATA: join(server.directory, 'none') })).stderr).toContain(
      'no store',
    );
  });
});

describe('secrets on the command line', () => {
  it('a profile file that others can read is rejected', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    try {
      mkdirSync(join(directory, 'pilothouse'));
      const path = join(directory, 'pilothouse/config.yaml');
      writeFileSync(path, 'current: a\nprofiles: {a: {url: "http://127.0.0.1:1", key: "id:secret"}}\n');
      chmodSync(path, 0o644);
      expect(listErrors(await cli(['org', 'list'], { XDG_CONFIG_HOME: directory }))).toEqual([
        `${path} contains keys and other users can read it; run chmod 600 ${path}`,
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('the list of processes does not show --key', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const arrived = new Promise<void>((resolve) => server.once('request', () => resolve()));
    const args = ['org', 'list', '--url', `http://127.0.0.1:${port}`, '--key', 'id:visible-secret'];
    const child = spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env.PATH }, stdio: 'ignore' });
    try {
      await arrived;
      const shown = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' });
      expect(shown).toContain('pilothouse');
      expect(shown).not.toContain('visible-secret');
    } finally {
      child.kill('SIGKILL');
      server.closeAllConnections();
      server.close();
    }
  });
});
