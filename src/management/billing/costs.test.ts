import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createAudit } from '../audit/audit.ts';
import { createOrganizations } from '../organizations/organizations.ts';
import { insertOrganization } from '../organizations/store.ts';
import { createServices } from '../services/services.ts';
import type { Cost } from './cost.ts';
import { createCosts } from './costs.ts';
import type { EntityType } from './entity.ts';
import { METRICS } from './meter.ts';
import { putCosts } from './store.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const organizationId = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const clock = { now: () => START, monotonicMs: () => START };
const window = { from: '2026-10-01', to: '2026-10-02' };

const createCost = (date: string, entityType: EntityType, entityId: string, serviceId?: string): Cost => ({
  organizationId,
  date,
  entityType,
  entityId,
  entityName: entityId,
  dataWarehouseId: 'w1',
  serviceId,
  isLocked: false,
  micros: Object.fromEntries(METRICS.map((metric) => [metric, 1])) as Cost['micros'],
});

onEachStore('the costs of selected services', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let rowsRead = 0;
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rowsRead += result.rows.length;
      return result;
    },
  };

  beforeAll(async () => {
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    await state.write(async (tx) => {
      await insertOrganization(tx, { id: organizationId, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: START });
      await putCosts(
        tx,
        [window.from, window.to, '2026-10-03'].flatMap((date) => [
          createCost(date, 'service', 's1', 's1'),
          createCost(date, 'service', 's2', 's2'),
          createCost(date, 'clickpipe', 'p1', 's1'),
          createCost(date, 'clickpipe', 'p2', 's2'),
          createCost(date, 'datawarehouse', 'w1'),
          createCost(date, 'datawarehouse', 'w2'),
        ]),
      );
    });
  });

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are the same for few services, which are looked up, and for many, which are selected from all', async () => {
    const audit = createAudit({ db: state.db, clock });
    const services = createServices({ state, audit, organizations: createOrganizations({ db: state.db }) });
    const costs = createCosts({ db: state.db.withPlugin(counter), services });
    const warehouseIds = new Set(['w1']);
    const few = await costs.list(organizationId, window, { serviceIds: new Set(['s1']), warehouseIds });
    expect(few.map(({ entityId }) => entityId).sort()).toEqual(['p1', 'p1', 's1', 's1', 'w1', 'w1']);
    expect(rowsRead).toBe(few.length);
    const others = Array.from({ length: 1000 }, (_, index) => `other-${index}`);
    const many = await costs.list(organizationId, window, { serviceIds: new Set(['s1', ...others]), warehouseIds });
    expect(many).toEqual(few);
    const none = { serviceIds: new Set<string>(), warehouseIds: new Set<string>() };
    expect(await costs.list(organizationId, window, none)).toEqual([]);
  });
});
