import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KyselyPlugin, sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { firstIdAt, newUuid } from '../../kernel/ids.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { insertOrganization } from '../organizations/store.ts';
import type { Activity, ActivityType } from './activity.ts';
import { type Audit, createAudit } from './audit.ts';
import type { ActivityFilter } from './filter.ts';
import { toRow } from './store.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const ENTRIES = 20_000;
const ROWS_PER_INSERT = 1000;
/** One activity of each rare kind, in the oldest part of the log. */
const RARE_AT = 100;
const serviceId = newUuid();
const rareId = newUuid();

onEachStore('the audit log', (store) => {
  const organizationId = newUuid();
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let audit: Audit;
  let rowsRead: number;

  /** Counts the rows that the audit log reads from the store. */
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rowsRead += result.rows.length;
      return result;
    },
  };

  const toActivity = (index: number): Activity => {
    const isRare = index === RARE_AT;
    return {
      organizationId,
      id: firstIdAt(START + index),
      createdAt: START + index,
      type: isRare ? 'budget_delete' : 'service_update_autoscaling_memory',
      actor: { type: 'api', id: isRare ? rareId : serviceId, details: isRare ? 'Rare Ünit' : 'admin' },
      resource: isRare ? { type: 'budget', id: rareId } : { type: 'service', id: serviceId },
      after: { minReplicaMemoryGb: index },
    };
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    const clock = { now: () => START, monotonicMs: () => START };
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    audit = createAudit({ db: state.db.withPlugin(counter), clock });
    await state.write((tx) =>
      insertOrganization(tx, { id: organizationId, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: START }),
    );
    for (let first = 0; first < ENTRIES; first += ROWS_PER_INSERT) await state.write((tx) => insertRows(tx, first));
    if (store === 'postgres') await sql`ANALYZE activities`.execute(state.db);
  }, 120_000);

  async function insertRows(tx: Db, first: number): Promise<void> {
    const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => toRow(toActivity(first + index)));
    await tx
      .insertInto('activities')
      .values(rows.map((row, index) => ({ ...row, sequence: first + index + 1, hash: '' })))
      .execute();
  }

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const list = async (filter: ActivityFilter, page: { before?: string; limit?: number } = {}) => {
    rowsRead = 0;
    return audit.list(organizationId, filter, { limit: 100, ...page });
  };

  it.each<[string, ActivityFilter]>([
    ['type', { type: 'budget_delete' }],
    ['actor id', { actor: rareId }],
    ['actor name', { actor: 'Rare Ünit' }],
    ['resource type', { resourceType: 'budget' }],
    ['resource id', { resourceId: rareId }],
    ['the time', { fromMs: START + RARE_AT, toMs: START + RARE_AT + 1 }],
    ['several filters', { resourceType: 'budget', actor: 'Rare Ünit', resourceId: rareId, texts: ['rare ü'] }],
  ])('finds an old activity by %s without reading the rest', async (_, filter) => {
    const { activities, nextBefore } = await list(filter);
    expect([activities, nextBefore]).toEqual([[toActivity(RARE_AT)], undefined]);
    expect(rowsRead).toBeLessThanOrEqual(2);
  });

  it.each<[string, ActivityFilter]>([
    ['no filter', {}],
    ['a type', { type: 'service_update_autoscaling_memory' }],
    ['a resource type', { resourceType: 'service' }],
    ['an actor', { actor: 'admin' }],
  ])('reads one page for %s that matches everything', async (_, filter) => {
    const { activities, nextBefore } = await list(filter, { limit: 50 });
    expect(activities.map(({ createdAt }) => createdAt - START)).toEqual(
      Array.from({ length: 50 }, (_, index) => ENTRIES - 1 - index),
    );
    expect(nextBefore).toBe(activities.at(-1)?.id);
    // One more, to know whether there is a next page.
    expect(rowsRead).toBe(51);
  });

  it('uses an index that returns rows in order, without sorting', async () => {
    const order = sql`ORDER BY id DESC LIMIT 50`;
    // On a separate connection: on libSQL an EXPLAIN leaves its read transaction open.
    const other = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      clock: { now: () => START, monotonicMs: () => START },
    });
    for (const column of ['type', 'actor_id', 'actor_name', 'resource_id']) {
      const query = sql`SELECT id FROM activities WHERE organization_id = ${organizationId} AND ${sql.ref(column)} = ${rareId} ${order}`;
      const explain = store === 'postgres' ? sql`EXPLAIN ${query}` : sql`EXPLAIN QUERY PLAN ${query}`;
      const plan = JSON.stringify((await explain.execute(other.db)).rows);
      expect(plan).toMatch(/activities_by_/);
      expect(plan).not.toMatch(/Sort|Seq Scan|TEMP B-TREE|SCAN activities/);
    }
    await other.close();
  });

  it('pages through a filtered log, each activity once', async () => {
    const readIds: string[] = [];
    const filter: ActivityFilter = { actor: 'admin', fromMs: START + 50, toMs: START + 350 };
    for (let before: string | undefined; ; ) {
      const { activities, nextBefore } = await list(filter, { limit: 70, ...(before === undefined ? {} : { before }) });
      readIds.push(...activities.map(({ id }) => id));
      if (nextBefore === undefined) break;
      before = nextBefore;
    }
    const expected = Array.from({ length: 300 }, (_, index) => 349 - index).filter((index) => index !== RARE_AT);
    expect(readIds).toEqual(expected.map((index) => firstIdAt(START + index)));
  });

  it('searches text through the whole log in steps', async () => {
    const { activities } = await list({ texts: ['nowhere', 'rare ü'] });
    expect(activities.map(({ id }) => id)).toEqual([firstIdAt(START + RARE_AT)]);
    expect((await list({ texts: ['nowhere'] })).activities).toEqual([]);
  });

  it('keeps ids close to the time when the clock is set back', async () => {
    let now = START + 10 * ENTRIES;
    const clock = { now: () => now, monotonicMs: () => now };
    const log = createAudit({ db: state.db, clock });
    const record = (type: ActivityType) =>
      state.write(async (tx) => {
        await log.record(
          tx,
          { type: 'system', id: 'test', details: 'test' },
          {
            organizationId,
            type,
            resource: { type: 'key', id: newUuid() },
          },
        );
      });
    now += 365 * 24 * 60 * 60 * 1000;
    await record('key_delete');
    now -= 365 * 24 * 60 * 60 * 1000;
    await record('key_create');
    const { activities } = await log.list(organizationId, { actor: 'test', toMs: now + 1 }, { limit: 10 });
    expect(activities.map(({ type }) => type)).toEqual(['key_create']);
  });
});
