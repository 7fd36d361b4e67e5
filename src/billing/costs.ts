import type { Services } from '../services/services.ts';
import type { Db } from '../state/tables.ts';
import { type Cost, compareCosts } from './cost.ts';
import { findRatingProgress, listCosts, listServiceCosts, type RatingProgress } from './store.ts';
import type { Window } from './window.ts';

export type Costs = ReturnType<typeof createCosts>;

/** The records of a response; omitted members select all. */
export interface CostSelection {
  /** The services, with their clickpipes. */
  serviceIds?: ReadonlySet<string> | undefined;
  isWanted?: ((cost: Cost) => boolean) | undefined;
}

export function createCosts({ db, services }: { db: Db; services: Services }) {
  return {
    /**
     * Selects the records of services with the tags and of their clickpipes, and of warehouses whose first service has
     * them: so the costs of different values of a tag never overlap.
     */
    async selectTagged(organizationId: string, filters: readonly string[]): Promise<(cost: Cost) => boolean> {
      const { serviceIds, warehouseIds } = await services.findTagged(organizationId, filters);
      return ({ entityType, dataWarehouseId, serviceId = '' }) =>
        entityType === 'datawarehouse' ? warehouseIds.has(dataWarehouseId) : serviceIds.has(serviceId);
    },

    findProgress: (organizationId: string): Promise<RatingProgress | undefined> =>
      findRatingProgress(db, organizationId),

    async list(organizationId: string, window: Window, { serviceIds, isWanted }: CostSelection = {}): Promise<Cost[]> {
      const costs = await (serviceIds
        ? listServiceCosts(db, organizationId, window, serviceIds)
        : listCosts(db, organizationId, window));
      return (isWanted ? costs.filter(isWanted) : costs).sort(compareCosts);
    },
  };
}
