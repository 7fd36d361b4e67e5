import type { Service } from '../services/service.ts';
import type { Services } from '../services/services.ts';
import type { Db } from '../state/tables.ts';
import { type Entity, type EntityMap, entityKey } from './entity.ts';
import { listClickpipes } from './store.ts';

export type Entities = ReturnType<typeof createEntities>;

export function createEntities({ db, services }: { db: Db; services: Services }) {
  return {
    /** The services of an organization, their warehouses, and the clickpipes that have cost records. */
    async read(organizationId: string): Promise<EntityMap> {
      return buildEntityMap(await services.list(organizationId), await listClickpipes(db, organizationId));
    },
  };
}

type Clickpipe = Pick<Entity, 'entityId' | 'entityName' | 'dataWarehouseId' | 'serviceId'>;

function buildEntityMap(services: readonly Service[], clickpipes: readonly Clickpipe[]): EntityMap {
  const entities = new Map<string, Entity>();
  const add = (entity: Entity) => entities.set(entityKey(entity), entity);
  const regions = new Map<string, string | undefined>();
  for (const { id, name, dataWarehouseId, isPrimary, details } of services) {
    const { region } = details;
    regions.set(id, region);
    add({ entityType: 'service', entityId: id, entityName: name, dataWarehouseId, serviceId: id, region });
    const warehouse = { entityType: 'datawarehouse', entityId: dataWarehouseId } as const;
    // A warehouse is named after its primary service.
    if (isPrimary || !entities.has(entityKey(warehouse)))
      add({ ...warehouse, entityName: `${name} warehouse`, dataWarehouseId, serviceId: undefined, region });
  }
  for (const { entityId, entityName, dataWarehouseId, serviceId } of clickpipes) {
    const region = regions.get(serviceId ?? '');
    add({ entityType: 'clickpipe', entityId, entityName, dataWarehouseId, serviceId, region });
  }
  return entities;
}
