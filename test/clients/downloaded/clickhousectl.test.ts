import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.ts';
import { acme } from '../../support/fleet.ts';
import { join as becomeMember } from '../../support/members.ts';
import { useServices } from '../../support/running-service.ts';
import { onEachStore, type TestServer, useServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { describeClient, installFromPyPi } from '../install.ts';

const PACKAGE = 'clickhousectl==0.5.0';
const service = acme.primary;

/** Every command line of this file. */
const ran = new Set<string>();

interface Outcome {
  code: number | null;
  json: Json;
  text: string;
}

function createCtl(programs: string, server: TestServer) {
  const home = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const { keyId, keySecret } = acme.admin;
  return (...args: string[]): Outcome => {
    ran.add(`${args.join(' ')} `);
    const credentials = ['--url', server.url, '--api-key', keyId, '--api-secret', keySecret, '--json'];
    const { status, stdout, stderr } = spawnSync(join(programs, 'clickhousectl'), ['cloud', ...credentials, ...args], {
      cwd: home,
      // Otherwise `service query` would send the statement to the hosted system.
      env: { PATH: process.env.PATH, HOME: home, DO_NOT_TRACK: '1', CLICKHOUSE_CLOUD_QUERY_HOST: server.url },
      encoding: 'utf8',
    });
    return { code: status, json: parse(stdout), text: stdout + stderr };
  };
}

/** The path of a new file with a request body. */
function writeBody(body: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'pilothouse-test-')), 'body.json');
  writeFileSync(file, JSON.stringify(body));
  return file;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sub-commands that read, and a member of their output. */
