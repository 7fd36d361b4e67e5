import { beforeAll, describe, expect, it } from 'vitest';
import { getServerStore, useStore } from '../support/cli.ts';
import { onEachStore, onEachStoreInLongRuns, run, useServer } from '../support/server.ts';

const id = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const analytics = {
  id: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
  name: 'analytics',
  numReplicas: 3,
  minTotalMemoryGb: 48,
  maxTotalMemoryGb: 360,
};
const admin = { keyId: 'MergeAdminKey0000001', keySecret: 'merge-admin-secret' };
const spare = {
  id: '11111111-2222-4333-8444-555555555555',
  name: 'spare',
  keyId: 'MergeSpareKey0000001',
  keySecret: 'merge-spare-secret',
  roles: ['developer'],
};
const organization = {
  id,
  name: 'Acme',
  paid: true,
  services: [analytics],
  keys: [{ name: 'admin', ...admin, roles: ['admin'] }, spare],
};
const file = (changes: object = {}) => ({ organizations: [{ ...organization, ...changes }] });

onEachStore('a fleet file merged with changes made through the API', (store) => {
  const server = useServer(store, { fleet: file() });
  const path = `/v1/organizations/${id}`;
  const service = `${path}/services/${analytics.id}`;
  const scale = (body: object) => server.call({ method: 'PATCH', path: `${service}/scaling`, key: admin, body });
  const record = async () => (await server.call({ path: service, key: admin })).json.result;

  beforeAll(async () => {
    expect((await scale({ numReplicas: 5, idleTimeoutMinutes: 30 })).status).toBe(200);
    expect((await server.call({ method: 'DELETE', path: `${path}/keys/${spare.id}`, key: admin })).status).toBe(200);
  });

  it('F1: an unchanged file changes nothing, even after the API changed a field and deleted a key', async () => {
    expect(await getServerStore(server).plan(file())).toEqual([]);
    expect(await record()).toMatchObject({ numReplicas: 5, idleTimeoutMinutes: 30 });
    expect((await server.call({ path, key: spare })).status).toBe(401);
  });

  it('F1: restarting the server with the unchanged file changes nothing', async () => {
    await server.stop();
    await server.restart();
    expect(await record()).toMatchObject({ numReplicas: 5, idleTimeoutMinutes: 30 });
    expect((await server.call({ path, key: spare })).status).toBe(401);
  });

  it('F1: a field changed in the file takes its new value; every other field keeps the value set by the API', async () => {
    const changed = file({ services: [{ ...analytics, maxTotalMemoryGb: 240 }] });
    expect(await getServerStore(server).plan(changed)).toEqual(['change service analytics']);
    expect(await record()).toMatchObject({
      numReplicas: 5,
      idleTimeoutMinutes: 30,
      minTotalMemoryGb: 48,
      maxTotalMemoryGb: 240,
      maxReplicaMemoryGb: 80,
    });
  });

  it('F1: a field removed from the file keeps its value', async () => {
    const { numReplicas: _, ...rest } = analytics;
    expect(await getServerStore(server).plan(file({ services: [{ ...rest, maxTotalMemoryGb: 240 }] }))).toEqual([]);
    expect(await record()).toMatchObject({ numReplicas: 5, maxTotalMemoryGb: 240 });
  });

  it('F1: a deleted resource is created again when its declaration changes', async () => {
    const renamed = file({
      services: [{ ...analytics, maxTotalMemoryGb: 240, numReplicas: 5 }],
      keys: [organization.keys[0], { ...spare, name: 'spare again' }],
    });
    expect(await getServerStore(server).plan(renamed)).toEqual(['add key spare again']);
    expect((await server.call({ path, key: spare })).status).toBe(200);
  });

  it('F1: --force makes the store match the file, immediately for a running server', async () => {
    expect((await scale({ numReplicas: 7 })).status).toBe(200);
    expect((await server.call({ method: 'DELETE', path: `${path}/keys/${spare.id}`, key: admin })).status).toBe(200);
    expect((await getServerStore(server).plan(file(), '--force')).sort()).toEqual([
      'add key spare',
      'change service analytics',
    ]);
    expect(await record()).toMatchObject({ numReplicas: 3, maxTotalMemoryGb: 360, idleTimeoutMinutes: 30 });
    expect((await server.call({ path, key: spare })).status).toBe(200);
  });

  it('F1: changes made by a file are recorded in the audit log, without credentials', async () => {
    const { json, text } = await server.call({ path: `${path}/activities`, key: admin });
    expect(json.result.map(({ activityType }: { activityType: string }) => activityType)).toEqual(
      expect.arrayContaining(['create_organization', 'service_create', 'service_update', 'key_create']),
    );
    expect(text).not.toContain('Hash');
  });

  it('F1: costs from a file are served immediately', async () => {
    const cost = (computeCHC: number) =>
      file({
        usageCosts: [{ date: '2026-10-01', entityType: 'service', entityId: analytics.id, metrics: { computeCHC } }],
      });
    const total = async () =>
      (await server.call({ path: `${path}/usageCost?from_date=2026-10-01&to_date=2026-10-01`, key: admin })).json.result
        .grandTotalCHC;
    for (const amount of [1.5, 2.25]) {
      await getServerStore(server).plan(cost(amount));
      expect(await total()).toBe(amount);
    }
  });
});

