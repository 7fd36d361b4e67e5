import type { Db } from '../../platform/state/tables.ts';
import type { Services } from '../services/services.ts';
import { type Cost, compareCosts } from './cost.ts';
import { findRatingProgress, listCosts, listSelectedCosts, type RatingProgress } from './store.ts';
import type { Window } from './window.ts';

export type Costs = ReturnType<typeof createCosts>;

/** The records of a response. */
export interface CostSelection {
  /** The services, with their clickpipes. */
  serviceIds: ReadonlySet<string>;
  warehouseIds: ReadonlySet<string>;
}

/** Records of at most this many services are looked up; for more, the records of all are read. */
const MAX_LOOKUPS = 1000;

export function createCosts({ db, services }: { db: Db; services: Services }) {
  return {
    /**
     * Selects the records of services with the tags and of their clickpipes, and of warehouses whose first service has
     * them: so the costs of different values of a tag never overlap.
     */
    selectTagged: (organizationId: string, filters: readonly string[]): Promise<CostSelection> =>
      services.findTagged(organizationId, filters),

    findProgress: (organizationId: string): Promise<RatingProgress | undefined> =>
      findRatingProgress(db, organizationId),

    /** All records, or those of the selection. */
    async list(organizationId: string, window: Window, selection?: CostSelection): Promise<Cost[]> {
      const isShort = selection && selection.serviceIds.size <= MAX_LOOKUPS;
      const costs = isShort
        ? await listSelectedCosts(db, organizationId, window, selection)
        : await listCosts(db, organizationId, window);
      return (selection && !isShort ? costs.filter(isSelected(selection)) : costs).sort(compareCosts);
    },
  };
}

const isSelected =
  ({ serviceIds, warehouseIds }: CostSelection) =>
  ({ entityType, entityId, serviceId = '' }: Cost): boolean =>
    entityType === 'datawarehouse' ? warehouseIds.has(entityId) : serviceIds.has(serviceId);
