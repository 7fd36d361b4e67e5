import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createTestClock, type TestClock } from '../../../test/support/test-clock.ts';
import { until } from '../../../test/support/until.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { openState } from '../state/open.ts';
import type { State } from '../state/state.ts';
import { createStoreClock } from '../state/store-clock.ts';
import { createLease } from './lease.ts';
import { type ProcessSpace, readProcessSpace } from './process-identity.ts';
import { LeaseLost, type LeaseSession } from './session.ts';
import { findLease, findLockedLease, type Lease, putLease } from './store.ts';

const NAME = 'work';
const log = { warn() {} };

onEachStore('a lease', (store) => {
  let state: State;
  let clock: TestClock;
  let remove = async () => {};

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
    const database =
      store === 'postgres' ? await createDatabase(inject('postgresUrl'), { template: MIGRATED }) : undefined;
    clock = createTestClock(new Date().toISOString());
    state = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock, storeClock: clock });
    remove = async () => {
      await state.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterAll(() => remove());
  beforeEach(() => state.write((tx) => tx.deleteFrom('leases').execute()).then(() => {}));

  function open(holder: string, space?: ProcessSpace) {
    const changes: [boolean, string | undefined][] = [];
    const onChange = (isHeld: boolean, other: { holder: string } | undefined) =>
      void changes.push([isHeld, other?.holder]);
    const lease = createLease({ state, clock, log, name: NAME, holder, space, onChange });
    return Object.assign(lease, { changes });
  }

  const OTHER = { name: NAME, holder: 'other', host: 'elsewhere', pid: 1, token: 1, process: '' };
  const putOther = (other: Partial<Lease> = {}) =>
    state.write((tx) => putLease(tx, { ...OTHER, renewedAt: clock.now(), ...other }));
  const readHolder = async () => (await findLease(state.db, NAME))?.holder;

  it('is held by one of several processes, and by another one when that one closes', async () => {
    const leases = ['a', 'b', 'c'].map((holder) => open(holder));
    await Promise.all(leases.map((lease) => lease.tryToHold()));
    const [holder, ...others] = leases.sort((a, b) => Number(b.isHeld()) - Number(a.isHeld()));
    expect(leases.map((lease) => lease.isHeld())).toEqual([true, false, false]);
    expect(await others[0]?.tryToHold()).toMatchObject({ holder: await readHolder() });
    await holder?.close();
    expect(await others[0]?.tryToHold()).toBeUndefined();
    expect(others[0]?.changes.at(-1)).toEqual([true, undefined]);
  });

  it('expires 10 seconds after it was renewed by the clock of the store', async () => {
    const lease = open('a');
    await putOther();
    clock.add(10 * SECOND_MS - 1);
    expect(await lease.tryToHold()).toMatchObject({ holder: 'other' });
    clock.add(1);
    expect(await lease.tryToHold()).toBeUndefined();
  });

  it('expires when it did not change for 10 seconds, however the clock is set', async () => {
    const lease = open('a');
    await putOther({ renewedAt: clock.now() + 86_400_000 });
    expect(await lease.tryToHold()).toMatchObject({ holder: 'other' });
    clock.add(9 * SECOND_MS);
    await putOther({ renewedAt: clock.now() + 86_400_000 });
    expect(await lease.tryToHold()).toMatchObject({ holder: 'other' });
    clock.add(9 * SECOND_MS);
    expect(await lease.tryToHold()).toMatchObject({ holder: 'other' });
    clock.add(SECOND_MS);
    expect(await lease.tryToHold()).toBeUndefined();
  });

  const SPACE: ProcessSpace = { bootId: 'boot', namespace: 'pid:[1]', startedAt: '1' };
  const describeOther = (space: Partial<ProcessSpace>) => JSON.stringify({ holder: 'other', ...SPACE, ...space });

  it('is taken at once from a process of the same namespace that has ended', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await putOther({ host: hostname(), pid, process: describeOther({}) });
    expect(await open('a', SPACE).tryToHold()).toBeUndefined();
  });

  it.runIf(readProcessSpace())('is taken at once from a process whose id belongs to a later one', async () => {
    await putOther({ host: hostname(), pid: process.pid, process: describeOther({ startedAt: '0' }) });
    expect(await open('a', SPACE).tryToHold()).toBeUndefined();
  });

  it('is not taken from a process that runs, or that this one cannot see', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const own = readProcessSpace();
    const others: [string, Partial<Lease>, ProcessSpace | undefined][] = [
      ['this process', { pid: process.pid, process: describeOther(own ?? {}) }, own ?? SPACE],
      [
        'the same id in another namespace',
        { pid: process.pid, process: describeOther({ namespace: 'pid:[2]' }) },
        SPACE,
      ],
      ['no such id in another namespace', { pid, process: describeOther({ namespace: 'pid:[2]' }) }, SPACE],
      ['another machine with this name, or another boot', { pid, process: describeOther({ bootId: 'other' }) }, SPACE],
      ['another host', { pid, host: 'elsewhere', process: describeOther({}) }, SPACE],
      ['a system that does not tell', { pid, process: JSON.stringify({ holder: 'other' }) }, SPACE],
      ['an earlier version', { pid, process: '' }, SPACE],
      ['an earlier version after this one', { pid, process: JSON.stringify({ ...SPACE, holder: 'before' }) }, SPACE],
      ['this system does not tell', { pid, process: describeOther({}) }, undefined],
    ];
    for (const [name, other, space] of others) {
      await putOther({ host: hostname(), ...other });
      expect(await open('a', space).tryToHold(), name).toMatchObject({ holder: 'other' });
      clock.add(10 * SECOND_MS);
      expect(await open('a', space).tryToHold(), name).toBeUndefined();
    }
  });

  it('is confirmed by the store after this process was suspended', async () => {
    const lease = open('a');
    await lease.start();
    clock.add(60 * SECOND_MS);
    expect(await lease.confirm()).toBe(true);
    clock.add(60 * SECOND_MS);
    await putOther();
    expect(await lease.confirm()).toBe(false);
    expect(lease.changes).toEqual([
      [true, undefined],
      [false, 'other'],
    ]);
    await lease.close();
    expect(await readHolder()).toBe('other');
  });

  it('cannot be taken until a transaction that checks it has ended', async () => {
    await putOther();
    clock.add(10 * SECOND_MS);
    const events: string[] = [];
    let taking: Promise<unknown> | undefined;
    await state.write(async (tx) => {
      const found = await findLockedLease(tx, NAME);
      taking ??= open('a')
        .tryToHold()
        .then(() => events.push('taken'));
      // Long enough for the other transaction to wait for this one.
      for (let turns = 0; turns < 50; turns++) await tx.selectFrom('leases').select('holder').execute();
      events.push(`checked ${found?.holder}, still ${(await findLease(tx, NAME))?.holder}`);
    });
    await taking;
    expect(events).toEqual(['checked other, still other', 'taken']);
  });

  const take = async (lease: ReturnType<typeof open>): Promise<LeaseSession> => {
    expect(await lease.tryToHold()).toBeUndefined();
    return lease.getSession() ?? expect.fail('the lease is not held');
  };
  /** Not what the lease is for; any row shows whether a transaction was stored. */
  const writeRow = ({ state: leased }: LeaseSession, id: number) =>
    leased.write((tx) => tx.insertInto('usage_engines').values({ id, identity: '', bound_at: 0 }).execute());
  const readIds = async () => (await state.db.selectFrom('usage_engines').select('id').execute()).map(({ id }) => id);

  it('refuses what a session writes after another process took the lease, and ends the session', async () => {
    const lease = open('a');
    const session = await take(lease);
    await writeRow(session, 1);
    // This process does not run meanwhile, and does not notice.
    clock.add(10 * SECOND_MS);
    const other = open('b');
    const next = await take(other);
    expect(session.isHeld()).toBe(true);
    await expect(writeRow(session, 2)).rejects.toThrow(LeaseLost);
    expect(session.isHeld()).toBe(false);
    expect(session.signal.aborted).toBe(true);
    await writeRow(next, 3);
    expect(await readIds()).toEqual([1, 3]);
    await Promise.all([lease.close(), other.close()]);
    await state.write((tx) => tx.deleteFrom('usage_engines').execute());
  });

  it('refuses what an earlier session of the same process writes, also if the lease was released in between', async () => {
    const lease = open('a');
    const session = await take(lease);
    for (const isReleased of [false, true]) {
      clock.add(10 * SECOND_MS);
      const other = open('b');
      await take(other);
      if (isReleased) await other.close();
      else {
        await lease.tryToHold();
        clock.add(10 * SECOND_MS);
      }
      const next = await take(lease);
      await expect(writeRow(session, 2)).rejects.toThrow(LeaseLost);
      await writeRow(next, isReleased ? 4 : 3);
    }
    expect(await readIds()).toEqual([3, 4]);
    await lease.close();
    await state.write((tx) => tx.deleteFrom('usage_engines').execute());
  });

  it('starts work with each session, after that of the session before has ended', async () => {
    const events: string[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const lease = open('a');
    let sessions = 0;
    const work = lease.run(() => {
      const number = ++sessions;
      events.push(`start ${number}`);
      return {
        number,
        async close() {
          if (number === 1) await finished;
          events.push(`end ${number}`);
        },
      };
    });
    expect(work.current()).toBeUndefined();
    await take(lease);
    expect(work.current()).toMatchObject({ number: 1 });
    await putOther();
    await lease.tryToHold();
    clock.add(10 * SECOND_MS);
    await take(lease);
    expect(events).toEqual(['start 1']);
    finish();
    await until(
      async () => work.current()?.number,
      (number) => number === 2,
      'the work does not start again',
    );
    expect(events).toEqual(['start 1', 'end 1', 'start 2']);
    await lease.close();
    expect(events.at(-1)).toBe('end 2');
    expect(await readHolder()).toBeUndefined();
  });

  it('has the clock of the store, however the clock of this process is set', async () => {
    const local = createTestClock(new Date(clock.now() + 40 * 86_400_000).toISOString());
    const storeClock = createStoreClock(local);
    storeClock.measured(1000);
    local.add(5);
    expect(storeClock.clock.now()).toBe(1005);
    local.step(-80 * 86_400_000);
    expect(storeClock.clock.now()).toBe(1005);
    storeClock.measured(900);
    expect(storeClock.clock.now()).toBe(900);
  });
});
