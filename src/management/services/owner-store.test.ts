import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createTestSession } from '../../../test/support/leases.ts';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createServiceRecord } from '../../../test/support/service-record.ts';
import { listMigrations } from '../../kernel/migration.ts';
import { migrate } from '../../platform/state/migrate.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createAudit } from '../audit/audit.ts';
import { insertOrganization } from '../organizations/store.ts';
import { createDrivenServices } from './driven-services.ts';
import type { Service } from './service.ts';
import { deleteService, findService, insertServices, listRemovals, updateService } from './store.ts';

const NOW = Date.parse('2026-11-01T00:00:00Z');
const clock = { now: () => NOW, monotonicMs: () => NOW };
const ACME = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const GLOBEX = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

const toService = (index: number, name: string, organizationId = ACME): Service =>
  createServiceRecord(index, {
    organizationId,
    driver: 'kubernetes',
    settings: { kubernetes: { kind: 'ClickHouseInstallation', namespace: 'fleet', name } },
  });

onEachStore('a resource of Kubernetes', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    await state.write(async (tx) => {
      for (const id of [ACME, GLOBEX])
        await insertOrganization(tx, { id, name: id, tier: 'SCALE', isPaid: true, createdAt: NOW });
    });
  });
  afterEach(async () => {
    await state.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const insert = (...services: Service[]) => state.write((tx) => insertServices(tx, services));
  const change = (before: Service, after: Service) => state.write((tx) => updateService(tx, before, after));
  const createDriven = () => {
    const services = createDrivenServices({ state, audit: createAudit({ db: state.db, clock }) });
    return { ...services, ...services.under(createTestSession(state).state) };
  };
  const listOwners = async () =>
    (await state.db.selectFrom('resource_owners').selectAll().orderBy('resource').execute()).map(
      ({ resource, service_id }) => [resource.replace('ClickHouseInstallation fleet/', ''), service_id],
    );

  it('has one owner, whatever the organization, and the refusal names no service of another one', async () => {
    const [first, second] = [toService(1, 'orders'), toService(2, 'orders')];
    const foreign = toService(3, 'orders', GLOBEX);
    const text = 'ClickHouseInstallation fleet/orders belongs to';
    await insert(first);
    await expect(insert(second)).rejects.toMatchObject({
      code: 'conflict',
      message: `${text} the service ${first.id}`,
    });
    await expect(insert(foreign)).rejects.toMatchObject({ code: 'conflict', message: `${text} another service` });
    const events = toService(4, 'events', GLOBEX);
    await insert(events);
    await expect(change(events, { ...foreign, id: events.id })).rejects.toMatchObject({ code: 'conflict' });
    await expect(insert(toService(5, 'twice'), toService(6, 'twice'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await findService(state.db, ACME, second.id)).toBeUndefined();
    expect(await listOwners()).toEqual([
      ['events', events.id],
      ['orders', first.id],
    ]);
    // The same name with another kind is another resource.
    const kubernetes = { kind: 'ClickHouseCluster', namespace: 'fleet', name: 'orders' } as const;
    await insert({ ...second, settings: { kubernetes } });
  });

  it('goes to exactly one of several services that are created at the same time', async () => {
    const services = Array.from({ length: 6 }, (_, index) => toService(index + 1, 'orders', index % 2 ? GLOBEX : ACME));
    const results = await Promise.allSettled(services.map((service) => insert(service)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [[, owner] = []] = await listOwners();
    expect(results.findIndex(({ status }) => status === 'fulfilled')).toBe(
      services.findIndex(({ id }) => id === owner),
    );
  });

  it('keeps its owner after a deletion until the driver has released it', async () => {
    const [first, second] = [toService(1, 'orders'), toService(2, 'orders')];
    await insert(first);
    await state.write((tx) => deleteService(tx, first, NOW));
    await expect(insert(second)).rejects.toMatchObject({ message: expect.stringContaining('is being deleted') });
    const [removal] = await listRemovals(state.db);
    await createDriven().removed(removal as Service);
    expect(await listOwners()).toEqual([]);
    await insert(second);
    expect(await listOwners()).toEqual([['orders', second.id]]);
  });

  it('keeps its owner while the owner moves to another resource', async () => {
    const moving = toService(1, 'orders');
    const moved = { ...toService(1, 'events'), id: moving.id };
    const driven = createDriven();
    await insert(moving);
    await change(moving, moved);
    await expect(insert(toService(2, 'orders', GLOBEX))).rejects.toMatchObject({ code: 'conflict' });
    await expect(insert(toService(3, 'events', GLOBEX))).rejects.toMatchObject({ code: 'conflict' });
    await driven.observed(moved, ({ observed }) => ({ observed, settledGeneration: 2 }));
    expect(await listOwners()).toEqual([['events', moving.id]]);
    await insert(toService(2, 'orders', GLOBEX));
  });

  /** What the store must accept: a resource that no other service may still change. */
  function createModel() {
    const driven = createDriven();
    const live: Service[] = [];
    const driving = new Map<string, Set<string>>();
    let next = 0;

    async function claim(id: string, name: string, work: Promise<void>): Promise<boolean> {
      const ids = driving.get(name) ?? new Set<string>();
      const error = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if ([...ids].some((other) => other !== id)) expect(error).toMatchObject({ code: 'conflict' });
      else expect(error).toBeUndefined();
      if (error === undefined) driving.set(name, ids.add(id));
      return error === undefined;
    }

    return {
      live,
      async create(_: Service | undefined, name: string) {
        const created = toService(++next, name, next % 2 ? ACME : GLOBEX);
        if (await claim(created.id, name, insert(created))) live.push(created);
      },
      async move(service: Service | undefined, name: string) {
        if (!service) return;
        const moved = { ...service, settings: toService(1, name).settings ?? {} };
        if (await claim(service.id, name, change(service, moved))) live[live.indexOf(service)] = moved;
      },
      async delete(service: Service | undefined) {
        if (!service) return;
        await state.write((tx) => deleteService(tx, service, NOW));
        live.splice(live.indexOf(service), 1);
      },
      async settle(service: Service | undefined) {
        if (!service) return;
        const { generation = 1 } = (await findService(state.db, service.organizationId, service.id)) ?? {};
        await driven.observed(service, ({ observed }) => ({ observed, settledGeneration: generation }));
        for (const [name, ids] of driving) if (name !== service.settings?.kubernetes?.name) ids.delete(service.id);
      },
      async release() {
        for (const removal of await listRemovals(state.db)) {
          await driven.removed(removal);
          for (const ids of driving.values()) ids.delete(removal.id);
        }
      },
    };
  }

  it('has at most one owner after any sequence of creations, moves and deletions', async () => {
    const Step = fc.tuple(
      fc.constantFrom('create' as const, 'move' as const, 'delete' as const, 'settle' as const, 'release' as const),
      fc.nat(3),
      fc.nat(3),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { maxLength: 12 }), async (steps) => {
        for (const table of ['services', 'service_removals', 'resource_owners'] as const)
          await state.write((tx) => tx.deleteFrom(table).execute());
        const model = createModel();
        for (const [step, which, place] of steps)
          await model[step](model.live[which % Math.max(model.live.length, 1)], `resource-${place}`);
      }),
      { numRuns: 25 },
    );
  });

  it('with several services in an older store stays with the oldest; the others drive nothing', async () => {
    const services = [
      toService(3, 'orders-3'),
      toService(2, 'orders-2', GLOBEX),
      toService(1, 'orders-1'),
      toService(4, 'x'),
    ].map((service, index) => ({ ...service, createdAt: NOW + index }));
    await insert(...services);
    await state.write(async (tx) => {
      for (const { id, organizationId, document } of await tx
        .selectFrom('services')
        .select(['id', 'organization_id as organizationId', 'document'])
        .execute())
        await tx
          .updateTable('services')
          .set({ document: document.replace(/"orders-\d"/, '"orders"') })
          .where('organization_id', '=', organizationId)
          .where('id', '=', id)
          .execute();
      for (const table of ['resource_owners', 'control_planes']) await sql`DROP TABLE ${sql.table(table)}`.execute(tx);
      await tx.deleteFrom('schema_migrations').where('name', '=', '0019-resource-owners').execute();
    });
    expect(await migrate(state, listMigrations('state'), clock)).toEqual(['0019-resource-owners']);
    const [oldest, second, third, other] = services;
    expect(await listOwners()).toEqual([
      ['orders', oldest?.id],
      ['x', other?.id],
    ]);
    const driven = createDriven();
    const owns = async (service: Service | undefined) =>
      driven.ownsResource((await driven.find(service?.organizationId ?? '', service?.id ?? '')) as Service);
    expect([await owns(oldest), await owns(second), await owns(third), await owns(other)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    // A resource without an owner goes to the next service that asks.
    await state.write((tx) => deleteService(tx, oldest as Service, NOW));
    expect(await owns(second)).toBe(false);
    for (const removal of await listRemovals(state.db)) await driven.removed(removal);
    expect([await owns(third), await owns(second)]).toEqual([true, false]);
  });

  it('is marked with an identity that the store keeps', async () => {
    const id = await createDriven().readControlPlaneId();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const ids = await Promise.all([createDriven().readControlPlaneId(), createDriven().readControlPlaneId()]);
    expect(ids).toEqual([id, id]);
  });
});
