import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { newUuid } from '../../kernel/ids.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { insertOrganization } from '../../management/organizations/store.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createDashboardQuota } from './dashboard-quota.ts';
import type { Dashboard } from './schema.ts';
import { deleteDashboard, measureDashboards, putDashboard } from './store.ts';

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

  it('is counted with each change, and again after a node with an older version made one', async () => {
    const organizationId = newUuid();
    const measure = () => state.write((tx) => measureDashboards(tx, organizationId));
    const save = (id: string, name: string) =>
      state.write(async (tx) => {
        const json = JSON.stringify({ name });
        await putDashboard(tx, organizationId, { ...dashboard(id), name }, { json, at: 0, by: 'test' });
        return json.length;
      });
    await state.write((tx) =>
      insertOrganization(tx, { id: organizationId, name: 'Initech', tier: 'SCALE', isPaid: true, createdAt: 0 }),
    );
    const first = await save('one', 'a long name');
    await save('one', 'name');
    const second = await save('two', 'other');
    expect(await measure()).toEqual({ count: 2, bytes: first - 7 + second });
    await state.write((tx) => deleteDashboard(tx, organizationId, 'one', 0));
    await state.write((tx) => deleteDashboard(tx, organizationId, 'one', 0));
    expect(await measure()).toEqual({ count: 1, bytes: second });
    await state.write(async (tx) => {
      await tx
        .updateTable('dashboards')
        .set({ document: '12345' })
        .where('organization_id', '=', organizationId)
        .execute();
      const revision = { dashboard_revision: sql<number>`dashboard_revision + 1` };
      await tx.updateTable('organizations').set(revision).where('id', '=', organizationId).execute();
    });
    expect(await measure()).toEqual({ count: 1, bytes: 5 });
    const third = await save('three', 'x');
    expect(await measure()).toEqual({ count: 2, bytes: 5 + third });
  });
});
