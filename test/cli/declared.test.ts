import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { getServerStore, type Json, listErrors, useStore } from '../support/cli.ts';
import { onEachStore, useServer } from '../support/server.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('base64');
const service = '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11';
const warehouse = '3ab15151-9e4d-4e31-b28a-5e906f4dc144';
const unknownId = '4bc26262-af5e-4f42-839b-6fa17a5ed255';
const acmeFleet = (organization: object) => ({ organizations: [{ name: 'Acme', ...organization }] });

onEachStore('defaults in a fleet file', (store) => {
  const at = useStore(store);

  it('S2, S4, S5: a new service gets the defaults of its tier and kind; the first service of a warehouse is primary', async () => {
    const services = [
      { name: 'plain' },
      { name: 'dev', kind: 'development' },
      { name: 'a', dataWarehouseId: warehouse },
      { name: 'b', dataWarehouseId: warehouse },
    ];
    const tiers = ['BASIC', 'SCALE', 'ENTERPRISE', undefined];
    const applied = await at.apply({ organizations: tiers.map((tier) => ({ name: `org ${tier}`, tier, services })) });
    expect(applied.code, applied.stderr).toBe(0);
    const exported: Json[] = JSON.parse((await at.run('export', '--json')).stdout).organizations;
    for (const { name, tier, paid, services: stored } of exported) {
      expect({ tier, paid }).toEqual({ tier: name.endsWith('undefined') ? 'SCALE' : name.slice(4), paid: false });
      const findService = (wanted: string) => stored.find((candidate: Json) => candidate.name === wanted);
      const idle = {
        state: 'running',
        idleScaling: true,
        idleTimeoutMinutes: 15,
        numReplicas: tier === 'BASIC' ? 1 : 3,
      };
      const small = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 8 };
      expect(findService('plain')).toMatchObject({
        kind: 'production',
        isPrimary: true,
        ...idle,
        ...(tier === 'BASIC' ? small : { minReplicaMemoryGb: 16, maxReplicaMemoryGb: 120 }),
      });
      expect(findService('dev')).toMatchObject({ kind: 'development', isPrimary: true, ...idle, ...small });
      expect(stored.map((candidate: Json) => [candidate.name, candidate.isPrimary]).sort()).toEqual([
        ['a', true],
        ['b', false],
        ['dev', true],
        ['plain', true],
      ]);
      expect(new Set(stored.map((candidate: Json) => candidate.dataWarehouseId)).size).toBe(3);
    }
  });

  it('F1: a service that joins a warehouse is not primary, even if the primary service is no longer in the file', async () => {
    await at.plan(acmeFleet({ services: [{ name: 'first', dataWarehouseId: warehouse }] }));
    await at.plan(acmeFleet({ services: [{ name: 'second', dataWarehouseId: warehouse, numReplicas: 1 }] }));
    const { services } = await at.exportFirstOrganization();
    expect(services.map(({ name, isPrimary }: Json) => [name, isPrimary]).sort()).toEqual([
      ['first', true],
      ['second', false],
    ]);
  });

  it('F2: omitted ids are derived, so they are the same on every store and in any order', async () => {
    const declared = {
      services: [{ name: 'a' }, { name: 'b' }],
      keys: [{ keyId: 'any', keySecret: 'any-secret' }],
      dashboardTokens: [{ name: 't', token: 'any-token' }],
      sources: [{ name: 's', kind: 'trace' }],
      dashboards: [{ name: 'd', tiles: [{ x: 0, y: 0, w: 1, h: 1, series: [{ type: 'number', aggFn: 'count' }] }] }],
    };
    await at.plan(acmeFleet(declared));
    const first = await at.exportFirstOrganization();
    expect(first).toMatchObject({
      id: '63c05267-9614-52b9-b9c7-19631a19ca02',
      dashboards: [{ id: expect.stringMatching(/^[0-9a-f]{24}$/) }],
      sources: [{ id: expect.stringMatching(/^[0-9a-f]{24}$/) }],
    });
    expect(
      await at.plan(acmeFleet({ ...declared, services: [{ name: 'new' }, { name: 'b' }, { name: 'a' }] })),
    ).toEqual(['add service new']);
    const ids = ({ id, services, keys, dashboardTokens, sources, dashboards }: Json) =>
      [
        id,
        ...[services, keys, dashboardTokens, sources, dashboards].flatMap((list: Json[]) =>
          list.filter(({ name }) => name !== 'new').map((resource) => resource.id),
        ),
      ].sort();
    expect(ids(await at.exportFirstOrganization())).toEqual(ids(first));
  });

  it('F3: a cost of a known entity requires no warehouse or service id; other costs do', async () => {
    const date = '2026-10-01';
    const services = [{ id: service, name: 'analytics', dataWarehouseId: warehouse }];
    const known = [
      { date, entityType: 'service', entityId: service.toUpperCase(), metrics: { computeCHC: 0.000001 } },
      { date, entityType: 'datawarehouse', entityId: warehouse },
      { date, entityType: 'clickpipe', entityId: unknownId, entityName: 'pipe', serviceId: service },
    ];
    await at.plan(acmeFleet({ services, usageCosts: known.slice(0, 1) }));
    // By now the service is only in the store, not in the file.
    await at.plan(acmeFleet({ usageCosts: known }));
    const costs = async () =>
      (await at.exportFirstOrganization()).usageCosts.sort((a: Json, b: Json) =>
        a.entityType < b.entityType ? -1 : 1,
      );
    expect(await costs()).toEqual([
      {
        date,
        entityType: 'clickpipe',
        entityId: unknownId,
        entityName: 'pipe',
        dataWarehouseId: warehouse,
        serviceId: service,
        locked: false,
        metrics: {},
      },
      {
        date,
        entityType: 'datawarehouse',
        entityId: warehouse,
        entityName: 'analytics warehouse',
        dataWarehouseId: warehouse,
        locked: false,
        metrics: {},
      },
      {
        date,
        entityType: 'service',
        entityId: service,
        entityName: 'analytics',
        dataWarehouseId: warehouse,
        serviceId: service,
        locked: false,
        metrics: { computeCHC: 0.000001 },
      },
    ]);
    const unknown = await at.apply(
      acmeFleet({
        usageCosts: [
          { date, entityType: 'service', entityId: unknownId },
          { date, entityType: 'clickpipe', entityId: warehouse },
        ],
      }),
    );
    expect(unknown.code).toBe(2);
    expect(listErrors(unknown)).toEqual([
      'organizations[0].usageCosts[0].dataWarehouseId: The value is required for a service that does not exist in this organization <missing>',
      'organizations[0].usageCosts[1].dataWarehouseId: The value is required for a clickpipe that does not exist in this organization <missing>',
      'organizations[0].usageCosts[1].serviceId: The value is required for a clickpipe that does not exist in this organization <missing>',
    ]);
    expect(
      await at.plan(
        acmeFleet({ usageCosts: [{ date, entityType: 'service', entityId: unknownId, dataWarehouseId: warehouse }] }),
      ),
    ).toEqual([`add cost 2026-10-01 ${unknownId}`]);
  });

  it('F3, U5: rejects other values for a locked record, even with --force, and accepts the same values', async () => {
    const services = [{ id: service, name: 'analytics' }];
    const file = (computeCHC: number, locked = true) =>
      acmeFleet({
        services,
        usageCosts: [{ date: '2026-10-01', entityType: 'service', entityId: service, locked, metrics: { computeCHC } }],
      });
    await at.plan(file(1, false));
    expect(await at.plan(file(2, true))).toEqual(['change cost 2026-10-01 analytics']);
    for (const [wrong, ...flags] of [[file(3)], [file(2, false)], [file(3), '--force']] as [object, ...string[]][]) {
      const finished = await at.apply(wrong, ...flags);
      expect(finished).toMatchObject({
        code: 2,
        stderr:
          'error: organizations[0].usageCosts[0].locked: The record is locked and can no longer change <boolean:true>\n',
      });
    }
    expect(await at.plan(file(2), '--force')).toEqual([]);
  });
});

