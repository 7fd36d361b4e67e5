import type { LeasedState } from '../../platform/leases/session.ts';
import type { State } from '../../platform/state/state.ts';
import type { LoadSample } from './load.ts';
import { addSamples, listSamplesByHour, type ServiceSamples } from './store.ts';

export type LoadHistory = ReturnType<typeof createLoadHistory>;

/** The load of services by minute, for 90 days. */
export function createLoadHistory({ state }: { state: Pick<State, 'db'> }) {
  return {
    /** Stores samples of many services in one transaction. A second sample of a minute replaces the first. */
    recordSamples: (leased: LeasedState, added: readonly ServiceSamples[]): Promise<void> =>
      added.length === 0
        ? Promise.resolve()
        : leased.write(async (tx) => {
            // In a fixed order, so that two nodes never wait for each other.
            for (const id of [...new Set(added.map(({ organizationId }) => organizationId))].sort())
              await addSamples(
                tx,
                id,
                added.filter(({ organizationId }) => organizationId === id),
              );
          }),

    /** The samples with `from <= at < to`, in the order of their time. */
    readHistory: async (
      { organizationId, id }: { organizationId: string; id: string },
      from: number,
      to: number,
    ): Promise<LoadSample[]> => (await listSamplesByHour(state.db, organizationId, id, from, to)).flat(),
  };
}
