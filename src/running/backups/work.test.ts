import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { acme } from '../../../test/support/fleet.ts';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createTestClock, createWrongClock, type TestClock } from '../../../test/support/test-clock.ts';
import { newUuid } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import { createAudit } from '../../management/audit/audit.ts';
import { createOrganizations } from '../../management/organizations/organizations.ts';
import { createDrivenServices, type DrivenServices } from '../../management/services/driven-services.ts';
import { toDocument } from '../../management/services/store.ts';
import { parseFleetFile } from '../../operations/fleet/file.ts';
import { createFleet } from '../../operations/fleet/fleet.ts';
import { createLease } from '../../platform/leases/lease.ts';
import { openState } from '../../platform/state/open.ts';
import type { State } from '../../platform/state/state.ts';
import { type Backup, ELSEWHERE } from './backup.ts';
import type { BackupMaker } from './maker.ts';
import { createSchedule } from './schedule.ts';
import { findBackup, insertBackup, updateBackup } from './store.ts';
import { startBackupWork } from './work.ts';
import { createBackupWriter } from './writer.ts';

const log = { debug() {}, info() {}, warn() {} };
const organizationId = acme.id;
const LOCATION = 's3://backups/';

onEachStore('the work on backups', (store) => {
  let state: State;
  let clock: TestClock;
  let services: DrivenServices;
  let remove = async () => {};
  const [serviceId, restoredId] = [newUuid(), newUuid()];

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const database =
      store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    clock = createTestClock('2026-11-16T10:00:30Z');
    state = await openState({
      dataDirectory: directory,
      databaseUrl: database?.url,
      clock: createWrongClock(clock),
      storeClock: clock,
    });
    const audit = createAudit({ db: state.db, clock });
    services = createDrivenServices({ state, audit });
    const organizations = createOrganizations({ db: state.db });
    const fleet = createFleet({ state, clock, audit, organizations, alertRemoval: {} as never, log });
    const webhook = { url: 'https://example.com/', secret: 'a-secret-of-16-or-more' };
    const declared = [serviceId, restoredId].map((id) => ({ id, name: id.slice(0, 8), driver: 'webhook', webhook }));
    const organization = { id: organizationId, name: 'Acme', tier: 'SCALE', paid: true, services: declared };
    const file = parseFleetFile(JSON.stringify({ organizations: [organization] }));
    await fleet.apply(file, { type: 'system', id: 'test', details: '' });
    remove = async () => {
      await state.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterAll(() => remove());

  /** Of one process. `write` is what ClickHouse does. */
  async function start(write: (backup: Backup) => Promise<void> = async () => {}) {
    const process = { isResponsible: true, removed: [] as string[] };
    const maker: BackupMaker = {
      directoryId: ELSEWHERE,
      location: LOCATION,
      concurrency: 2,
      async write(backup) {
        await write(backup);
        return { ...backup, isWritten: true };
      },
      store: async ({ isWritten: _, ...backup }) => ({ ...backup, sizeBytes: 1 }),
      removeUnfinished: async ({ id }) => void process.removed.push(id),
      isUnchanged: async () => false,
    };
    const organizations = createOrganizations({ db: state.db });
    const audit = createAudit({ db: state.db, clock });
    const lease = createLease({ state, clock, log, name: newUuid() });
    const isResponsible = () => process.isResponsible;
    const none = () => false;
    const verify = async () => ({ tables: 0, rows: 0 });
    const work = lease.run((session) => {
      const writer = createBackupWriter({ state: session.state, organizations });
      const common = { writer, log, services, isResponsible, maker };
      const schedule = createSchedule({
        ...common,
        state: session.state,
        organizations,
        audit,
        isIncluded: none,
        isBackedUp: none,
        isInUse: none,
      });
      return startBackupWork({ ...common, session, schedule, verify });
    });
    await lease.tryToHold();
    onTestFinished(lease.close);
    return { process, settleAll: async () => work.current()?.settleAll() };
  }

  async function insert(changes: Partial<Backup> = {}): Promise<string> {
    const id = newUuid();
    const backup: Backup = {
      organizationId,
      id,
      serviceId,
      chainId: id,
      directoryId: ELSEWHERE,
      status: 'in_progress',
      pending: 'backup',
      startedAt: clock.now(),
      serviceName: 'analytics',
      retentionHours: 24,
      ...changes,
    };
    await state.write((tx) => insertBackup(tx, backup));
    return id;
  }
  const read = (id: string) => findBackup(state.db, organizationId, id);

  it('stores who makes a backup, and where, before ClickHouse writes it', async () => {
    let stored: Backup | undefined;
    const { settleAll } = await start(async ({ id }) => {
      stored = await read(id);
    });
    const id = await insert();
    await settleAll();
    expect(stored).toMatchObject({ location: LOCATION, worker: expect.any(String), status: 'in_progress' });
    expect(await read(id)).toMatchObject({ status: 'done', location: LOCATION, sizeBytes: 1 });
  });

  it.each([
    ['while ClickHouse writes', async () => {}],
    [
      'before ClickHouse fails',
      async () => {
        throw new Error('it failed');
      },
    ],
  ])('changes nothing of a backup that another process has taken over %s', async (_, end) => {
    let other: Backup | undefined;
    const { process, settleAll } = await start(async (backup) => {
      other = { ...backup, worker: newUuid(), isWritten: true };
      await state.write((tx) => updateBackup(tx, other as Backup));
      await end();
    });
    const id = await insert();
    await settleAll();
    expect(await read(id)).toEqual(other);
    expect(process.removed).toEqual([]);
    // The next test has other rows.
    await state.write((tx) => tx.deleteFrom('service_backups').execute());
  });

  it('waits until this process runs the service, unless it was deleted', async () => {
    const { process, settleAll } = await start();
    process.isResponsible = false;
    const [id, orphan] = [await insert(), await insert({ serviceId: newUuid() })];
    await settleAll();
    expect(await read(id)).toMatchObject({ status: 'in_progress', pending: 'backup' });
    expect(await read(orphan)).toMatchObject({ status: 'error', error: 'The service was deleted' });
    process.isResponsible = true;
    await settleAll();
    expect(await read(id)).toMatchObject({ status: 'done' });
  });

  it('keeps a chain that has expired while a service is restored from it, on any node', async () => {
    const { settleAll } = await start();
    const full = await insert({ status: 'done', pending: undefined, startedAt: clock.now() - 9 * DAY_MS });
    const added = { status: 'done', pending: undefined, startedAt: clock.now() - 8 * DAY_MS } as const;
    const last = await insert({ ...added, chainId: full, baseId: full });
    await insert({ status: 'done', pending: undefined });
    const restored = (await services.find(organizationId, restoredId)) ?? expect.fail('there is no service');
    const update = (settled: number, observed: string) =>
      state.write((tx) =>
        tx
          .updateTable('services')
          .set({
            document: toDocument(tx, { ...restored, settings: { restore: { backupId: last } } }),
            observed: JSON.stringify({ ...restored.observed, state: observed }),
            settled_generation: settled,
          })
          .where('id', '=', restoredId)
          .execute(),
      );
    for (const [settled, observed] of [
      [0, 'starting'],
      [1, 'provisioning'],
    ] as const) {
      await update(settled, observed);
      await settleAll();
      expect(await read(full)).toMatchObject({ status: 'done' });
    }
    await update(1, 'running');
    await settleAll();
    expect([await read(full), await read(last)]).toEqual([undefined, undefined]);
  });
});
