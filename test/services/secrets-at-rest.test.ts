import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { OrganizationSpec } from '../../src/operations/fleet/schema.ts';
import { SEALED_COLUMNS } from '../../src/platform/state/secrets/sealed-columns.ts';
import { cliProcess } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { OWN_SECRETS_KEY } from '../support/secrets-key.ts';
import { onEachStore, startServer, type TestServer } from '../support/server.ts';
import { useStatements } from '../support/statements.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';

// Starts the process of a service.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const PLANTED = 'planted9f3c';
const plant = (name: string): string => `${PLANTED}-${name}-secret`;

/** Members of requests and fleet files that sound like a secret: where the test below puts one, or why there is none. */
const MEMBERS: Record<string, string> = {
  url: 'planted: of webhooks, budgets and drivers',
  headers: 'planted: of webhooks',
  queryParams: 'planted: of webhooks',
  routingKey: 'planted: of webhooks',
  signingSecret: 'planted: of a channel in a fleet file',
  secret: 'planted: of budgets and drivers; of an invitation: stored as a hash, test/api/invitations.test.ts',
  password: 'planted: of a service and of the driver kubernetes',
  keySecret: 'planted: of a key',
  token: 'planted: of a dashboard token',
  tokenHash: 'a hash',
  newDoubleSha1Hash: 'a hash',
  keyIdHash: 'a hash',
  tokenSuffix: 'four characters',
  keySecretHash: 'a hash',
  newPasswordHash: 'a hash',
  passwordHash: 'a hash',
  passwordDoubleSha1Hash: 'a hash',
  dashboardTokens: 'a list of tokens',
  runbookUrl: 'public: it is part of every message',
  logout_token: 'not stored',
};

/** Columns of the store whose name or contents could be secret. All others have names, numbers, times and ids. */
const COLUMNS: Record<string, string> = {
  ...Object.fromEntries(Object.entries(SEALED_COLUMNS).map(([table, { column }]) => [`${table}.${column}`, 'sealed'])),
  'activities.document': 'audit log: no secrets; statements without their literals unless the organization keeps them',
  'alert_evaluations.document': 'numbers',
  'alert_groups.document': 'state of an alert',
  'alerts.document': 'conditions',
  'annotations.document': 'text that charts show',
  'api_keys.document': 'hashes',
  'api_keys.key_id_hash': 'a hash',
  'autoscaling_decisions.document': 'numbers',
  'budget_notices.document': 'state of a delivery',
  'console_sessions.document': 'sealed with a key from the cookie: test/processes/oidc.test.ts',
  'console_sessions.secret_hash': 'a hash',
  'leases.token': 'a number that grows: which holder may write',
  'sql_intents.document': 'a statement without its literals, and who runs it',
  'used_tokens.token_hash': 'a hash',
  'console_sessions.session_hash': 'a hash',
  'custom_roles.document': 'permissions',
  'dashboard_links.secret_hash': 'a hash',
  'dashboard_links.secret_suffix': 'four characters',
  'dashboard_sources.document': 'names of tables and columns',
  'dashboard_tokens.token_hash': 'a hash',
  'dashboard_tokens.token_suffix': 'four characters',
  'dashboard_versions.document': 'dashboards',
  'dashboards.document': 'dashboards',
  'hourly_counts.document': 'numbers',
  'idempotent_responses.credential_id': 'an id',
  'idempotent_responses.headers': 'etag and location of a response',
  'idempotent_responses.key_hash': 'a hash',
  'invitations.secret_hash': 'a hash',
  'price_books.document': 'prices',
  'saved_searches.document': 'conditions',
  'service_backups.document': 'sizes and checksums',
  'setup_codes.code_hash': 'a hash',
  'sql_history.credential_id': 'an id',
  'usage_slices.document': 'numbers',
  'console_sessions.credential_id': 'an id',
};
const SECRET_NAME = /secret|password|token|header|url|credential|routing|queryParams|Hash$/i;
const SECRET_COLUMN =
  /secret|password|token|header|url|credential|document|^result$|body|code_hash|key_hash|key_id_hash/;

