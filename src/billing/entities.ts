import type { Service } from '../services/service.ts';
import type { Services } from '../services/services.ts';
import type { Db } from '../state/tables.ts';
import type { Cost, EntityType } from './cost.ts';
import { listClickpipes } from './store.ts';

/** Whatever usage can be metered for, as the bill names it. */
export interface Entity {
  entityType: EntityType;
  entityId: string;
  entityName: string;
  dataWarehouseId: string;
  serviceId: string | undefined;
  /** Decides its price where prices differ by region. */
  region: string | undefined;
}

export type Entities = ReturnType<typeof createEntities>;
export type EntityMap = ReadonlyMap<string, Entity>;

export const entityKey = (entityType: string, entityId: string): string => `${entityType} ${entityId}`;

export const keyOf = ({ entityType, entityId }: Pick<Entity, 'entityType' | 'entityId'>): string =>
  entityKey(entityType, entityId);

export function createEntities({ db, services }: { db: Db; services: Services }) {
  return {
    /** By `entityKey`: the services of an organization, their warehouses, and the clickpipes that its bill has shown. */
    async of(organizationId: string): Promise<EntityMap> {
      return entitiesOf(await services.list(organizationId), await listClickpipes(db, organizationId));
    },
  };
}

type Clickpipe = Pick<Cost, 'entityId' | 'entityName' | 'dataWarehouseId' | 'serviceId'>;

export function entitiesOf(services: readonly Service[], clickpipes: readonly Clickpipe[]): EntityMap {
  const entities = new Map<string, Entity>();
  const add = (entity: Entity) => entities.set(entityKey(entity.entityType, entity.entityId), entity);
  const regions = new Map<string, string | undefined>();
  for (const { id, name, dataWarehouseId, isPrimary, details } of services) {
    const { region } = details;
    regions.set(id, region);
    add({ entityType: 'service', entityId: id, entityName: name, dataWarehouseId, serviceId: id, region });
    if (!isPrimary && entities.has(entityKey('datawarehouse', dataWarehouseId))) continue;
    // Named after its first service.
    const entityName = `${name} warehouse`;
    add({
      entityType: 'datawarehouse',
      entityId: dataWarehouseId,
      entityName,
      dataWarehouseId,
      serviceId: undefined,
      region,
    });
  }
  for (const { entityId, entityName, dataWarehouseId, serviceId } of clickpipes) {
    const region = regions.get(serviceId ?? '');
    add({ entityType: 'clickpipe', entityId, entityName, dataWarehouseId, serviceId, region });
  }
  return entities;
}
