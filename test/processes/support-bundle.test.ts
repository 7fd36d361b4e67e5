import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, getServerStore, type Json, listErrors, useStore } from '../support/cli.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { findFreePort } from '../support/postgres.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';

const METRICS_TOKEN = 'metrics-token-that-is-secret';
const PASSWORD = 'p@ss/w"ord-of-the-database';
const ENGINE_PASSWORD = 'password-of-clickhouse';
const DRIVER_SECRET = 'secret-of-the-webhook-driver';

const service = {
  id: '6de48484-c170-4164-a5bd-81c39c70f477',
  name: 'hooked',
  driver: 'webhook',
  webhook: { url: 'https://example.com/hook', secret: DRIVER_SECRET },
  numReplicas: 3,
};
const [first, ...others] = fleet.organizations as Json[];
const withDriver = { organizations: [{ ...first, services: [...first.services, service] }, ...others] };

/** Creates one of each kind of secret over the API and returns them. */
async function createSecrets(server: TestServer): Promise<string[]> {
  const post = async (path: string, body: object): Promise<Json> => {
    const url = `/v1/organizations/${acme.id}/${path}`;
    const { status, json, text } = await server.call({ method: 'POST', path: url, key: acme.admin, body });
    expect(status, text).toBeLessThan(300);
    return json.result;
  };
  const key = await post('keys', { name: 'bundled', roles: ['developer'] });
  const token = await post('dashboardTokens', { name: 'bundled' });
  const created = await post('services', { name: 'bundled', provider: 'aws', region: 'us-east-1' });
  const webhook = { url: 'https://hooks.example.com/path-with-token' };
  const budget = await post('budgets', { name: 'bundled', monthlyCHC: 100, thresholds: [100], webhook });
  return [key.keyId, key.keySecret, token.token, created.password, budget.webhook.secret, webhook.url];
}

const listForms = (secret: string): string[] => {
  const digests = (['hex', 'base64', 'base64url'] as const).map((form) =>
    createHash('sha256').update(secret).digest(form),
  );
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...digests];
};

onEachStore('a support bundle', (store) => {
  const server = useServer(store, { fleet: withDriver, args: ['--metrics-token', METRICS_TOKEN] });

  /** The settings of the server, with a password in each URL. */
  async function listSettings(): Promise<string[]> {
    const engine = `http://engine:${ENGINE_PASSWORD}@127.0.0.1:${await findFreePort()}/default?password=${ENGINE_PASSWORD}`;
    const args = ['--port', new URL(server.url).port, '--metrics-token', METRICS_TOKEN, '--clickhouse-url', engine];
    if (server.databaseUrl === undefined) return args;
    const url = new URL(server.databaseUrl);
    url.password = encodeURIComponent(PASSWORD);
    // The last of two flags counts.
    return [...args, '--database-url', url.href];
  }

  it('describes the installation and contains no secret and no hash', async () => {
    const secrets = await createSecrets(server);
    const file = join(server.directory, 'bundle.json');
    const { run, args } = getServerStore(server);
    const data = args.slice(0, 2);
    const { code, stderr } = await (server.databaseUrl === undefined
      ? run('support-bundle', file, ...(await listSettings()))
      : cli(['support-bundle', file, ...data, ...(await listSettings())]));
    expect([code, stderr]).toEqual([0, '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');

    const fleetSecrets = [acme, globex].flatMap((owner) =>
      Object.values(owner).flatMap((value) => (typeof value === 'object' ? Object.values(value) : [])),
    );
    const all = [...secrets, ...fleetSecrets, acme.token, acme.writer, globex.token, globex.writer];
    for (const secret of [...all, METRICS_TOKEN, PASSWORD, ENGINE_PASSWORD, DRIVER_SECRET])
      for (const form of listForms(secret)) expect(text.includes(form), form).toBe(false);
    // The hashes of credentials and of the audit log.
    const hashes = (await readStoreText(server)).match(/[0-9a-f]{64}/g) ?? [];
    expect(hashes.length).toBeGreaterThan(10);
    expect(text).not.toMatch(/[0-9a-f]{64}|ph[ilpstw]_/);

    const bundle: Json = JSON.parse(text);
    expect(bundle).toMatchObject({ format: 1, node: process.versions.node, system: { cores: expect.any(Number) } });
    expect(bundle.settings).toMatchObject({
      '--metrics-token': '(removed)',
      '--clickhouse-url': expect.stringMatching(/^http:\/\/\(removed\)@127\.0\.0\.1:\d+\/default\?\(removed\)$/),
      '--max-keys': '100',
      ...(server.databaseUrl && { '--database-url': expect.stringMatching(/^postgres\w*:\/\/\(removed\)@\S+$/) }),
    });
    expect(bundle.store).toMatchObject({
      kind: store,
      rows: { organizations: 3, budgets: 1, services: expect.any(Number) },
    });
    expect(bundle.store.migrations).toContain('0001-schema');
    expect(bundle.checks).toContainEqual(expect.objectContaining({ check: 'engine', isFine: false }));
    expect(bundle.engine).toEqual({ unavailable: expect.any(String) });
    expect(JSON.parse(bundle.server.ready.text)).toEqual({ status: 'ready' });
    expect(bundle.server.metrics.status).toBe(200);
    expect(bundle.server.metrics.lines).toContainEqual(expect.stringContaining('pilothouse_requests_total{'));

    const again = await run('support-bundle', file);
    expect([again.code, listErrors(again)]).toEqual([2, [expect.stringContaining('cannot be written: EEXIST')]]);
  });
});

describe('a support bundle of an installation that does not work', () => {
  const at = useStore('libsql');

  it('is written, with the reasons', async () => {
    const file = join(at.directory, 'bundle.json');
    const port = String(await findFreePort());
    const { code, stderr } = await cli(['support-bundle', file, '--data', join(at.directory, 'none'), '--port', port]);
    expect([code, stderr]).toEqual([0, '']);
    const bundle: Json = JSON.parse(readFileSync(file, 'utf8'));
    expect(bundle.store.unavailable).toContain('There is no store in');
    expect(bundle.server).toEqual({ unavailable: expect.stringContaining('ECONNREFUSED') });
    expect(bundle.engine.migrations).toContain('0001-schema');
  });

  it('names invalid settings and opens nothing', async () => {
    const file = join(at.directory, 'bundle.json');
    const data = join(at.directory, 'unused');
    expect((await cli(['support-bundle', file, '--data', data, '--max-keys', '0'])).code).toBe(0);
    const bundle: Json = JSON.parse(readFileSync(file, 'utf8'));
    expect(bundle.settings).toBeUndefined();
    expect(bundle.checks).toContainEqual(
      expect.objectContaining({ check: 'config', text: expect.stringContaining('--max-keys must be') }),
    );
    expect(existsSync(data)).toBe(false);
  });
});