const HOOKED = { id: 'c7f0c1ad-5b0d-4f2b-9a57-2e1c9a2b6f11', name: 'hooked', driver: 'webhook' };
const MANAGED = { id: 'c7f0c1ad-5b0d-4f2b-9a57-2e1c9a2b6f12', name: 'managed', driver: 'kubernetes' };
const STANDARD_SECRET = `whsec_${Buffer.from(plant('signing')).toString('base64')}`;
const [first, ...others] = fleet.organizations as Json[];
const planted = {
  organizations: [
    {
      ...first,
      services: [
        ...first.services,
        { ...HOOKED, webhook: { url: `http://127.0.0.1:9/${plant('driver-url')}`, secret: plant('driver') } },
        {
          ...MANAGED,
          kubernetes: {
            kind: 'ClickHouseInstallation',
            namespace: 'db',
            name: 'managed',
            url: `http://127.0.0.1:9/${plant('kubernetes-url')}`,
            username: 'admin',
            password: plant('kubernetes'),
          },
        },
      ],
      keys: [
        ...first.keys,
        { name: 'planted', keyId: 'PlantedKey0000000001', keySecret: plant('key'), roles: ['developer'] },
      ],
      dashboardTokens: [...first.dashboardTokens, { name: 'planted', token: plant('token') }],
      channels: [
        {
          id: '64f0c1d2e3a4b5c6d7e8f9aa',
          service: 'generic',
          name: 'declared',
          url: `https://example.com/${plant('declared-url')}`,
          headers: { authorization: plant('declared-header') },
          signingSecret: STANDARD_SECRET,
        },
      ],
    },
    ...others,
  ],
};

function collectMembers(
  schema: Json,
  found: Set<string>,
  resolve: (ref: string) => Json,
  seen = new Set<Json>(),
): void {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return;
  seen.add(schema);
  if (schema.$ref) collectMembers(resolve(schema.$ref), found, resolve, seen);
  for (const [name, member] of Object.entries<Json>(schema.properties ?? {})) {
    if (SECRET_NAME.test(name)) found.add(name);
    collectMembers(member, found, resolve, seen);
  }
  for (const part of [
    schema.items,
    schema.additionalProperties,
    ...['anyOf', 'oneOf', 'allOf'].flatMap((name) => schema[name] ?? []),
  ])
    collectMembers(part, found, resolve, seen);
}

/** The bytes of every file of the data directory, except those that services own and the key file. */
const readDataFiles = (directory: string): string =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== 'secrets.key')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(directory, 'services')))
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');

async function plantEverything(server: TestServer): Promise<string> {
  const send = async (call: Parameters<TestServer['call']>[0]): Promise<Json> => {
    const { status, json, text } = await server.call({ method: 'POST', ...call });
    expect(status, text).toBeLessThan(300);
    return json.result ?? json.data;
  };
  const generic = {
    service: 'generic',
    name: 'planted',
    url: `http://127.0.0.1:9/${plant('url')}?token=${plant('query')}`,
    headers: { authorization: plant('header') },
    queryParams: { key: plant('parameter') },
    body: `{"apiKey": "${plant('body')}"}`,
  };
  const idempotent = { headers: { 'idempotency-key': 'planted' } };
  const channel = await send({ path: '/api/v2/webhooks', token: acme.writer, body: generic, ...idempotent });
  const pagerduty = { service: 'pagerduty', name: 'planted', routingKey: plant('routing') };
  await send({ path: '/api/v2/webhooks', token: acme.writer, body: pagerduty });
  const budget = {
    name: 'planted',
    monthlyCHC: 1,
    thresholds: [100],
    webhook: { url: `https://example.com/${plant('budget-url')}`, secret: plant('budget') },
    channels: [{ type: 'webhook', webhookId: channel.id }],
  };
  await send({ path: `/v1/organizations/${acme.id}/budgets`, key: acme.admin, body: budget });
  // Queues a message for a receiver that does not answer.
  await server.call({ method: 'POST', path: `/api/v2/webhooks/${channel.id}/test`, token: acme.writer });
  const services = useServices(server);
  const statements = useStatements(server);
  const { id } = await services.create();
  const write = { access: 'write' as const };
  await statements.run(id, `CREATE USER u IDENTIFIED BY '${plant('statement')}'`, write);
  await statements.run(id, `SELECT '${plant('literal')}'`);
  await statements.run(id, `SELECT * FROM url('http://u:${plant('in-url')}@127.0.0.1:9/x', CSV, 'a String')`, write);
  const path = `/v1/organizations/${acme.id}/services/${id}/saved-queries`;
  const query = {
    name: 'planted',
    database: 'default',
    sql: `SELECT '${plant('saved')}' = {p:String}`,
    parameters: { p: plant('saved-parameter') },
  };
  await send({ path, key: acme.admin, body: query });
  await until(
    () => statements.history(id, acme.admin),
    (history) => history.length >= 3,
    'the statements are not in the history',
  );
  return id;
}

