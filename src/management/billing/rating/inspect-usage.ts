import { addDays, toUtcDay } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { State } from '../../../platform/state/state.ts';
import type { EngineBinding, Mismatch } from '../metering/engine-binding.ts';
import type { LockClock } from './lock-clock.ts';
import { findDaysToLock } from './lock-days.ts';
import { countMismatchedDays, type MismatchedDays } from './mismatch-store.ts';
import { listDays, listEntriesOfUsage, listNewestDays, type UsageDay } from './store.ts';
import { hasAllEvents, readDayUsage } from './usage-totals.ts';
import { toClockWarning, toMismatchWarning, type UsageWarning } from './usage-warnings.ts';

interface Options {
  state: State;
  engine: Engine;
  binding: EngineBinding;
  lockClock: LockClock;
  lockAfterDays: number;
}

/** Looks for days that a server would not rate or not lock, without changing anything. */
export function createUsageInspection({ state, engine, binding, lockClock, lockAfterDays }: Options) {
  async function listMismatched(): Promise<{ day: UsageDay; mismatch: Mismatch }[]> {
    const days = (await listDays(state.db, {}, 'openOrChanged')).filter(({ revision }) => revision > 0);
    if (days.length === 0) return [];
    const engineMismatch = await binding.inspect();
    if (engineMismatch) return days.map((day) => ({ day, mismatch: engineMismatch }));
    const mismatch = (await binding.isEmpty()) ? 'empty' : 'older';
    const found: { day: UsageDay; mismatch: Mismatch }[] = [];
    for (const day of days) {
      const booked = await listEntriesOfUsage(state.db, day.organizationId, day.date);
      const usage = await readDayUsage(engine, day.organizationId, day.date);
      if (!hasAllEvents(day, usage, booked)) found.push({ day, mismatch });
    }
    return found;
  }

  async function countUnconfirmedDays(): Promise<number> {
    const { now, isConfirmed } = await lockClock.read();
    if (isConfirmed) return 0;
    const openDays = await listDays(state.db, { to: addDays(toUtcDay(now), -1) }, 'open');
    const newestDays = await listNewestDays(state.db, [...new Set(openDays.map((day) => day.organizationId))]);
    return findDaysToLock(openDays, { now, isClockConfirmed: false, lockAfterDays, newestDays }).unconfirmedDays;
  }

  return {
    /** `canReadEngine` is false while a running server uses the embedded engine; it records the mismatches itself. */
    async inspect({ canReadEngine }: { canReadEngine: boolean }): Promise<UsageWarning[]> {
      const mismatched = canReadEngine ? groupDays(await listMismatched()) : await countMismatchedDays(state.db);
      const unconfirmedDays = await countUnconfirmedDays();
      return [...mismatched.map(toMismatchWarning), ...(unconfirmedDays > 0 ? [toClockWarning(unconfirmedDays)] : [])];
    },
  };
}

function groupDays(found: readonly { day: UsageDay; mismatch: Mismatch }[]): MismatchedDays[] {
  return [...new Set(found.map(({ mismatch }) => mismatch))].map((mismatch) => {
    const days = found.flatMap((one) => (one.mismatch === mismatch ? [one.day] : []));
    const dates = days.map(({ date }) => date).sort();
    return {
      mismatch,
      days: days.length,
      organizations: new Set(days.map(({ organizationId }) => organizationId)).size,
      from: dates[0] ?? '',
      to: dates.at(-1) ?? '',
    };
  });
}
