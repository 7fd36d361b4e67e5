import { describe, expect, it } from 'vitest';
import { cli, getServerStore, type Json, listErrors } from '../support/cli.ts';
import { acme, globex } from '../support/fleet.ts';
import { accept } from '../support/members.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

onEachStoreInLongRuns('commands next to a running server', (store) => {
  const server = useServer(store);
  const run = (...args: string[]) => getServerStore(server).run(...args);
  const json = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const services = (key: { keyId: string; keySecret: string }) =>
    server.call({ path: `/v1/organizations/${acme.id}/services`, key });

  it('org list and service list print a table or JSON', async () => {
    const { stdout } = await run('org', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^ID +NAME +TIER +PAID$/);
    expect(stdout).toMatch(new RegExp(`${acme.id} +Acme +SCALE +yes\n`));
    expect(await json('org', 'list')).toContainEqual({
      id: globex.id,
      name: 'Globex',
      tier: 'SCALE',
      paid: false,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await run('service', 'list', '--org', 'Acme')).stdout).toMatch(
      new RegExp(`${acme.primary} +analytics +simulated +running +3 +16–120 GB +after 15 min`),
    );
    expect(await json('service', 'list', '--org', acme.id.toUpperCase())).toContainEqual(
      expect.objectContaining({ id: acme.development, name: 'sandbox', tier: 'development', minTotalMemoryGb: 24 }),
    );
  });

  it('--org is optional only if there is one organization', async () => {
    const omitted = await run('service', 'list');
    expect(omitted.code).toBe(2);
    expect(omitted.stderr).toContain(`error: --org must be one of `);
    expect(omitted.stderr).toContain(`${acme.id} (Acme)`);
    expect(await run('key', 'list', '--org', 'Umbrella')).toMatchObject({
      code: 1,
      stderr: 'error: organization Umbrella does not exist\n',
    });
  });

  it('member invite prints a link that works once', async () => {
    const email = 'cli@acme.example';
    const invited = await run(
      'member',
      'invite',
      email,
      '--org',
      'Acme',
      '--role',
      'admin',
      '--public-url',
      'https://p.example',
    );
    expect([invited.code, invited.stdout]).toEqual([
      0,
      expect.stringMatching(/^https:\/\/p\.example\/invitation#phi_\w{49}\n$/),
    ]);
    const [invitation] = await json('invitation', 'list', '--org', 'Acme');
    expect(invitation).toMatchObject({ email, role: 'admin' });
    const secret = invited.stdout.trim().split('#')[1] ?? '';
    expect((await accept(server, secret)).status).toBe(200);
    expect((await accept(server, secret)).status).toBe(401);
    const [member] = await json('member', 'list', '--org', 'Acme');
    expect(member).toMatchObject({ email, role: 'admin' });
    // The last admin stays.
    expect(await run('member', 'remove', member.userId, '--org', 'Acme')).toMatchObject({ code: 1 });
    const again = await json('member', 'invite', 'second@acme.example', '--org', 'Acme');
    expect(await run('invitation', 'delete', again.id, '--org', 'Acme')).toMatchObject({
      code: 0,
      stdout: 'Deleted the invitation of second@acme.example.\n',
    });
  });

  it('K1: key create prints working credentials; K9: key disable takes effect immediately', async () => {
    const created = await json(
      'key',
      'create',
      '--org',
      'Acme',
      '--name',
      'ci',
      '--role',
      'developer',
      'admin',
      '--expires',
      '2099-01-01T00:00:00+01:00',
    );
    expect(created.key).toMatchObject({
      name: 'ci',
      roles: ['developer', 'admin'],
      state: 'enabled',
      expireAt: '2098-12-31T23:00:00Z',
      keySuffix: created.keyId.slice(-4),
    });
    expect((await services(created)).status).toBe(200);

    expect(await run('key', 'disable', created.key.id, '--org', 'Acme')).toMatchObject({
      code: 0,
      stdout: `Disabled key ci (…${created.key.keySuffix}).\n`,
    });
    expect((await services(created)).json.error).toBe('UNAUTHORIZED: Key is not active');
    expect((await json('key', 'list', '--org', 'Acme')).find(({ id }: Json) => id === created.key.id)).toMatchObject({
      state: 'disabled',
    });
  });

  it('K9: key rotate prints a new key, and the old one works for the grace period', async () => {
    const created = await json('key', 'create', '--org', 'Acme', '--name', 'rotated', '--role', 'admin');
    const { key, previous, ...credentials } = await json(
      'key',
      'rotate',
      created.key.id.toUpperCase(),
      '--org',
      'Acme',
    );
    expect(key).toMatchObject({ name: 'rotated', roles: ['admin'], keySuffix: credentials.keyId.slice(-4) });
    expect(previous.id).toBe(created.key.id);
    const hours = (Date.parse(previous.expireAt) - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    expect((await services(credentials)).status).toBe(200);
    expect((await services(created)).status).toBe(200);

    const { stdout, stderr } = await run('key', 'rotate', key.id, '--org', 'Acme', '--grace', '0');
    expect(stderr).toMatch(/^Rotated key rotated\. The old key \(….{4}\) expires at \d{4}-.*Z\.\n/);
    const [keyId = '', keySecret = ''] = stdout.trim().split(':');
    expect((await services({ keyId, keySecret })).status).toBe(200);
    expect((await services(credentials)).json.error).toBe('UNAUTHORIZED: Key is not active');
    for (const [grace, text] of [
      ['-1', '--grace: The value must be at least 0 <number:-1>'],
      ['169', '--grace: The value must be at most 168 <number:169>'],
      ['x', '--grace must be a number, not "x"'],
    ])
      expect(await run('key', 'rotate', key.id, '--org', 'Acme', `--grace=${grace}`)).toMatchObject({
        code: 2,
        stderr: `error: ${text}\n`,
      });
  });

  it('without --json, standard output contains only the credentials', async () => {
    const { stdout, stderr } = await run('key', 'create', '--org', 'Acme');
    expect(stderr).toBe('Created key API key (developer). The secret is shown only once.\n');
    expect(stdout).toMatch(/^[A-Za-z0-9]{20}:phs_[A-Za-z0-9]{49}\n$/);
    const [keyId = '', keySecret = ''] = stdout.trim().split(':');
    expect((await services({ keyId, keySecret })).status).toBe(200);
    const list = await run('key', 'list', '--org', 'Acme');
    expect(list.stdout).toMatch(/expired +…0001 +expired +admin +never/);
    expect(list.stdout).not.toContain(keyId);
  });

  it('R2: token create prints a token that reads only its own organization', async () => {
    const { token } = await json('token', 'create', '--org', 'Globex', '--name', 'tv');
    expect(token).toMatch(/^pht_[A-Za-z0-9]{49}$/);
    const { status, json: dashboards } = await server.call({ path: '/api/v2/dashboards', token });
    expect([status, dashboards.data.map(({ id }: Json) => id)]).toEqual([200, [globex.dashboard]]);
    const plain = await run('token', 'create', '--org', 'Acme', '--expires', '2099-01-01T00:00:00Z');
    expect(plain).toMatchObject({
      code: 0,
      stderr: 'Created dashboard token dashboard token. It is shown only once.\n',
    });
    expect((await server.call({ path: '/api/v2/dashboards', token: plain.stdout.trim() })).status).toBe(200);
  });

  it('R2: token create --access write creates a token that can change dashboards; token list shows access and last use', async () => {
    const { id, token, access } = await json('token', 'create', '--org', 'Acme', '--name', 'pen', '--access', 'write');
    expect(access).toBe('write');
    const listed = async () => (await json('token', 'list', '--org', 'Acme')).find((one: Json) => one.id === id);
    expect(await listed()).toMatchObject({ name: 'pen', access: 'write', usedAt: null });
    const call = { method: 'POST', path: '/api/v2/dashboards', token, body: { name: 'by CLI token' } };
    expect((await server.call(call)).status).toBe(200);
    await until(listed, ({ usedAt }) => usedAt !== null, 'the last use of the token is not recorded');
    expect((await run('token', 'list', '--org', 'Acme')).stdout).toMatch(
      /^ID +NAME +ACCESS +TOKEN +EXPIRES +LAST USED\n/,
    );
    expect((await run('token', 'create', '--org', 'Acme', '--access', 'admin')).code).toBe(2);
  });

  it('R2: token delete revokes a token before the next request, but not a token of another organization', async () => {
    const { id, token } = await json('token', 'create', '--org', 'Globex', '--name', 'gone');
    const status = async () => (await server.call({ path: '/api/v2/dashboards', token })).status;
    expect((await json('token', 'list', '--org', 'Globex')).map((one: Json) => one.id)).toContain(id);
    expect((await run('token', 'delete', id, '--org', 'Acme')).code).toBe(1);
    expect(await status()).toBe(200);
    expect((await run('token', 'delete', id, '--org', 'Globex')).code).toBe(0);
    expect(await status()).toBe(401);
  });

  it('K4, K5, K8: exits with 2 for values that the API rejects', async () => {
    const long = 'x'.repeat(256);
    const create = ['key', 'create', '--org', 'Acme'];
    expect(listErrors(await run(...create, '--role', 'owner', 'boss', '--state', 'asleep', '--name', ''))).toEqual([
      '--name: The value must not be empty <string:>',
      '--role: The value must be one of admin, developer, query_endpoints <string:owner>',
      '--role: The value must be one of admin, developer, query_endpoints <string:boss>',
      '--state: The value must be one of enabled, disabled <string:asleep>',
    ]);
    for (const args of [
      [...create, '--name', long],
      [...create, '--expires', '2020-01-01T00:00:00Z'],
      ['token', 'create', '--org', 'Acme', '--expires', 'soon'],
      ['token', 'create', '--org', 'Acme', '--name', ''],
    ]) {
      expect((await run(...args)).code, args.join(' ')).toBe(2);
    }
  });

  it('exits with 1 when rotating an unknown key or disabling the last admin key', async () => {
    const absent = '00000000-0000-4000-8000-000000000000';
    expect(await run('key', 'rotate', absent, '--org', 'Acme')).toMatchObject({
      code: 1,
      stderr: `error: key ${absent} does not exist\n`,
    });
    const [admin] = await json('key', 'list', '--org', 'Globex');
    const last = await run('key', 'disable', admin.id, '--org', 'Globex');
    expect(last.code).toBe(1);
    expect(last.stderr).toContain('the last enabled admin key');
  });
});

describe('the command line', () => {
  it('--help lists every command and exits with 0', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['serve', 'demo', 'apply', 'export', 'org', 'service', 'key', 'token', 'usage', 'doctor'])
      expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
  });

  it('--help of a command lists each flag with its variable', async () => {
    const { code, stdout } = await cli(['serve', '--help']);
    expect(code).toBe(0);
    const flags = {
      port: 'PORT',
      host: 'HOST',
      'dashboard-port': 'DASHBOARD_PORT',
      data: 'DATA',
      'database-url': 'DATABASE_URL',
      fleet: 'FLEET',
      'rate-limit': 'RATE_LIMIT',
      'max-keys': 'MAX_KEYS',
      'trust-proxy': 'TRUST_PROXY',
      'log-level': 'LOG_LEVEL',
    };
    for (const [flag, variable] of Object.entries(flags))
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`--${flag} <[^[]*\\[PILOTHOUSE_${variable}\\]`));
  });

  it('--url is an option of every command that the management API can do', async () => {
    const help = async (...command: string[]) => (await cli([...command, '--help'])).stdout;
    const listCommands = async (...group: string[]) => {
      const [, list = ''] = (await help(...group)).split('Commands:\n');
      return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
    };
    const local: string[] = [];
    for (const name of await listCommands()) {
      const group = await listCommands(name);
      for (const command of group.length > 0 ? group.map((member) => [name, member]) : [[name]])
        if (!(await help(...command)).includes('--url <url>')) local.push(command.join(' '));
    }
    // They need the store, the engine or files of this machine. The dashboard API has tokens instead of keys.
    expect(local.join(', ')).toBe(
      'serve, demo, init, apply, export, backup, restore, move, secrets rotate, service plan, ' +
        'dashboard list, dashboard get, dashboard versions, dashboard restore, dashboard apply, dashboard export, dashboard validate, ' +
        'prices show, prices set, usage rate, usage recompute, usage adopt-engine, usage confirm-clock, audit verify, ' +
        'autoscale replay, profile list, profile use, profile remove, tls dev, doctor, completion, support-bundle',
    );
  });

  it('--version prints the version of the package', async () => {
    expect(await cli(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  it.each([
    [['fly'], "error: unknown command 'fly'"],
    [['key', 'steal'], "error: unknown command 'steal'\n(run pilothouse key --help for a list of commands)\n"],
    [
      ['serve', '--fast'],
      "error: unknown option '--fast'\n(Did you mean --host?)\n(run pilothouse serve --help for its arguments and options)\n",
    ],
    [['service', 'scale'], '(run pilothouse service scale --help for its arguments and options)\n'],
    [['serve', 'now'], 'error: too many arguments'],
    [['apply'], "error: missing required argument 'file'"],
    [['key', 'disable'], "error: missing required argument 'id'"],
    [['serve', '--port'], "error: option '--port <number>' argument missing"],
    [['apply', '/nowhere/fleet.yaml'], 'error: /nowhere/fleet.yaml cannot be read: ENOENT'],
    [
      ['org', 'list', '--log-level', 'loud', '--data', ''],
      'error: --data must not be empty, not ""\nerror: --log-level must be one of',
    ],
  ])('exits with 2 and an empty standard output for the invalid command line %j', async (args, text) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(text);
  });
});
