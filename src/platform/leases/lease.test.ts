import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, MIGRATED } from '../../../test/support/postgres.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { createTestClock, type TestClock } from '../../../test/support/test-clock.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { openState } from '../state/open.ts';
import type { State } from '../state/state.ts';
import { createLease } from './lease.ts';
import { findLease, findLockedLease, putLease } from './store.ts';

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
    const opened = await openState({ dataDirectory: directory, databaseUrl: database?.url, clock });
    state = { ...opened, now: async () => clock.now() };
    remove = async () => {
      await opened.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  });
  afterAll(() => remove());
  beforeEach(() => state.write((tx) => tx.deleteFrom('leases').execute()).then(() => {}));

  function open(holder: string) {
    const changes: [boolean, string | undefined][] = [];
    const onChange = (isHeld: boolean, other: { holder: string } | undefined) =>
      void changes.push([isHeld, other?.holder]);
    return { ...createLease({ state, clock, log, name: NAME, holder, onChange }), changes };
  }

  const putOther = (other: { host?: string; pid?: number; renewedAt?: number } = {}) =>
    state.write((tx) =>
      putLease(tx, { name: NAME, holder: 'other', host: 'elsewhere', pid: 1, renewedAt: clock.now(), ...other }),
    );
  const readHolder = async () => (await findLease(state.db, NAME))?.holder;

  it('is held by one of several processes, and by another one when that one closes', async () => {
    const leases = ['a', 'b', 'c'].map(open);
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

  it('is taken at once from a process of this machine that has ended', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await putOther({ host: hostname(), pid });
    expect(await open('a').tryToHold()).toBeUndefined();
    for (const running of [process.ppid, process.pid]) {
      await putOther({ host: hostname(), pid: running });
      expect(await open('a').tryToHold()).toMatchObject({ holder: 'other' });
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
});