onEachStore('secrets at rest', (store) => {
  it('are in no file of the store, no log, no backup and no support bundle, and work after a restart', async () => {
    const args = ['--endpoint-ports', '0', '--webhook-allow-private', 'yes', '--log-level', 'trace'];
    const server = await startServer(store, { fleet: planted, args, environment: OWN_SECRETS_KEY });
    try {
      const data = join(server.directory, 'data');
      const id = await plantEverything(server);
      const log = server.log();
      const keyFile = readFileSync(join(data, 'secrets.key'), 'utf8');
      const key = keyFile.split('\n').find((line) => line !== '' && !line.startsWith('#')) ?? expect.fail('no key');
      const flags = ['--data', data, ...(server.databaseUrl ? ['--database-url', server.databaseUrl] : [])];
      const bundle = join(server.directory, 'bundle.json');
      const bundled = await cliProcess(['support-bundle', bundle, ...flags], OWN_SECRETS_KEY);
      expect(bundled.code, bundled.stderr).toBe(0);
      await server.stop();
      const backup = join(server.directory, 'backup');
      const backedUp = await cliProcess(['backup', backup, ...flags], OWN_SECRETS_KEY);
      expect(backedUp.code, backedUp.stderr).toBe(0);
      const texts = {
        store: await readStoreText(server),
        files: readDataFiles(data),
        log: log + server.log(),
        'support bundle': readFileSync(bundle, 'utf8'),
        backup: readFileSync(backup, 'latin1'),
      };
      expect(texts.store, 'the text that is searched is really the store').toContain(acme.id);
      for (const [place, text] of Object.entries(texts)) {
        const found = [
          ...new Set([...text.matchAll(new RegExp(`${PLANTED}-([a-z-]+)-secret`, 'g'))].map(([all]) => all)),
        ];
        expect(found, place).toEqual([]);
        expect(text.includes(STANDARD_SECRET), place).toBe(false);
        if (place !== 'store') expect(text.includes(key), `the key in: ${place}`).toBe(false);
      }

      // The contents of a backup are compressed.
      const target = join(server.directory, 'target');
      const withoutKey = await cliProcess(['restore', backup, '--data', target], OWN_SECRETS_KEY);
      expect(withoutKey.code).toBe(1);
      expect(withoutKey.stderr).toMatch(
        /^error: The secrets are encrypted with the key [0-9a-f]{16}, and there is no file .*target\/secrets\.key/m,
      );
      expect(existsSync(join(target, 'state.db'))).toBe(false);
      const keyFlag = ['--secrets-key-file', join(data, 'secrets.key')];
      const restored = await cliProcess(['restore', backup, '--data', target, ...keyFlag], OWN_SECRETS_KEY);
      expect(restored.code, restored.stderr).toBe(0);
      expect(readDataFiles(target)).not.toContain(PLANTED);

      await server.restart();
      const history = await useStatements(server).history(id, acme.admin);
      expect(JSON.stringify(history)).toContain(plant('literal'));
      const { json } = await server.call({
        path: `/v1/organizations/${acme.id}/services/${acme.primary}/clickstack/webhooks`,
        key: acme.admin,
      });
      expect(JSON.stringify(json)).toContain(plant('url'));
    } finally {
      await server.remove();
    }
  });
});

it('every member of a request or a fleet file that sounds like a secret is declared', async () => {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as Json;
  const resolve = (ref: string) =>
    ref
      .split('/')
      .slice(1)
      .reduce((part: Json, name) => part[name], document);
  const found = new Set<string>();
  for (const operations of Object.values<Json>(document.paths))
    for (const { requestBody } of Object.values<Json>(operations))
      for (const { schema } of Object.values<Json>(requestBody?.content ?? {})) collectMembers(schema, found, resolve);
  collectMembers(OrganizationSpec, found, resolve);
  expect([...found].filter((name) => !(name in MEMBERS)).sort()).toEqual([]);
});

it('every column of the store that could have a secret is declared', () => {
  const folder = join(import.meta.dirname, '../../migrations/state');
  const found = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replace(/--.*$/gm, '');
    const created = [...text.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\n\);/g)].flatMap(([, table, columns = '']) =>
      [...columns.matchAll(/^ {2}([a-z_]+) [A-Z]/gm)].map(([, column]) => `${table}.${column}`),
    );
    const added = [...text.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)].map(
      ([, table, column]) => `${table}.${column}`,
    );
    return [...created, ...added];
  });
  expect(found.length).toBeGreaterThan(200);
  const couldHave = found.filter((name) => SECRET_COLUMN.test(name.split('.')[1] ?? ''));
  expect(couldHave.filter((name) => !(name in COLUMNS)).sort()).toEqual([]);
  expect(Object.keys(COLUMNS).filter((name) => !found.includes(name))).toEqual([]);
});
