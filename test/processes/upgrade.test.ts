import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { listMigrations } from '../../src/kernel/migration.ts';
import { cli } from '../support/cli.ts';
import type { Json } from '../support/client.ts';
import { type StorePlace, useClockedServer } from '../support/clocked-server.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, type StoreName } from '../support/server.ts';
import { readStoreText } from '../support/store-text.ts';
import { until } from '../support/until.ts';
import { createOldEngine, OLD_LOG } from './upgrade/old-engine.ts';
import { createOldStore, readApplied, readOldAnswers, readTables, type Tables } from './upgrade/old-store.ts';

// Migrates a store and starts an engine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

/** When the old version stopped. */
const STARTS_AT = '2026-11-02T10:15:30Z';

/** What the old version created with the Idempotency-Key below. */
const HOOK = {
  name: 'hook',
  service: 'generic',
  url: 'http://127.0.0.1:39871/hook?token=in-the-address',
  headers: { Authorization: 'old-header-secret' },
  queryParams: { key: 'old-parameter-secret' },
};
const SIGNING_SECRET = 'whsec_YP4otTyRmZ/xe84z19uVMSZS0XN12+bwNITZ+yJV0EM=';

/** The old store has these texts in plain. */
const SECRETS = [
  SIGNING_SECRET,
  'token=in-the-address',
  'old-header-secret',
  'old-parameter-secret',
  'old-budget-address',
  'old-budget-secret',
  'old-driver-secret',
  'old-kubernetes-password',
  'old-removed-secret',
  'old-history-literal',
  'old-query-literal',
];

onEachStore('a store of the previous version', (store: StoreName) => {
  const keyFile = join(mkdtempSync(join(tmpdir(), 'pilothouse-keys-')), 'secrets.key');
  afterAll(() => rmSync(dirname(keyFile), { recursive: true, force: true }));
  let place: StorePlace = { dataDirectory: '', databaseUrl: undefined };
  let [before, after]: [Tables, Tables] = [{}, {}];
  let upgrading: Awaited<ReturnType<typeof cli>>;

  const verifyAudit = () => {
    const { dataDirectory, databaseUrl } = place;
    const args = ['--data', dataDirectory, ...(databaseUrl ? ['--database-url', databaseUrl] : [])];
    return cli(['audit', 'verify', ...args], { PILOTHOUSE_SECRETS_KEY_FILE: keyFile });
  };

  const server = useClockedServer(store, {
    isShared: true,
    startsAt: STARTS_AT,
    settings: { secretsKeyFile: keyFile, endpointPorts: '0', rateLimit: 'off', webhookAllowPrivate: 'yes' },
    async fill(given) {
      place = given;
      await createOldStore(place);
      await createOldEngine(place.dataDirectory);
      before = await readTables(place);
      // Any command upgrades the store when it opens it.
      upgrading = await verifyAudit();
      after = await readTables(place, keyFile);
    },
  });

  const read = (path: string) => {
    const key = path.includes(globex.id) ? globex.admin : acme.admin;
    return server.call({ path, ...(path.startsWith('/v1') ? { key } : { token: acme.writer }) });
  };

  it('has rows in every table, and the secrets in plain text', () => {
    expect(Object.keys(before).length).toBeGreaterThan(40);
    expect(Object.keys(before).filter((name) => before[name]?.length === 0)).toEqual([]);
    const text = JSON.stringify(before);
    expect(SECRETS.filter((secret) => !text.includes(secret))).toEqual([]);
  });

  it('keeps every value of every row, and the audit log is intact', () => {
    expect([upgrading.code, upgrading.stderr]).toEqual([0, '']);
    for (const [name, rows] of Object.entries(before)) {
      const columns = Object.keys(rows[0] ?? {});
      const kept = after[name]?.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
      expect(sort(kept ?? []), name).toEqual(sort(rows));
    }
  });

  it('answers as the old version did', async () => {
    for (const [path, answer] of readOldAnswers()) {
      const { status, json, text } = await read(path);
      expect(status, `${path} ${text}`).toBe(200);
      const result: Json = json.result ?? json.data;
      if (path.endsWith('/roles')) expect(result).toContainEqual(expect.objectContaining(answer[0]));
      else expect(result, path).toMatchObject(toNewAnswer(path, answer));
    }
  });

  /** What the new version answers differently. */
  function toNewAnswer(path: string, answer: Json): Json {
    if (path.includes('/activities'))
      // Statements had the type of a change of the query endpoint.
      return answer.map((activity: Json) => {
        const stored = before.activities?.find(({ id }) => id === activity.id)?.type;
        return stored === 'service_sql' ? { ...activity, type: stored } : activity;
      });
    if (!path.endsWith('/services')) return answer;
    // The attempts of drivers go on, and one of two services with the same resource is not driven any more.
    return answer.map(({ status: { inFlight, reason, ...status }, ...record }: Json) => ({ ...record, status }));
  }

  it('has its secrets encrypted with a new key, and the product still reads them', async () => {
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(after.secret_keys).toEqual([expect.objectContaining({ sealed_at: expect.any(Number), retired_at: null })]);
    const text = await readStoreText(server);
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
    // The stored answer of the old version.
    const { status, json } = await server.call({
      method: 'POST',
      path: '/api/v2/webhooks',
      token: acme.writer,
      headers: { 'idempotency-key': 'the-first-webhook' },
      body: HOOK,
    });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ id: before.channels?.[0]?.id, url: HOOK.url });
  });

  it('gives a Kubernetes resource of two services to the older one', async () => {
    const [owner, ...others] = before.services?.filter(({ driver }) => driver === 'kubernetes') ?? [];
    expect(others).toHaveLength(1);
    expect(after.resource_owners).toEqual([
      { resource: 'ClickHouseInstallation fleet/orders', organization_id: acme.id, service_id: owner?.id },
    ]);
    const readStatus = async () => {
      const { json } = await read(`/v1/organizations/${globex.id}/services`);
      return json.result.find(({ id }: Json) => id === others[0]?.id).status;
    };
    const status = await until(readStatus, ({ reason }) => /another service/.test(reason), 'both drive the resource');
    expect(status).toMatchObject({ state: 'degraded' });
  });

  it('has an engine of the previous version, whose rows are found', async () => {
    const time = Date.parse(STARTS_AT);
    const body = { sourceId: 'logs', start: time - 3_600_000, end: time, where: OLD_LOG };
    const { status, json, text } = await server.call({
      method: 'POST',
      path: '/api/v2/search',
      token: acme.writer,
      body,
    });
    expect(status, text).toBe(200);
    expect(JSON.stringify(json.data)).toContain(OLD_LOG);
  });

  it('is changed like any other, and is not migrated again', async () => {
    const applied = await readApplied(place);
    expect(applied.map(({ name }) => name)).toEqual(listMigrations('state').map(({ name }) => name));
    const created = await server.call({
      method: 'POST',
      path: '/api/v2/webhooks',
      token: acme.writer,
      body: { ...HOOK, name: 'another' },
    });
    expect(created.status, created.text).toBe(200);
    await server.restart();
    expect(await readApplied(place)).toEqual(applied);
    expect((await read('/api/v2/webhooks')).json.data).toHaveLength(2);
    const verified = await verifyAudit();
    expect([verified.code, verified.stderr]).toEqual([0, '']);
  });
});

/** Stores have no order, and PostgreSQL moves rows that change. */
const sort = (rows: readonly object[]) => rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
