import type { Engine } from '../../../platform/engine/engine.ts';
import type { LeasedState } from '../../../platform/leases/session.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { EngineBinding } from '../metering/engine-binding.ts';
import { findBoundEngine } from '../metering/engine-store.ts';
import { listEventDays, markEventDays } from '../metering/event-days.ts';
import { listDates } from '../metering/store.ts';

interface Options {
  state: LeasedState;
  engine: Engine;
  binding: EngineBinding;
  organizations: Organizations;
}

/**
 * Marks days as changed that have events in the engine but are missing from the store: the store was restored from an
 * earlier copy than the engine. Reads two columns of all events, so it runs once per process.
 */
export function createUnknownDays({ state, engine, binding, organizations }: Options) {
  /** Does not start the engine of a store that has no usage. */
  return async (): Promise<void> => {
    if ((await findBoundEngine(state.db)) === undefined || (await binding.findMismatch())) return;
    const engineDays = await listEventDays(engine);
    for (const { id } of await organizations.list()) {
      const days = engineDays.get(id) ?? [];
      const known = new Set(days.length > 0 ? await listDates(state.db, id) : []);
      const unknown = days.filter((date) => !known.has(date));
      if (unknown.length === 0) continue;
      await state.write(async (tx) => {
        await organizations.lock(tx, id);
        await markEventDays(tx, id, unknown);
      });
    }
  };
}
