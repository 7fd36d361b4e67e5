import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { readPlans } from '../../../test/support/query-plan.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createServiceRecord } from '../../../test/support/service-record.ts';
import type { Sort } from '../../kernel/page.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { insertOrganization } from '../organizations/store.ts';
import type { Service } from './service.ts';
import { insertServices, listServicePage } from './store.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const SERVICES = 3000;
const organizationId = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const clock = { now: () => START, monotonicMs: () => START };

const createService = (_: unknown, index: number): Service =>
  createServiceRecord(index, {
    organizationId,
    name: `service-${SERVICES - index}`,
    details: { tags: [{ key: 'team', value: 'data' }, ...(index === 2000 ? [{ key: 'canary' }] : [])] },
  });

onEachStore('the index', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  const open = () => openState({ dataDirectory: directory, databaseUrl: database?.url, clock });

  beforeAll(async () => {
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    state = await open();
    await state.write(async (tx) => {
      await insertOrganization(tx, { id: organizationId, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: START });
      await insertServices(tx, Array.from({ length: SERVICES }, createService));
    });
    if (store === 'postgres') await sql`ANALYZE`.execute(state.db);
  });

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const tag = (...tags: string[]) => ({ tags: new Set(tags), after: undefined });

  it.each<[Sort, string, RegExp]>([
    ['createdAt', 'team=data', /service_tags_by_time/],
    ['-createdAt', 'team', /service_tags_by_time/],
    ['name', 'team', /service_tags_by_name/],
    ['-name', 'team=data', /service_tags_by_name/],
  ])('of tags returns a page by %s without reading other services', async (sort, one, index) => {
    const query = { sort, limit: 10, ...tag(one) };
    const plans = await readPlans(state, open, async (db) => {
      expect((await listServicePage(db, organizationId, query)).items).toHaveLength(10);
    });
    expect(plans).toHaveLength(1);
    const [plan] = plans;
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Sort|Seq Scan|TEMP B-TREE|SCAN /);
  });

  it('of tags follows the rarest of several tags', async () => {
    const query = { sort: 'createdAt', limit: 10, ...tag('team', 'team=data', 'canary') } as const;
    const { items, next } = await listServicePage(state.db, organizationId, query);
    expect([items.map(({ name }) => name), next]).toEqual([['service-1000'], undefined]);
    const none = await listServicePage(state.db, organizationId, { ...query, ...tag('team', 'canary=yes') });
    expect(none).toEqual({ items: [], next: undefined });
  });
});