onEachStore('credentials in a fleet file', (store) => {
  const hashData = { keyIdHash: hash('anything at all'), keyIdSuffix: 'tall', keySecretHash: hash('secret: ä') };
  const server = useServer(store, {
    fleet: acmeFleet({
      id: unknownId,
      keys: [
        { name: 'own', hashData },
        { name: 'expired', keyId: 'old', keySecret: 'old-secret', expireAt: '2020-01-01T00:00:00+02:00' },
      ],
      dashboardTokens: [
        { name: 'hashed', tokenHash: hash('my-token-of-some-length') },
        { name: 'expired', token: 'old-token', expireAt: '2026-01-01T00:00:00Z' },
      ],
    }),
  });
  const path = `/v1/organizations/${unknownId}`;

  it('F3, K7: a key declared by hashData and a token declared by tokenHash can authenticate', async () => {
    expect((await server.call({ path, key: { keyId: 'anything at all', keySecret: 'secret: ä' } })).status).toBe(200);
    expect((await server.call({ path: '/api/v2/dashboards', token: 'my-token-of-some-length' })).status).toBe(200);
    expect((await server.call({ path: '/api/v2/dashboards', token: hash('my-token-of-some-length') })).status).toBe(
      401,
    );
  });

  it('K4: can include an expired key, which cannot authenticate', async () => {
    const { status, json } = await server.call({ path, key: { keyId: 'old', keySecret: 'old-secret' } });
    expect([status, json.error]).toEqual([401, 'UNAUTHORIZED: Key is not active']);
    expect((await server.call({ path: '/api/v2/dashboards', token: 'old-token' })).status).toBe(401);
  });

  it('F3: replacing tokenHash by the token keeps the token and adds its suffix', async () => {
    const plan = await getServerStore(server).plan(
      acmeFleet({ id: unknownId, dashboardTokens: [{ name: 'hashed', token: 'my-token-of-some-length' }] }),
    );
    expect(plan).toEqual(['change token hashed']);
    const { dashboardTokens } = await getServerStore(server).exportFirstOrganization();
    expect(dashboardTokens).toHaveLength(2);
    expect(dashboardTokens).toContainEqual(
      expect.objectContaining({ name: 'hashed', tokenHash: hash('my-token-of-some-length'), tokenSuffix: 'ngth' }),
    );
    expect((await server.call({ path: '/api/v2/dashboards', token: 'my-token-of-some-length' })).status).toBe(200);
  });
});
