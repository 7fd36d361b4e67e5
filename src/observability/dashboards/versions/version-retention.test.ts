import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../../test/support/postgres.ts';
import { onEachStore } from '../../../../test/support/server.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { DAY_MS } from '../../../kernel/time/clock.ts';
import { insertOrganization } from '../../../management/organizations/store.ts';
import { openState } from '../../../platform/state/open.ts';
import type { State } from '../../../platform/state/state.ts';
import { insertVersion } from '../version-store.ts';
import { createVersionRetention } from './version-retention.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const VERSIONS = 250;

onEachStore('retention of dashboard versions', (store) => {
  const acme = newUuid();
  const clock = { now: () => NOW, monotonicMs: () => NOW };
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;

  const remove = (days: number | undefined) => createVersionRetention({ state, clock, log: { info() {} }, days }).run();
  const list = async (dashboardId: string) =>
    (
      await state.db
        .selectFrom('dashboard_versions')
        .select('version')
        .where('dashboard_id', '=', dashboardId)
        .orderBy('version')
        .execute()
    ).map(({ version }) => version);

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    await state.write(async (tx) => {
      await insertOrganization(tx, { id: acme, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: 0 });
      const save = (dashboard_id: string, version: number, saved_at: number) =>
        insertVersion(tx, {
          organization_id: acme,
          dashboard_id,
          version,
          saved_at,
          saved_by: 'test',
          provisioned_from: null,
          name: 'x',
          tile_count: 0,
          document: '{}',
        });
      const dashboard = { organization_id: acme, name: 'x', document: '{}', created_at: 0, updated_at: 0 };
      for (const [id, version] of [
        ['busy', VERSIONS],
        ['quiet', 2],
      ] as const)
        await tx
          .insertInto('dashboards')
          .values({ ...dashboard, id, version, provisioned_from: null })
          .execute();
      // One version a day, until today.
      for (let version = 1; version <= VERSIONS; version++)
        await save('busy', version, NOW - (VERSIONS - version) * DAY_MS);
      await save('quiet', 1, 1);
      await save('quiet', 2, 2);
      await save('deleted', 1, 3);
      await save('deleted', 2, NOW - DAY_MS);
    });
  });

  afterEach(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('removes old versions in several transactions, but never the current one', async () => {
    await remove(undefined);
    expect(await list('busy')).toHaveLength(VERSIONS);
    await remove(30);
    expect(await list('busy')).toEqual(Array.from({ length: 31 }, (_, index) => VERSIONS - 30 + index));
    expect(await list('quiet')).toEqual([2]);
    expect(await list('deleted')).toEqual([2]);
  });
});
