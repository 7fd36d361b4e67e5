import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../../test/support/postgres.ts';
import { onEachStore } from '../../../../test/support/server.ts';
import { createServiceRecord } from '../../../../test/support/service-record.ts';
import { openState } from '../../../platform/state/open.ts';
import type { State } from '../../../platform/state/state.ts';
import { createAudit } from '../../audit/audit.ts';
import { createOrganizations } from '../../organizations/organizations.ts';
import { insertOrganization } from '../../organizations/store.ts';
import { createServices } from '../../services/services.ts';
import { deleteService, insertServices } from '../../services/store.ts';
import { zeroMicros } from '../cost.ts';
import { createEntities } from '../entities.ts';
import { putOpenCosts } from '../store.ts';
import { createEntityCache } from './batch-entities.ts';

/** More than are read at once. */
const SERVICES = 1200;
const acme = createServiceRecord(0).organizationId;
const globex = '00000000-0000-4000-9000-000000000001';
const clickpipe = '20000000-0000-4000-8000-000000000001';

onEachStore('the entities of a batch', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let elapsedMs = 0;
  const clock = { now: () => 0, monotonicMs: () => elapsedMs };
  const first = createServiceRecord(0, { name: 'first', details: { region: 'eu-central-1' } });
  const child = createServiceRecord(-1, {
    id: '00000000-0000-4000-8000-0000000000ff',
    name: 'child',
    dataWarehouseId: first.dataWarehouseId,
    isPrimary: false,
  });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    await state.write(async (tx) => {
      for (const id of [acme, globex])
        await insertOrganization(tx, { id, name: id, tier: 'SCALE', isPaid: true, createdAt: 0 });
      const others = Array.from({ length: SERVICES - 1 }, (_, index) => createServiceRecord(index + 1000));
      await insertServices(tx, [first, child, ...others]);
      const cost = {
        organizationId: acme,
        entityType: 'clickpipe',
        entityId: clickpipe,
        dataWarehouseId: first.dataWarehouseId,
        serviceId: first.id,
        isLocked: false,
        micros: zeroMicros(),
      } as const;
      await putOpenCosts(tx, [
        { ...cost, date: '2026-10-01', entityName: 'old name' },
        { ...cost, date: '2026-10-02', entityName: 'pipe' },
      ]);
    });
  });

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const createCache = () => {
    const { db } = state;
    const audit = createAudit({ db, clock });
    const services = createServices({ state, audit, organizations: createOrganizations({ db }) });
    return createEntityCache({ entities: createEntities({ db, services }), clock });
  };

  it('are read when a batch names them, whatever the case of their ids', async () => {
    const batch = createCache()(acme);
    const ids = Array.from({ length: SERVICES - 1 }, (_, index) => createServiceRecord(index + 1000).id);
    const findAll = () => ids.map((id) => batch.find('service', id.toUpperCase())?.entityId);
    expect(new Set(findAll())).toEqual(new Set([undefined]));
    expect(await batch.refresh()).toBe(true);
    expect(findAll()).toEqual(ids);
    expect(await batch.refresh()).toBe(false);
  });

  it('have the name and the region of their service', async () => {
    const batch = createCache()(acme);
    const find = () => [
      batch.find('datawarehouse', first.dataWarehouseId),
      batch.find('clickpipe', clickpipe),
      batch.find('service', child.id),
    ];
    find();
    await batch.refresh();
    expect(find()).toMatchObject([
      { entityName: 'first warehouse', region: 'eu-central-1', serviceId: undefined },
      { entityName: 'pipe', region: 'eu-central-1', serviceId: first.id },
      { entityName: 'child', region: undefined, dataWarehouseId: first.dataWarehouseId },
    ]);
  });

  it('are those of the organization, and no text that is not an id is looked up', async () => {
    const open = createCache();
    for (const [organizationId, type, id] of [
      [globex, 'service', first.id],
      [globex, 'datawarehouse', first.dataWarehouseId],
      [globex, 'clickpipe', clickpipe],
      [acme, 'datawarehouse', first.id],
      [acme, 'unknown', first.id],
      [acme, 'service', '\u0000'],
      [acme, 'service', '\ud800'],
      [acme, 'service', `${first.id}' OR 1=1`],
    ] as const) {
      const batch = open(organizationId);
      expect(batch.find(type, id)).toBeUndefined();
      expect(await batch.refresh()).toBe(false);
      expect(batch.find(type, id)).toBeUndefined();
    }
  });

  it('are found at once when they are new, and not after two seconds when they are deleted', async () => {
    const open = createCache();
    const find = async (id: string) => {
      const batch = open(acme);
      batch.find('service', id);
      await batch.refresh();
      return batch.find('service', id) !== undefined;
    };
    const added = createServiceRecord(5);
    expect(await find(added.id)).toBe(false);
    await state.write((tx) => insertServices(tx, [added]));
    expect(await find(added.id)).toBe(true);
    await state.write((tx) => deleteService(tx, added, 0));
    elapsedMs += 1000;
    expect(await find(added.id)).toBe(true);
    elapsedMs += 1001;
    expect(await find(added.id)).toBe(false);
  });
});
