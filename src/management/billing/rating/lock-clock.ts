import { type Clock, HOUR_MS, isoSeconds, MINUTE_MS } from '../../../kernel/time/clock.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Actor } from '../../audit/activity.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { findPassedAt, putPassedAt } from './clock-store.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
}

/** A larger jump of the store's clock must be confirmed before it locks days. */
const MAX_JUMP_MS = HOUR_MS;

export type LockClock = ReturnType<typeof createLockClock>;

/**
 * The clock of the store, as automatic locking uses it: a day that was locked by a wrong clock stays locked. The time of
 * the last pass is stored. The clock is confirmed while it is within an hour of the time that this process expects from
 * its monotonic clock, or of the stored time. Otherwise it jumped, or no server ran for more than an hour.
 */
export function createLockClock({ state, clock, audit, organizations }: Options) {
  let lastPass: { at: number; monotonicMs: number } | undefined;

  async function read() {
    const now = await state.now();
    const passedAt = await findPassedAt(state.db);
    const expected = lastPass && lastPass.at + clock.monotonicMs() - lastPass.monotonicMs;
    const isConfirmed =
      passedAt === undefined || isNear(now, passedAt) || (expected !== undefined && isNear(now, expected));
    return { now, passedAt, isConfirmed };
  }

  return {
    /** For display: changes nothing. */
    read,

    /** One pass of automatic locking. Stores the time if it is confirmed. */
    async pass(): Promise<{ now: number; isConfirmed: boolean }> {
      const { now, passedAt, isConfirmed } = await read();
      if (isConfirmed) {
        lastPass = { at: now, monotonicMs: clock.monotonicMs() };
        // Not with every pass: a minute is precise enough.
        if (passedAt === undefined || Math.abs(now - passedAt) >= MINUTE_MS)
          await state.write((tx) => putPassedAt(tx, now));
      }
      return { now, isConfirmed };
    },

    /** Confirms the current time of the store. Returns it, and the time of the last pass. */
    async confirm(actor: Actor): Promise<{ now: number; passedAt: number | undefined }> {
      const { now, passedAt } = await read();
      const all = await organizations.list();
      await state.write(async (tx) => {
        await putPassedAt(tx, now);
        for (const { id } of all)
          await audit.record(tx, actor, {
            organizationId: id,
            type: 'usage_clock_confirm',
            resource: { type: 'usage_clock', id: isoSeconds(now) },
            ...(passedAt === undefined ? {} : { before: { lastPass: isoSeconds(passedAt) } }),
            after: { confirmed: isoSeconds(now) },
          });
      });
      return { now, passedAt };
    },
  };
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= MAX_JUMP_MS;
