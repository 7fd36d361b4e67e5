import type { Clock } from '../../../kernel/time/clock.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import type { LeasedState } from '../../../platform/leases/session.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import { type Entities, rememberEntities } from '../entities.ts';
import type { EngineBinding } from '../metering/engine-binding.ts';
import { createEngineAdoption } from './adopt-engine.ts';
import { checkLedger, type LedgerCheck } from './check-ledger.ts';
import { createDayLocking } from './lock-days.ts';
import { createDayRating } from './rate-day.ts';
import { type DayRange, listDays, listEntriesOfUsage, type UsageDay } from './store.ts';
import { createUnknownDays } from './unknown-days.ts';

interface Options {
  /** Of the owner of the engine. */
  state: LeasedState;
  engine: Engine;
  binding: EngineBinding;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  entities: Entities;
  /** Called with the time that rating a day took. */
  observe?: ((seconds: number) => void) | undefined;
}

export type Rating = ReturnType<typeof createRating>;

/** Turns usage events into ledger entries and cost records. */
export function createRating(options: Options) {
  const { state, engine, entities } = options;
  const rateDay = createDayRating(options);

  /** Rates all days even if some fail, then throws the first error. Returns the number of changed entries. */
  async function rateDays(days: readonly UsageDay[]): Promise<number> {
    let changed = 0;
    const failures: unknown[] = [];
    const findEntities = rememberEntities(entities);
    for (const { organizationId, date } of days)
      try {
        changed += await rateDay(organizationId, date, { findEntities });
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
    return changed;
  }

  return {
    rateDay,

    /** Whether the ledger has entries for usage of that day. */
    hasUsage: async (organizationId: string, date: Day): Promise<boolean> =>
      (await listEntriesOfUsage(state.db, organizationId, date)).length > 0,

    /** Rates every day that changed since it was rated. */
    rateChanged: async (organizationId?: string): Promise<number> =>
      rateDays(await listDays(state.db, { organizationId }, 'changed')),

    /** Also rates days that appear up to date, which they may not be after a crash. Locked days only on request. */
    rateAll: async (range: DayRange = {}, which: 'open' | 'all' = 'open'): Promise<number> =>
      rateDays(await listDays(state.db, range, which === 'all' ? 'all' : 'openOrChanged')),

    /** Recomputes the ledger from the usage events and compares; changes nothing. */
    check: (range: DayRange): Promise<LedgerCheck> => checkLedger(state, engine, range, options.binding),

    lockDays: createDayLocking({ ...options, rateDay }),

    adoptEngine: createEngineAdoption(options),

    addUnknownDays: createUnknownDays(options),
  };
}
