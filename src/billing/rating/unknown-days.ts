import type { Engine } from '../../engine/engine.ts';
import type { Day } from '../../kernel/days.ts';
import type { Organizations } from '../../organizations/organizations.ts';
import type { State } from '../../state/state.ts';
import type { EngineBinding } from '../metering/engine-binding.ts';
import { findBoundEngine } from '../metering/engine-store.ts';
import { markDaysChanged, readLockedThrough } from '../metering/store.ts';
import { listDays } from './store.ts';

interface Options {
  state: State;
  engine: Engine;
  binding: EngineBinding;
  organizations: Organizations;
}

const LIMITS = { maxSeconds: 600, maxResultRows: 2_000_000 };

/**
 * Marks days as changed that have events in the engine but are missing from the store: the store was restored from an
 * earlier copy than the engine. Reads two columns of all events, so it runs once per process.
 */
export function createUnknownDays({ state, engine, binding, organizations }: Options) {
  async function listEngineDays(): Promise<Map<string, Day[]>> {
    const rows = await engine.query(
      {
        sql: 'SELECT OrganizationId, groupUniqArray(toString(toDate(Time))) FROM pilothouse.usage_events GROUP BY OrganizationId',
        parameters: {},
      },
      { limits: LIMITS },
    );
    return new Map(rows.map(([organizationId, days]) => [String(organizationId), days as Day[]]));
  }

  /** Does not start the engine of a store that has no usage. */
  return async (): Promise<void> => {
    if ((await findBoundEngine(state.db)) === undefined || (await binding.findMismatch())) return;
    const engineDays = await listEngineDays();
    for (const { id } of await organizations.list()) {
      const known = new Set((await listDays(state.db, { organizationId: id })).map(({ date }) => date));
      const unknown = (engineDays.get(id) ?? []).filter((date) => !known.has(date));
      if (unknown.length === 0) continue;
      await state.write(async (tx) => {
        await organizations.lock(tx, id);
        await markDaysChanged(tx, id, unknown, await readLockedThrough(tx, id));
      });
    }
  };
}