const READS: [string, RegExp][] = [
  ['auth whoami', /apiKey/],
  ['org list', /Acme/],
  ['org get', /Acme/],
  ['org role list', /Admin/i],
  ['org prometheus', /# TYPE/],
  ['org prometheus discovery', /targets/],
  ['org usage --from-date 2026-10-01 --to-date 2026-10-31', /grandTotalCHC/],
  ['org usage --from-date 2026-10-01 --to-date 2026-10-31 --filter tag:team=none', /"costs": \[\]/],
  ['member list', /\[/],
  ['invitation list', /\[/],
  ['service list', /analytics/],
  ['service list --filter tag:team=none', /\[\]/],
  [`service get ${service}`, /effectiveMinReplicaMemoryGb/],
  ['service get --name analytics', /effectiveMinReplicaMemoryGb/],
  [`service private-endpoint get-config ${service}`, /endpointServiceId|\{\}/],
  [`service backup-config get ${service}`, /backupPeriodInHours/],
  [`service prometheus ${service}`, /# TYPE/],
  ['key list', /keySuffix/],
  ['key list --all', /keySuffix/],
  ['key list --limit 2', /nextCursor/],
  ['key get --name admin', /assignedRoles/],
  ['activity list', /createdAt/],
  ['activity list --from-date 2026-01-01 --to-date 2099-01-01', /createdAt/],
  [`clickstack dashboard list ${service}`, /Acme board/],
  [`clickstack dashboard get ${service} ${acme.dashboard}`, /displayType/],
  [`clickstack source list ${service}`, /timestampValueExpression/],
  [`clickstack saved-search list ${service}`, /\[/],
  [`clickstack alert list ${service}`, /\[/],
  [`clickstack webhook list ${service}`, /\[/],
];

/** Sub-commands that Pilothouse does not support, and the sentence that says why. */
const UNSUPPORTED: [string, string][] = [
  ['org quota list', 'The limits of an organization are settings of the server'],
  ['org quota get services', 'The limits of an organization are settings of the server'],
  ['org balance', 'Pilothouse records cost but sells no credits'],
  ['org notifications', 'Notifications of alerts and budgets are at /api/v2/notifications'],
  ['org notification-types', 'Alerts and budgets choose where they send notifications'],
  ...[
    'get x',
    'progress x',
    'private-endpoint-config x',
    'tags x',
    'validate --region us-east-1 --account-id 1',
    'create --region us-east-1 --account-id 1',
    'update x --new-name y',
    'delete x',
  ].map((rest): [string, string] => [`org byoc ${rest}`, 'Pilothouse does not manage cloud accounts']),
  ['org update --new-name Other', 'The organization is declared in a fleet file'],
  [
    'service profile list --region us-east-1',
    'Pilothouse has no machine profiles; set the memory of a replica instead',
  ],
  ...['list', 'get', 'schema', 'set', 'unset'].map((verb): [string, string] => {
    const rest = { get: ' max_threads', set: ' --setting max_threads=4', unset: ' max_threads' }[verb] ?? '';
    return [`service settings ${verb} ${service}${rest}`, 'Pilothouse does not manage the settings of the database'];
  }),
  ...[
    `list ${service}`,
    `get ${service} --snapshot-id x`,
    `config get ${service}`,
    `config update ${service} --enabled true`,
  ].map((rest): [string, string] => [`service snapshot ${rest}`, 'Pilothouse does not take snapshots of services']),
  ...[`get ${service}`, `set ${service} --weekday 1 --start-hour 6`, `delete ${service}`].map(
    (rest): [string, string] => [`service upgrade-window ${rest}`, 'Pilothouse does not upgrade services on its own'],
  ),
  ...[`get ${service}`, `update ${service} --http-enabled true`].map((rest): [string, string] => [
    `service replica-aware-routing ${rest}`,
    'Pilothouse does not route queries',
  ]),
  // Refused by the client itself: it repairs what `service query` has stored.
  [`service repair-query-key ${service}`, 'no stored query key exists'],
  [`clickstack role list ${service}`, 'The roles of keys are those of the management interface'],
  [`service private-endpoint create ${service} --endpoint-id x`, 'Pilothouse does not manage cloud networks'],
  [`backup bucket get ${service}`, 'Backups are in the directory that the setting --backup-directory names'],
  [`clickpipe list ${service}`, 'Pilothouse does not manage ingestion pipelines'],
  [`query-api-endpoint list ${service}`, 'Pilothouse does not run queries for clients'],
  ['postgres list', 'Pilothouse manages ClickHouse services only'],
];

const split = (command: string): string[] => command.split(' ');

describeClient(
  PACKAGE,
  () => installFromPyPi(PACKAGE),
  (programs) => {
    onEachStore('clickhousectl', (store) => {
      const server = useServer(store, { inProcess: false, args: ['--endpoint-ports', '0'] });
      const services = useServices(server);
      const run = (...args: string[]) => createCtl(programs, server)(...args);
      const succeed = (...args: string[]): Json => {
        const { code, json, text } = run(...args);
        expect(code, `${args.join(' ')}\n${text}`).toBe(0);
        return json;
      };

      const untilState = (id: string, state: string) =>
        until(
          async () => run('service', 'get', id).json?.state,
          (current) => current === state,
          `the service does not become ${state}`,
        );

      it.each(READS)('%s', (command, expected) => {
        const { code, text } = run(...split(command));
        expect(code, text).toBe(0);
        expect(text).toMatch(expected);
      });

      it.each(UNSUPPORTED)('%s is rejected with the reason', (command, reason) => {
        const { code, text } = run(...split(command));
        expect(code, text).toBe(1);
        expect(text).toContain(reason);
      });

      it('creates, changes, stops and deletes a service', async () => {
        const options = [
          '--provider',
          'aws',
          '--region',
          'us-east-1',
          '--ip-allow',
          '10.0.0.0/8=office',
          '--tag',
          'team=cli',
        ];
        const sizes = ['--min-replica-memory-gb', '16', '--max-replica-memory-gb', '32', '--num-replicas', '3'];
        const created = succeed('service', 'create', '--name', 'from the cli', ...options, ...sizes);
        expect(created).toMatchObject({
          password: expect.any(String),
          service: { name: 'from the cli', provider: 'aws' },
        });
        const { id } = created.service;
        expect(succeed('service', 'list', '--filter', 'tag:team=cli')).toMatchObject([{ id }]);
        const renamed = succeed('service', 'update', id, '--new-name', 'renamed', '--add-ip-allow', '192.0.2.0/24=lab');
        expect(renamed).toMatchObject({
          name: 'renamed',
          ipAccessList: [{ source: '10.0.0.0/8' }, { source: '192.0.2.0/24' }],
        });
        expect(succeed('service', 'scale', id, '--num-replicas', '5')).toMatchObject({ numReplicas: 5 });
        expect(succeed('service', 'reset-password', id)).toMatchObject({ password: expect.any(String) });
        succeed('service', 'backup-config', 'update', id, '--backup-period-hours', '24');
        expect(run('service', 'delete', id)).toMatchObject({ code: 1, text: expect.stringContaining('conflict') });
        succeed('service', 'stop', id);
        await untilState(id, 'stopped');
        succeed('service', 'start', id);
        await untilState(id, 'running');
        expect(succeed('service', 'wake', id)).toMatchObject({ id });
        succeed('service', 'delete', id, '--force');
        expect(run('service', 'get', id)).toMatchObject({ code: 1, text: expect.stringContaining('NOT_FOUND') });
      });

      it('runs statements, and lists backups and saved queries of a service', async () => {
        const { id } = await services.create();
        const query = (...args: string[]) => run('service', 'query', id, ...args);
        expect(query('--query', 'SELECT 42 AS x', '--no-auto-enable').code).toBe(1);
        // Binds the key to the query endpoint of the service.
        const first = query('--query', 'SELECT 42 AS x');
        expect(first.json, first.text).toEqual({ x: 42 });
        expect(query('--query', 'SELECT currentDatabase() AS d', '--database', 'system').text).toContain('system');
        expect(query('--query', 'SELEC 1')).toMatchObject({ code: 1, text: expect.stringContaining('Syntax error') });

        expect((await services.send('POST', `/${id}/backups`)).status).toBe(200);
        const [backup] = await until(
          async () => succeed('backup', 'list', id) as Json[],
          ([newest]) => newest?.status === 'done',
          'the backup does not end',
        );
        expect(succeed('backup', 'get', id, backup.id)).toMatchObject({ id: backup.id, serviceId: id });

        const savedQuery = (command: string, ...args: string[]) => succeed('saved-query', command, id, ...args);
        const text = ['--sql', 'SELECT {n:UInt8}', '--database', 'default', '--param', 'n=1'];
        const saved = savedQuery('create', '--name', 'from the cli', ...text);
        expect(saved).toMatchObject({ name: 'from the cli', sql: 'SELECT {n:UInt8}' });
        expect(savedQuery('list')).toMatchObject({ result: [{ id: saved.id }] });
        savedQuery('update', '--name', 'from the cli', '--new-name', 'renamed', ...text);
        expect(savedQuery('get', saved.id)).toMatchObject({ name: 'renamed' });
        savedQuery('delete', '--name', 'renamed');
        expect(run('saved-query', 'get', id, saved.id).code).toBe(1);
      });

      it('invites people, changes the roles of members and removes them', async () => {
        const roles: Json[] = succeed('org', 'role', 'list');
        const [admin, developer] = ['admin', 'developer'].map((name) => roles.find((role) => role.name === name).id);
        const { id } = succeed('invitation', 'create', '--email', 'one@acme.example', '--role-id', admin);
        expect(succeed('invitation', 'list')).toMatchObject([{ id, email: 'one@acme.example' }]);
        expect(succeed('invitation', 'get', '--email', 'one@acme.example')).toMatchObject({ id });
        succeed('invitation', 'delete', id);
        expect(run('invitation', 'get', id).code).toBe(1);

        const { userId } = await becomeMember(server, acme, 'two@acme.example');
        expect(succeed('member', 'list')).toMatchObject([{ userId, email: 'two@acme.example' }]);
        expect(succeed('member', 'update', userId, '--role-id', developer)).toMatchObject({
          assignedRoles: [{ roleId: developer }],
        });
        expect(succeed('member', 'get', '--email', 'two@acme.example')).toMatchObject({ userId });
        succeed('member', 'remove', userId);
        expect(succeed('member', 'list')).toEqual([]);
      });

      it('sets and removes a scaling schedule', () => {
        const sizes = { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16 };
        const entry = { name: 'nights', weekdays: [1, 2, 3], startHourUtc: 20, endHourUtc: 23, ...sizes };
        const file = writeBody({ entries: [entry] });
        const { code, text } = run('service', 'scaling-schedule', 'set', acme.secondary, '--file', file);
        expect(code, text).toBe(0);
        expect(succeed('service', 'scaling-schedule', 'get', acme.secondary)).toMatchObject({
          entries: [expect.anything()],
        });
        succeed('service', 'scaling-schedule', 'delete', acme.secondary);
      });

      it('creates, changes and deletes a role', () => {
        const policy = {
          allowDeny: 'ALLOW',
          permissions: ['control-plane:service:view'],
          resources: [`instance/${service}`],
        };
        const role = succeed(
          'org',
          'role',
          'create',
          '--file',
          writeBody({ name: 'cli', actors: [], policies: [policy] }),
        );
        expect(role).toMatchObject({ name: 'cli', type: 'custom', policies: [policy] });
        const file = writeBody({ name: 'renamed' });
        expect(succeed('org', 'role', 'update', '--name', 'cli', '--file', file)).toMatchObject({ name: 'renamed' });
        expect(succeed('org', 'role', 'get', role.id)).toMatchObject({ name: 'renamed', policies: [policy] });
        succeed('org', 'role', 'delete', '--name', 'renamed');
        expect(run('org', 'role', 'get', role.id)).toMatchObject({
          code: 1,
          text: expect.stringContaining('NOT_FOUND'),
        });
      });

      it('creates, changes and deletes a query endpoint', () => {
        const endpoint = (command: string, ...args: string[]) =>
          run('service', 'query-endpoint', command, service, ...args);
        expect(endpoint('get')).toMatchObject({ code: 1, text: expect.stringContaining('has no query endpoint') });
        const [key] = succeed('key', 'list').result;
        const origin = 'https://app.example.com';
        const created = endpoint(
          'create',
          '--role',
          'sql_console_read_only',
          '--open-api-key',
          key.id,
          '--allowed-origins',
          origin,
        );
        expect(created.json, created.text).toMatchObject({ allowedOrigins: origin, openApiKeys: [key.id] });
        const changed = { allowedOrigins: origin, openApiKeys: [key.id], roles: ['sql_console_admin'] };
        expect(endpoint('create', '--role', 'sql_console_admin').json).toMatchObject(changed);
        expect(endpoint('get').json).toMatchObject(changed);
        expect(endpoint('delete').code).toBe(0);
        expect(endpoint('get').code).toBe(1);
      });

      it.each([
        [
          'dashboard',
          (name: string) => ({
            name,
            tiles: [
              {
                name: 'Errors',
                x: 0,
                y: 0,
                w: 12,
                h: 4,
                config: { displayType: 'line', sourceId: acme.dashboard, select: [{ aggFn: 'count' }] },
              },
            ],
          }),
        ],
        [
          'source',
          (name: string) => ({
            name,
            kind: 'log',
            connection: 'engine',
            from: { databaseName: 'otel', tableName: 'otel_logs' },
            defaultTableSelectExpression: 'Timestamp, Body',
            timestampValueExpression: 'Timestamp',
          }),
        ],
        ['saved-search', (name: string) => ({ name, sourceId: 'logs', where: 'SeverityText:error', tags: ['x'] })],
      ])('creates, replaces and deletes a ClickStack %s', (kind, createBody) => {
        const file = writeBody(createBody('from the cli'));
        const created = succeed('clickstack', kind, 'create', service, '--file', file);
        expect(created).toMatchObject({ name: 'from the cli' });
        if (kind === 'dashboard')
          expect(succeed('clickstack', kind, 'validate', service, '--file', file)).toMatchObject({ valid: true });
        const replacement = writeBody(createBody('replaced'));
        succeed('clickstack', kind, 'update', service, created.id, '--file', replacement);
        expect(succeed('clickstack', kind, 'get', service, created.id)).toMatchObject({ name: 'replaced' });
        succeed('clickstack', kind, 'delete', service, created.id);
        expect(run('clickstack', kind, 'get', service, created.id).code).toBe(1);
      });

      it('creates, changes and deletes a key with a role', () => {
        const roles: Json[] = succeed('org', 'role', 'list');
        const admin = roles.find(({ name }) => /admin/i.test(name));
        const created = succeed(
          'key',
          'create',
          '--name',
          'from the cli',
          '--role-id',
          admin.id,
          '--ip-allow',
          '127.0.0.1',
        );
        expect(created).toMatchObject({ keyId: expect.any(String), keySecret: expect.any(String) });
        expect(created.key.assignedRoles).toMatchObject([{ roleId: admin.id }]);
        const { id } = created.key;
        expect(succeed('key', 'update', id, '--state', 'disabled')).toMatchObject({ state: 'disabled' });
        expect(succeed('key', 'update', id, '--new-name', 'renamed')).toMatchObject({ name: 'renamed' });
        succeed('key', 'delete', '--name', 'renamed');
        const unknown = run('key', 'create', '--name', 'x', '--role-id', '11111111-1111-4111-8111-111111111111');
        expect(unknown).toMatchObject({ code: 1, text: expect.stringContaining('BAD_REQUEST') });
      });

      it('reads one activity', () => {
        const [newest] = succeed('activity', 'list');
        expect(succeed('activity', 'get', newest.id)).toEqual(newest);
      });
    });
  },
);

describe('the list of sub-commands', () => {
  it('names each command once', () => {
    const commands = [...READS, ...UNSUPPORTED].map(([command]) => command);
    expect(new Set(commands).size).toBe(commands.length);
  });
});

/** The sub-commands without further ones below a group, such as `org role list`, as the help of the client has them. */
function listSubCommands(programs: string, group: string[]): string[] {
  const { stdout } = spawnSync(join(programs, 'clickhousectl'), ['cloud', ...group, '--help'], { encoding: 'utf8' });
  const [, list = ''] = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
  const verbs = [...list.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, verb = '']) => (verb === 'help' ? [] : [verb]));
  // `org prometheus` is a command and has commands.
  const own = verbs.length === 0 || group.join(' ') === 'org prometheus' ? [group.join(' ')] : [];
  return [...own, ...verbs.flatMap((verb) => listSubCommands(programs, [...group, verb]))];
}

describeClient(
  `the sub-commands of ${PACKAGE}`,
  () => installFromPyPi(PACKAGE),
  (programs) => {
    // After the tests above.
    it.each(['org', 'service', 'key', 'activity', 'member', 'invitation', 'saved-query'])(
      'every sub-command of %s was run',
      (group) => {
        const found = listSubCommands(programs, [group]);
        expect(found.length).toBeGreaterThan(1);
        expect(found.filter((command) => ![...ran].some((line) => line.startsWith(`${command} `)))).toEqual([]);
      },
    );
  },
);
