import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { cli, type Json } from '../support/cli.ts';
import { type Demo, startDemo } from '../support/demo.ts';
import { type Block, listBlocks, listDocuments, listInlineCommands, readDocument } from '../support/documents.ts';
import { createDatabase } from '../support/postgres.ts';
import { START_LIMIT_MS } from '../support/server.ts';
import { createShell, type Shell } from '../support/shell.ts';

// Each script of a document starts several processes.
vi.setConfig({ testTimeout: 300_000 });

/** Commands that are not run, and why. Every other command in a sh block is run as it is printed. */
const CANNOT_RUN: [command: RegExp, reason: string][] = [
  [
    /^npm (start|test|run (build|test:system))\b/,
    'installs packages, builds the program under test, or runs this suite',
  ],
  [
    /^(npm install|npx|docker|kubectl|helm|systemctl|journalctl|printf 'POSTGRES_PASSWORD|cp deploy\/)\b/,
    'needs a release, a container engine, a cluster or systemd; see test/packages',
  ],
  [/^(pip|opentelemetry-\w+|java|node --require)\b/, 'needs an app, and packages of its language; see test/clients'],
  [/^pilothouse init\b/, 'needs a store without an organization; see test/cli/init.test.ts'],
  [/--clickhouse-url http:\/\/…/, 'needs a ClickHouse server'],
  [
    /--to postgres:\/\/user:password@host|--database-url postgres:\/\/user:password@host/,
    'needs a database of the reader',
  ],
];

/** The address in the documents; the tests use free ports. */
const DOCUMENTED_ADDRESS = '127.0.0.1:8080';
/** The same for the endpoint of the demo's first service. */
const DOCUMENTED_ENDPOINT = '127.0.0.1:18123';

/** The same for OpenTelemetry data. */
const DOCUMENTED_OTLP = '127.0.0.1:4318';

/** What the documents say about the response of a call. Every call of curl in a document has an entry. */
const RESPONSES: [args: RegExp, expected: Json][] = [
  [/\?query=SELECT\+version\(\)$/, { text: expect.stringMatching(/^\d+\.\d+/) }],
  [/\/services$/, { result: { service: { name: 'events', driver: 'embedded' }, password: expect.any(String) } }],
  [/\/sql\/read$/, { text: expect.stringMatching(/"row":\["?42"?\]|^"number"\n0\n1\n2/) }],
  [/\/sql\/write$/, { end: { rows: 0 } }],
  [/\/sql\/history\?limit=10$/, { result: expect.any(Array) }],
  [/\/saved-queries$/, { result: { name: 'Notes', parameters: {} } }],
  [/\/idle$/, { result: { blockers: expect.any(Array), idleTimeoutMinutes: 15 } }],
  [/\/services\/[^/]+$/, { result: { tags: expect.arrayContaining([{ key: 'team', value: 'web' }]) } }],
  [/\/password$/, { result: { password: expect.stringMatching(/^php_/) } }],
  [/\/backups$/, { result: expect.arrayContaining([expect.objectContaining({ status: 'done', type: 'full' })]) }],
  [/\/backupConfiguration$/, { result: { backupPeriodInHours: 24, backupStartTime: '03:30' } }],
  [/"horizontal".*\/replicaScaling$/, { result: { autoscalingMode: 'horizontal', maxReplicas: 6 } }],
  [/"vertical".*\/replicaScaling$/, { result: { autoscalingMode: 'vertical', numReplicas: 3 } }],
  [/-X DELETE \S+\/scalingSchedule$/, { status: 200 }],
  [/\/scalingSchedule$/, { result: { entries: [{ name: 'Office hours' }] } }],
  [/"stop".*\/state$/, { result: { state: 'stopping' } }],
  [/"start".*\/state$/, { result: { state: expect.stringMatching(/^(starting|running)$/) } }],
  [/\/scaling$/, { result: { numReplicas: 3, minTotalMemoryGb: 48, maxTotalMemoryGb: 96 }, status: 200 }],
  [/^-u \S+ \S+\/keys$/, { result: expect.any(Array) }],
  [/assignedRoleIds.*\/keys$/s, { result: { key: { roles: [], assignedRoles: [{ roleType: 'custom' }] } } }],
  [/\/roles(\/[0-9a-f-]{36})?$/, { result: { type: 'custom', policies: [{ allowDeny: 'ALLOW' }] } }],
  [
    /\/keys$/,
    {
      result: {
        key: { name: 'ci', roles: ['developer'], expireAt: '2030-01-01T00:00:00Z' },
        keyId: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
        keySecret: expect.stringMatching(/^phs_/),
      },
    },
  ],
  [/\/rotate$/, { result: { keySecret: expect.stringMatching(/^phs_/), previous: { expireAt: expect.any(String) } } }],
  [/\/usageCost\?/, { result: { grandTotalCHC: expect.any(Number), costs: expect.any(Array) } }],
  [/\/v1\/logs$/, {}],
  [/\/api\/v2\/search -d /, { data: expect.any(Array), rows: expect.any(Number), searchedFrom: expect.any(String) }],
  [/\/search\/histogram -d /, { data: { type: 'time', granularity: '1m' } }],
  [/\/search\/context -d /, { data: expect.any(Array), index: expect.any(Number) }],
  [/\/search\/export -d /, { text: expect.stringMatching(/^Timestamp,/) }],
  [/\/telemetryRules -d /, { status: 200 }],
  [/\/metrics\/points -d /, { data: expect.any(Array), nextCursor: null }],
  [/\/annotations$/, { data: { kind: 'deploy', title: 'web 1.4.2' } }],
  [/\/annotations\?limit=10$/, { data: expect.any(Array) }],
  [/UInt8.*\/sql\/read$/, { text: expect.stringMatching(/\[42\][\s\S]*"end"/) }],
  [/csv.*\/sql\/read$/, { text: expect.stringContaining('"number"\n0\n1\n2') }],
  [/\/sql\/write$/, { text: expect.stringContaining('"end"') }],
  [/\/sql\/history\?limit=10$/, { result: expect.any(Array) }],
  [/\/saved-queries$/, { result: { name: 'Notes', database: 'default' } }],
  [/\/invitations$/, { status: 200 }],
  [/\/members$/, { status: 200, result: [] }],
  [/\/links$/, { data: { path: expect.stringMatching(/^\/shared#phl_/), link: { name: 'wall display' } } }],
  [/\/saved-searches -d /, { data: { name: 'Errors', sourceId: 'logs' } }],
  [/\/saved-searches\?limit=10$/, { meta: { limit: 10 } }],
  [/\/webhooks -d /, { data: { service: 'generic', signingSecret: expect.stringMatching(/^whsec_/) } }],
  [/\/alerts\/preview -d /s, { data: { windows: 2016, messages: expect.any(Number) } }],
  [/\/alerts -d /s, { data: { interval: '5m', groupBy: 'ServiceName', status: expect.any(String) } }],
  [/\/webhooks\?limit=10$/, { meta: { limit: 10 } }],
  [/\/notifications\?status=failed$/, { data: [], nextCursor: null }],
  [/\/usageEvents$/, { result: { accepted: 1, duplicates: 0, rejected: 0 } }],
  [/\/dashboardTokens$/, { result: { dashboardToken: { access: 'write' }, token: expect.stringMatching(/^pht_/) } }],
  [/\/console\/session$/, { csrf: expect.any(String), organization: { name: 'Demo' } }],
  [/\/v1\/organizations$/, { result: [{ name: 'Demo' }] }],
  [/\/services\?limit=100$/, { result: expect.any(Array), limit: 100 }],
  [
    /\/api\/v2\/dashboards(\?format=config)?$/,
    { data: { id: expect.stringMatching(/^[0-9a-f]{24}$/), name: expect.any(String) } },
  ],
  [/\/tiles\/[^/]+\/data\?/, { data: { type: 'time' } }],
  [/\/charts\/series\b/, { data: expect.any(Array) }],
  [/\/traces\/search\b/, { text: '' }],
  [/\/traces\/operations\b/, { data: { operations: expect.any(Array), sampling: { sampled: false } } }],
  [/\/traces\/service-map\b/, { data: { nodes: expect.any(Array), edges: expect.any(Array) } }],
  [/\/traces\//, { data: { spans: expect.any(Array), logs: expect.any(Array) } }],
  [/\/api\/v2\/sources$/, { text: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
  [/\/charts\/tile\b/, { data: { type: 'number' } }],
];

const blocks = listDocuments().flatMap(listBlocks);
const shellBlocks = blocks.filter(({ language }) => language === 'sh' || language === 'bash');
const findBlock = (document: string, language: string, text: string): string =>
  blocks.find(
    ({ place, ...block }) => place.startsWith(document) && block.language === language && block.text.includes(text),
  )?.text ?? '';

/** The commands of a block; a command may continue on the next lines. */
function listCommands({ text }: Block): string[] {
  const commands: string[] = [];
  let heredoc: string | undefined;
  let isContinued = false;
  for (const line of text.split('\n')) {
    if (heredoc !== undefined || isContinued) commands.push(`${commands.pop()}\n${line}`);
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push(line);
    else continue;
    const command = commands.at(-1) ?? '';
    if (heredoc === undefined) heredoc = /<<'(\w+)'/.exec(line)?.[1];
    else if (line === heredoc) heredoc = undefined;
    isContinued = line.endsWith('\\') || (command.split("'").length % 2 === 0 && heredoc === undefined);
  }
  return commands;
}

const isRun = (command: string): boolean => !CANNOT_RUN.some(([pattern]) => pattern.test(command));
const isServer = (command: string): boolean => /^(pilothouse|node dist\/main\.js) serve\b/.test(command);
const isScripted = (command: string): boolean => isRun(command) && !isServer(command);
const removeComment = (command: string): string => command.replace(/ +# .*$/, '');

describe('the commands of README.md and docs/', () => {
  let shell: Shell;
  let demo: Demo;
  let address = '';
  let endpoint = '';
  let otlp = '';

  beforeAll(async () => {
    shell = createShell();
    demo = await startDemo(join(shell.directory, '.pilothouse/demo'));
    address = /http:\/\/(127\.0\.0\.1:\d+)/.exec(demo.welcome)?.[1] ?? '';
    otlp = /OpenTelemetry +http:\/\/(\S+)/.exec(demo.welcome)?.[1] ?? '';
    endpoint = /http:\/\/(127\.0\.0\.1:\d+)\/\?query/.exec(demo.welcome)?.[1] ?? '';
    writeFileSync(join(shell.directory, 'fleet.yaml'), findBlock('README.md', 'yaml', '# fleet.yaml'));
  }, START_LIMIT_MS);
  afterAll(async () => {
    await demo.stop();
    shell.remove();
  });

  const scripts = shellBlocks
    .map(({ place, ...block }) => [place, listCommands({ place, ...block }).filter(isScripted)] as const)
    .filter(([, commands]) => commands.length > 0);

  it.each(scripts)('%s runs as printed', async (_, commands) => {
    const script = commands
      .join('\n')
      .replaceAll(DOCUMENTED_ADDRESS, address)
      .replaceAll(DOCUMENTED_ENDPOINT, endpoint)
      .replaceAll(DOCUMENTED_OTLP, otlp);
    expect(script, 'a placeholder cannot be typed literally').not.toContain('…');
    const { code, output, calls } = await shell.run(script);
    expect(code, output).toBe(0);
    const curls = commands.join('\n').match(/\bcurl /g) ?? [];
    expect(calls).toHaveLength(curls.length);
    for (const { args, json } of calls) {
      const expected = RESPONSES.find(([pattern]) => pattern.test(args))?.[1];
      expect(expected, `no expected response for curl ${args}`).toBeDefined();
      expect(json).toMatchObject(expected);
    }
  });

  const servers = shellBlocks.flatMap((block) =>
    listCommands(block)
      .filter((command) => isServer(command) && isRun(command))
      .map((command) => [`${block.place} ${removeComment(command)}`, removeComment(command)] as const),
  );

  it.each(servers)('%s starts a server', async (_, command) => {
    const needsDatabase = command.includes('postgres://…');
    if (needsDatabase && inject('postgresUrl') === '') return;
    const database = needsDatabase ? await createDatabase(inject('postgresUrl')) : undefined;
    const literal = command.replace(/^node dist\/main\.js/, 'pilothouse').replace('postgres://…', database?.url ?? '');
    expect(literal, 'a placeholder cannot be typed literally').not.toContain('…');
    const { ready, code, errors } = await shell.startAndStop(`${literal} --port 0`);
    expect(ready, errors).toEqual({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/),
      dashboardUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/),
      otlpUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/),
      store: needsDatabase ? 'postgres' : 'libsql',
    });
    expect(code, errors).toBe(0);
    await database?.drop();
  });

  it('README.md shows the error that the server returns', async () => {
    const shown = JSON.parse(findBlock('README.md', 'json', 'requestId'));
    const { output } = await shell.run(
      `PATH=$REAL_PATH curl -s -X PATCH -u DemoAdminKey00000001:demo-admin-secret -H 'content-type: application/json' \
       -d '{"minTotalMemoryGb":32}' \
       http://${address}/v1/organizations/b3a6f9d2-5c41-4e8a-9d27-0f1e2d3c4b5a/services/4f2d1c0b-9a8e-4d7c-b6a5-e4f3d2c1b0a9/scaling`,
    );
    expect(JSON.parse(output)).toEqual({ ...shown, requestId: expect.any(String) });
  });

  it('the files in the documents are valid', async () => {
    const write = (name: string, text: string) => {
      expect(text).not.toBe('');
      writeFileSync(join(shell.directory, name), text);
    };
    write('every-field.yaml', findBlock('docs/fleet-file.md', 'yaml', 'organizations:'));
    write('checkout.yaml', findBlock('docs/dashboards.md', 'yaml', '# boards/checkout.yaml'));
    const { code, output } = await shell.run(
      'pilothouse apply every-field.yaml --dry-run --data empty && pilothouse dashboard validate checkout.yaml',
    );
    expect(code, output).toBe(0);
  });
});

describe('the commands in the text', () => {
  const commands = [...new Set(listDocuments().flatMap(listInlineCommands))];

  it.each(commands)('%s exists, with its options', async (command) => {
    const words = command.split(' ').slice(1);
    const names = words.slice(0, 2).filter((word) => /^[a-z]+$/.test(word));
    const help = await readHelp(names);
    for (const flag of words.flatMap((word) => word.match(/--[a-z-]+/g) ?? [])) expect(help).toContain(flag);
  });

  it('README.md lists every command', async () => {
    const { stdout } = await cli(['--help']);
    const listed = readDocument('README.md');
    const names = [...stdout.matchAll(/^ {2}([a-z]+)\b/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(listed).toMatch(new RegExp(`\`${name}\\b`));
  });
});

/** A second word may be an argument: `pilothouse apply fleet.yaml`. */
async function readHelp(names: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli([...names, '--help']);
  if (code === 0 && stdout.includes('Usage: pilothouse')) return stdout;
  expect(names.length, `${names.join(' ')}: ${stderr}`).toBeGreaterThan(1);
  return readHelp(names.slice(0, -1));
}
