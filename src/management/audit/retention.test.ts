import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { cliProcess } from '../../../test/support/cli.ts';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { newUuid } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { createOrganizations } from '../organizations/organizations.ts';
import { insertOrganization } from '../organizations/store.ts';
import { type Audit, createAudit } from './audit.ts';
import { createAuditRetention } from './retention.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const PER_DAY = 130;
const DAYS = 10;
const KEPT_DAYS = 3;
/** The first of the kept days is the one that started `KEPT_DAYS` before the last midnight. */
const REMOVED = (DAYS - 1 - KEPT_DAYS) * PER_DAY;

onEachStore('retention of the audit log', (store) => {
  const acme = newUuid();
  let directory: string;
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  let audit: Audit;
  let now: number;
  let warnings: object[];
  const clock = { now: () => now, monotonicMs: () => now };

  const remove = (days: number | undefined, target = state): Promise<void> =>
    createAuditRetention({
      state: target,
      clock,
      audit: createAudit({ db: target.db, clock }),
      organizations: createOrganizations({ db: target.db }),
      log: { info() {}, warn: (details: object) => void warnings.push(details) },
      days,
    }).run();

  const open = () =>
    openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      secretsKeyFile: inject('secretsKeyFile'),
      clock,
    });
  const run = (query: ReturnType<typeof sql>) => state.write((tx) => query.execute(tx));
  const listNumbers = async () =>
    (await state.db.selectFrom('activities').select('sequence').orderBy('sequence').execute()).map(
      (row) => row.sequence,
    );

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    warnings = [];
    now = START;
    state = await open();
    audit = createAudit({ db: state.db, clock });
    await state.write((tx) =>
      insertOrganization(tx, { id: acme, name: 'Acme', tier: 'SCALE', isPaid: true, createdAt: START }),
    );
    for (let day = 0; day < DAYS; day++) {
      now = START + day * DAY_MS + DAY_MS / 2;
      const change = { organizationId: acme, type: 'key_create', resource: { type: 'key', id: newUuid() } } as const;
      const actor = { type: 'system', id: 'test', details: 'test' } as const;
      await state.write((tx) =>
        audit.recordAll(
          tx,
          actor,
          Array.from({ length: PER_DAY }, () => change),
        ),
      );
    }
  });

  afterEach(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('keeps everything by default', async () => {
    await remove(undefined);
    expect(await audit.verify(acme)).toMatchObject({ activities: DAYS * PER_DAY, removed: { sequence: 0 } });
  });

  it('removes whole days in several transactions; the rest is verified, and so are the removals', async () => {
    const { head: noted } = await audit.verify(acme);
    await remove(KEPT_DAYS);
    const [first, ...others] = await listNumbers();
    // 780 activities are more than one transaction removes, and each transaction records its removal.
    expect([first, others.at(-1)]).toEqual([REMOVED + 1, DAYS * PER_DAY + 2]);
    const result = await audit.verify(acme, noted);
    expect(result).toMatchObject({
      activities: DAYS * PER_DAY - REMOVED + 2,
      removed: { sequence: REMOVED, hash: expect.stringMatching(/^[0-9a-f]{64}$/), removedAt: now },
      broken: undefined,
    });
    const { activities } = await audit.list(acme, { type: 'audit_retention' }, { limit: 9 });
    expect(activities.map(({ after }) => after)).toEqual([
      { removed: REMOVED - 500, through: REMOVED, hash: result.removed.hash },
      { removed: 500, through: 500, hash: expect.any(String) },
    ]);
    await remove(KEPT_DAYS);
    expect(await audit.verify(acme), 'nothing more is due').toEqual({ ...result, head: result.head });
  });

  it('is done once by two nodes at the same time, while activities are added', async () => {
    const other = await open();
    const actor = { type: 'system', id: 'test', details: 'test' } as const;
    const change = { organizationId: acme, type: 'key_create', resource: { type: 'key', id: newUuid() } } as const;
    const checks: unknown[] = [];
    try {
      const adding = (async () => {
        for (let index = 0; index < 20; index++) {
          await state.write((tx) => audit.record(tx, actor, change));
          if (index % 5 === 0) checks.push((await audit.verify(acme)).broken);
        }
      })();
      await Promise.all([remove(KEPT_DAYS), remove(KEPT_DAYS, other), adding]);
    } finally {
      await other.close();
    }
    expect(checks).toEqual(checks.map(() => undefined));
    const result = await audit.verify(acme);
    expect(result).toMatchObject({ removed: { sequence: REMOVED }, broken: undefined });
    expect(result.head.sequence).toBe(DAYS * PER_DAY + 2 + 20);
  });

  it('keeps evidence: a chain that is not intact is not removed', async () => {
    await run(sql`UPDATE activities SET actor_name = 'other' WHERE sequence = 7`);
    await remove(KEPT_DAYS);
    expect(warnings).toEqual([{ organizationId: acme }]);
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'changed', sequence: 7 });
  });

  it('does not hide a removal by other means', async () => {
    await remove(KEPT_DAYS);
    const { removed } = await audit.verify(acme);
    await run(sql`DELETE FROM activities WHERE sequence <= ${REMOVED + 3}`);
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'removed', sequence: REMOVED + 1 });
    const { rows } = await sql<{ hash: string }>`SELECT hash FROM activities WHERE sequence = ${REMOVED + 4}`.execute(
      state.db,
    );
    expect(rows).toHaveLength(1);
    // With an anchor that was set by hand, the chain fits, but no activity records the removal.
    await run(sql`DELETE FROM activities WHERE sequence = ${REMOVED + 4}`);
    await run(
      sql`UPDATE organizations SET audit_removed_sequence = ${REMOVED + 4}, audit_removed_hash = ${rows[0]?.hash}`,
    );
    expect((await audit.verify(acme)).broken).toMatchObject({
      kind: 'removed',
      sequence: REMOVED + 4,
      text: 'no activity records that retention removed it',
    });
    await run(sql`UPDATE organizations SET audit_removed_sequence = 0, audit_removed_hash = ''`);
    expect((await audit.verify(acme)).broken).toMatchObject({ kind: 'removed', sequence: 1 });
    expect(removed.sequence).toBe(REMOVED);
  });

  it('says so if a head that was noted is gone, and accepts the last removed one', async () => {
    await remove(KEPT_DAYS);
    const { removed } = await audit.verify(acme);
    expect((await audit.verify(acme, removed)).broken).toBeUndefined();
    expect((await audit.verify(acme, { ...removed, hash: 'x' })).broken).toMatchObject({ kind: 'removed' });
    expect((await audit.verify(acme, { sequence: 5, hash: 'x' })).broken).toMatchObject({
      text: expect.stringContaining('number 5 was noted as the head, and retention has removed it'),
    });
  });

  it('is shown by audit verify, also after a move to another store or a restored backup', async () => {
    await remove(KEPT_DAYS);
    await state.close();
    const at = (data: string, url?: string) => ['--data', data, ...(url ? ['--database-url', url] : [])];
    const verify = async (args: string[]) => {
      const { code, stdout, stderr } = await cliProcess(['audit', 'verify', '--json', ...args]);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout)[0];
    };
    const shown = await verify(at(directory, database?.url));
    expect(shown).toMatchObject({ intact: true, removedByRetention: REMOVED, removedAt: new Date(now).toISOString() });
    const target = join(directory, 'copied');
    const file = join(directory, 'backup');
    const commands = database
      ? [['move', '--to', target, ...at(directory, database.url)]]
      : [
          ['backup', file, ...at(directory)],
          ['restore', file, ...at(target)],
        ];
    for (const command of commands) {
      const { code, stderr } = await cliProcess(command);
      expect(code, stderr).toBe(0);
    }
    expect(await verify(at(target))).toEqual(shown);
    state = await open();
  });
});
