import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { firstIdAt, newUuid } from '../../kernel/ids.ts';
import { appendToChain, EMPTY_CHAIN, encodeActivity } from '../../platform/state/activity-chain.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import type { Db } from '../../platform/state/tables.ts';
import { insertOrganization } from '../organizations/store.ts';
import type { Activity } from './activity.ts';
import { type Audit, createAudit } from './audit.ts';
import { toRow } from './store.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const ACTIVITIES = 450;
const actor = { type: 'api', id: 'key-1', details: 'Ünit "1"\n\\ \ud83d\ude80 \ud800' } as const;

onEachStore('the hash chain of the audit log', (store) => {
  const acme = newUuid();
  const globex = newUuid();
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let audit: Audit;
  let now: number;
  const clock = { now: () => now, monotonicMs: () => now };

  const open = () => openState({ dataDirectory: directory, databaseUrl: database?.url, clock });

  const record = (tx: Db, organizationId: string, log = audit, id = newUuid()) =>
    log.record(tx, actor, {
      organizationId,
      type: 'key_create',
      resource: { type: 'key', id },
      after: { name: 'a\u0001 ß \ud800' },
    });

  /** Records in transactions of several activities. */
  async function recordMany(organizationId: string, count: number): Promise<void> {
    for (let done = 0; done < count; done += 50)
      await state.write(async (tx) => {
        for (let index = 0; index < Math.min(50, count - done); index++) {
          now++;
          await record(tx, organizationId);
        }
      });
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    now = START;
    state = await open();
    audit = createAudit({ db: state.db, clock });
    for (const id of [acme, globex])
      await state.write((tx) =>
        insertOrganization(tx, { id, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: START }),
      );
  });

  afterEach(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const run = (query: ReturnType<typeof sql>) => state.write((tx) => query.execute(tx));
  const whereNumber = (number: number) => sql`organization_id = ${acme} AND sequence = ${number}`;
  const getId = async (number: number) =>
    (await sql<{ id: string }>`SELECT id FROM activities WHERE ${whereNumber(number)}`.execute(state.db)).rows[0]?.id;

  it('is intact after recording, empty or not, and organizations are independent', async () => {
    expect(await audit.verify(acme)).toMatchObject({ activities: 0, head: EMPTY_CHAIN, broken: undefined });
    await recordMany(acme, ACTIVITIES);
    await recordMany(globex, 3);
    const { activities, head, broken } = await audit.verify(acme);
    expect([activities, head.sequence, broken]).toEqual([ACTIVITIES, ACTIVITIES, undefined]);
    expect(head.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await audit.verify(globex)).toMatchObject({ activities: 3, broken: undefined });
    await expect(audit.verify(newUuid())).rejects.toThrow(/does not exist/);
  });

  it('has the documented format', async () => {
    await state.write((tx) => record(tx, acme));
    const row = await state.db.selectFrom('activities').selectAll().executeTakeFirstOrThrow();
    expect(encodeActivity(row)).toBe(
      [
        acme,
        row.id,
        START,
        'key_create',
        '"key-1"',
        '"Ünit \\"1\\"\\n\\\\ \u{1f680} \ufffd"',
        `"${row.resource_id}"`,
        row.document,
      ].join('\n'),
    );
    expect({ sequence: row.sequence, hash: row.hash }).toEqual(appendToChain(EMPTY_CHAIN, encodeActivity(row)));
    const fixed: Activity = {
      organizationId: 'o',
      id: 'i',
      createdAt: 1,
      type: 'key_create',
      actor: { type: 'system', id: 'a', details: 'b' },
      resource: { type: 'key', id: 'r' },
    };
    expect(appendToChain({ sequence: 1, hash: 'ff' }, encodeActivity(toRow(fixed)))).toEqual({
      sequence: 2,
      hash: 'bdd5626fb25f2d39d08d9f37082b0d89cd517d633971fde5958e901db347557d',
    });
  });

  it('has no gaps and no forks if changes fail, run at the same time and come from several processes', async () => {
    const other = await open();
    const logs: [State, Audit][] = [
      [state, audit],
      [other, createAudit({ db: other.db, clock })],
    ];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 120 }, (_, index) => {
        const [target, log] = logs[index % 2] as [State, Audit];
        return target.write(async (tx) => {
          await record(tx, index % 3 === 0 ? globex : acme, log);
          if (index % 5 === 0) throw new Error('fails');
          if (index % 7 === 0) await record(tx, acme, log);
        });
      }),
    );
    await other.close();
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(24);
    const counts = await Promise.all([audit.verify(acme), audit.verify(globex)]);
    expect(counts.map(({ broken }) => broken)).toEqual([undefined, undefined]);
    expect(counts.map(({ activities }) => activities)).toEqual([64 + 14, 32]);
  });

  const CHANGES: [string, ReturnType<typeof sql>][] = [
    ['the document', sql`document = replace(document, 'Ünit', 'Unit')`],
    ['the type', sql`type = 'key_delete'`],
    ['the actor id', sql`actor_id = 'key-2'`],
    ['the actor name', sql`actor_name = 'nobody'`],
    ['the resource', sql`resource_id = 'x'`],
    ['the time', sql`created_at = created_at + 1`],
    ['the hash', sql`hash = 'x'`],
  ];
  it.each(CHANGES)('detects a change of %s', async (_, change) => {
    await recordMany(acme, 10);
    const id = await getId(7);
    await run(sql`UPDATE activities SET ${change} WHERE ${whereNumber(7)}`);
    expect(await audit.verify(acme)).toMatchObject({ activities: 6, broken: { kind: 'changed', sequence: 7, id } });
  });

  it.each([
    ['first', 1, 1],
    ['third', 3, 3],
    ['newest', ACTIVITIES, ACTIVITIES],
    ['newest three', ACTIVITIES - 2, ACTIVITIES],
    ['oldest three', 1, 3],
    ['only', 1, ACTIVITIES],
  ])('detects that the %s was removed', async (_, from, to) => {
    await recordMany(acme, ACTIVITIES);
    await run(sql`DELETE FROM activities WHERE organization_id = ${acme} AND sequence BETWEEN ${from} AND ${to}`);
    expect(await audit.verify(acme)).toMatchObject({
      activities: from - 1,
      broken: { kind: 'removed', sequence: from, id: undefined },
    });
  });

  it.each([
    ['before all others', 1, firstIdAt(0)],
    ['with the number of another', 5, firstIdAt(0)],
    ['with the number of another, as the newest', 5, firstIdAt(START * 2)],
    ['behind the head', 11, firstIdAt(START * 2)],
    ['without a number', 0, firstIdAt(START * 2)],
  ])('detects a row that was inserted %s', async (_, sequence, id) => {
    await recordMany(acme, 10);
    await run(
      sql`INSERT INTO activities (organization_id, id, created_at, document, type, actor_id, actor_name, resource_id, sequence, hash)
        SELECT organization_id, ${id}, created_at, document, type, actor_id, actor_name, resource_id, ${sql.lit(sequence)}, hash
        FROM activities WHERE ${whereNumber(Math.min(Math.max(sequence, 1), 10))}`,
    );
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'inserted', sequence, id });
  });

  it('detects an activity that was moved to another organization, and a changed head', async () => {
    await recordMany(acme, 3);
    await recordMany(globex, 3);
    await run(sql`UPDATE activities SET organization_id = ${globex} WHERE ${whereNumber(3)}`);
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'removed', sequence: 3 });
    expect((await audit.verify(globex)).broken).toMatchObject({ kind: 'inserted', sequence: 3 });
    await run(sql`UPDATE organizations SET audit_hash = 'x' WHERE id = ${acme}`);
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'removed', sequence: 3 });
  });

  it('detects a chain that was computed again, by a head that was noted', async () => {
    await recordMany(acme, 5);
    const { head: noted } = await audit.verify(acme);
    await recordMany(acme, 5);
    expect(await audit.verify(acme, noted)).toMatchObject({ activities: 10, broken: undefined });
    await run(sql`UPDATE activities SET actor_name = 'nobody' WHERE ${whereNumber(2)}`);
    await computeAgain();
    expect((await audit.verify(acme)).broken).toBeUndefined();
    expect((await audit.verify(acme, noted)).broken).toMatchObject({ kind: 'changed', sequence: 5 });
    await run(sql`DELETE FROM activities WHERE organization_id = ${acme} AND sequence > 4`);
    await computeAgain();
    expect((await audit.verify(acme, noted)).broken).toMatchObject({ kind: 'removed', sequence: 5 });
  });

  /** What an administrator of the database can do. */
  async function computeAgain(): Promise<void> {
    await state.write(async (tx) => {
      let head = EMPTY_CHAIN;
      const rows = await tx
        .selectFrom('activities')
        .selectAll()
        .where('organization_id', '=', acme)
        .orderBy('id')
        .execute();
      for (const row of rows) {
        head = appendToChain(head, encodeActivity(row));
        await sql`UPDATE activities SET sequence = ${head.sequence}, hash = ${head.hash} WHERE organization_id = ${acme} AND id = ${row.id}`.execute(
          tx,
        );
      }
      await sql`UPDATE organizations SET audit_sequence = ${head.sequence}, audit_hash = ${head.hash} WHERE id = ${acme}`.execute(
        tx,
      );
    });
  }

  it('is verified in the order of the chain if ids are out of order, because a clock was wrong', async () => {
    await recordMany(acme, 30);
    now += 365 * 24 * 60 * 60 * 1000;
    await recordMany(acme, 20);
    now = START + 1000;
    await recordMany(acme, 400);
    const check = () => audit.verify(acme);
    expect(await check()).toMatchObject({ activities: 450, broken: undefined });
    const id = await getId(300);
    await run(sql`UPDATE activities SET actor_name = 'nobody' WHERE ${whereNumber(300)}`);
    expect(await check()).toMatchObject({ activities: 299, broken: { kind: 'changed', sequence: 300, id } });
    await run(sql`DELETE FROM activities WHERE ${whereNumber(40)}`);
    expect(await check()).toMatchObject({ activities: 39, broken: { kind: 'removed', sequence: 40 } });
  });
});
