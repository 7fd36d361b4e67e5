import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../test/support/postgres.ts';
import { onEachStore } from '../../test/support/server.ts';
import { systemClock } from '../kernel/clock.ts';
import { newUuid } from '../kernel/ids.ts';
import { insertOrganization } from '../organizations/store.ts';
import { openState } from '../state/open.ts';
import type { State } from '../state/state.ts';
import { createDashboardQuota } from './dashboard-quota.ts';
import type { Dashboard } from './schema.ts';
import { putDashboard } from './store.ts';

onEachStore('the size of all dashboards of an organization', (store) => {
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  const [acme, globex] = [newUuid(), newUuid()];
  /** 1 KiB of two-byte characters. */
  const dashboard = (id: string): Dashboard => ({ id, name: 'ü'.repeat(512), tags: [], tiles: [] });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });
    for (const id of [acme, globex])
      await state.write((tx) => insertOrganization(tx, { id, name: id, tier: 'SCALE', isPaid: true, createdAt: 0 }));
  });
  afterAll(async () => {
    await state.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is limited in bytes, for new and for changed dashboards', async () => {
    const quota = createDashboardQuota({ maxBytes: 2600 });
    const save = (organizationId: string, id: string, isNew: boolean) =>
      state.write(async (tx) => {
        const saved = dashboard(id);
        await putDashboard(tx, organizationId, saved, { json: JSON.stringify(saved), at: 0, by: 'test' });
        await quota.check(tx, organizationId, { isNew });
      });
    await save(acme, 'one', true);
    await save(acme, 'two', true);
    await expect(save(acme, 'three', true)).rejects.toMatchObject({
      code: 'conflict',
      message: 'The dashboards of the organization would exceed 2 KiB together; delete one first',
    });
    await save(acme, 'two', false);
    await save(globex, 'one', true);
  });
});