onEachStoreInLongRuns('resources removed from the fleet file', (store) => {
  const at = useStore(store, { inProcess: false });
  const reader = { name: 'reader', dataWarehouseId: '3ab15151-9e4d-4e31-b28a-5e906f4dc144', numReplicas: 2 };
  const full = file({
    services: [{ ...analytics, dataWarehouseId: reader.dataWarehouseId }, reader],
    dashboardTokens: [{ name: 'wallboard', token: 'merge-token' }],
    sources: [{ id: 'own', name: 'logs', kind: 'log' }],
    dashboards: [{ name: 'board' }],
    usageCosts: [{ date: '2026-10-01', entityType: 'service', entityId: analytics.id, metrics: { computeCHC: 1 } }],
  });
  const bare = { organizations: [{ id, name: 'Acme', paid: true, services: [reader] }] };

  it('F1: remain unless --prune is given; resources created through the API always remain', async () => {
    await at.plan(full);
    const before = await at.exportFirstOrganization();
    const created = JSON.parse((await at.run('key', 'create', '--json')).stdout);

    expect(await at.plan(bare)).toEqual([]);
    expect({ ...(await at.exportFirstOrganization()), keys: before.keys }).toEqual(before);

    const removals = [
      'service analytics',
      'key admin',
      'key spare',
      'token wallboard',
      'source logs',
      'dashboard board',
      'cost 2026-10-01 analytics',
    ]
      .map((what) => `remove ${what}`)
      .sort();
    expect((await at.plan(bare, '--prune', '--dry-run')).sort()).toEqual(removals);
    expect((await at.plan(bare, '--prune')).sort()).toEqual(removals);
    const after = await at.exportFirstOrganization();
    expect(Object.keys(after)).toEqual(['id', 'name', 'tier', 'paid', 'createdAt', 'services', 'keys']);
    expect(after.services).toEqual([expect.objectContaining({ name: 'reader', isPrimary: false })]);
    expect(after.keys).toEqual([expect.objectContaining({ id: created.key.id })]);
    expect(await at.plan(bare, '--prune')).toEqual([]);
    expect((await at.plan(full)).sort()).toEqual(removals.map((line) => line.replace('remove', 'add')));
  });

  it('F1: can be declared again after --prune, even if the API had deleted them', async () => {
    await at.plan(full);
    const other = { ...full.organizations[0], keys: [organization.keys[0]] };
    const started = await run(['serve', '--port', '0', ...at.args]);
    const authorization = `Basic ${btoa(`${admin.keyId}:${admin.keySecret}`)}`;
    const deleted = await fetch(`${started.url}/v1/organizations/${id}/keys/${spare.id}`, {
      method: 'DELETE',
      headers: { authorization },
    });
    await started.stop();
    expect(deleted.status).toBe(200);
    expect(await at.plan({ organizations: [other] }, '--prune')).toEqual([]);
    expect(await at.plan(full)).toEqual(['add key spare']);
  });

  it('F1, U5: --prune fails without removing anything if a cost record is locked', async () => {
    const locked = file({
      usageCosts: [{ date: '2026-10-01', entityType: 'service', entityId: analytics.id, locked: true }],
    });
    await at.plan(locked);
    const finished = await at.apply(bare, '--prune');
    expect(finished.code).toBe(2);
    expect(finished.stderr).toBe(
      `error: organizations[0].usageCosts: A locked record cannot be removed <string:2026-10-01 service ${analytics.id}>\n`,
    );
    expect((await at.exportFirstOrganization()).keys).toHaveLength(2);
  });
});

describe('two fleet files', () => {
  const at = useStore('libsql');

  it('F1: for different organizations do not affect each other, even with --prune', async () => {
    const other = { organizations: [{ name: 'Globex', services: [{ name: 'main' }] }] };
    await at.plan(file());
    expect(await at.plan(other, '--prune')).toEqual(['add organization Globex', 'add service main']);
    expect(await at.plan(file(), '--prune')).toEqual([]);
  });
});
