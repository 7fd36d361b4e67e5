import { yieldToEventLoop } from '../../kernel/tasks/event-loop.ts';
import type { Db } from '../../platform/state/tables.ts';
import type { Service } from '../services/service.ts';
import type { Services } from '../services/services.ts';
import { type Entity, type EntityMap, type EntityRef, type EntityType, entityKey, TELEMETRY_ENTITY } from './entity.ts';
import { listClickpipes } from './store.ts';

export type Entities = ReturnType<typeof createEntities>;

/** As many are read at once; other requests run in between. */
const GROUP_SIZE = 500;

export function createEntities({
  db,
  services,
}: {
  db: Db;
  services: Pick<Services, 'listByIds' | 'listOfWarehouses'>;
}) {
  async function readGroup(organizationId: string, refs: readonly EntityRef[]): Promise<Entity[]> {
    const listIds = (type: EntityType) =>
      refs.filter(({ entityType }) => entityType === type).map(({ entityId }) => entityId);
    const clickpipes = await listClickpipes(db, organizationId, listIds('clickpipe'));
    const ownerIds = clickpipes.flatMap(({ serviceId }) => serviceId ?? []);
    const serviceIds = [...new Set([...listIds('service'), ...ownerIds])];
    const found = await services.listByIds(organizationId, serviceIds);
    const regions = new Map(found.map(({ id, details }) => [id, details.region]));
    return [
      ...(refs.some((ref) => entityKey(ref) === entityKey(TELEMETRY_ENTITY)) ? [TELEMETRY_ENTITY] : []),
      ...found.map(toServiceEntity),
      ...toWarehouses(await services.listOfWarehouses(organizationId, listIds('datawarehouse'))),
      ...clickpipes.map(({ entityId, entityName, dataWarehouseId, serviceId }): Entity => {
        const region = regions.get(serviceId ?? '');
        return { entityType: 'clickpipe', entityId, entityName, dataWarehouseId, serviceId, region };
      }),
    ];
  }

  return {
    /**
     * The entities that exist in the organization: its services, their warehouses, its telemetry, and the clickpipes that
     * have cost records. The ids are in lower case.
     */
    async find(organizationId: string, refs: readonly EntityRef[]): Promise<EntityMap> {
      const found = new Map<string, Entity>();
      for (let first = 0; first < refs.length; first += GROUP_SIZE) {
        if (first > 0) await yieldToEventLoop();
        for (const entity of await readGroup(organizationId, refs.slice(first, first + GROUP_SIZE)))
          found.set(entityKey(entity), entity);
      }
      return found;
    },
  };
}

const toServiceEntity = ({ id, name, dataWarehouseId, details }: Service): Entity => ({
  entityType: 'service',
  entityId: id,
  entityName: name,
  dataWarehouseId,
  serviceId: id,
  region: details.region,
});

/** A warehouse is named after its primary service. */
function toWarehouses(services: readonly Service[]): Entity[] {
  const named = new Map<string, Service>();
  for (const service of services)
    if (service.isPrimary || !named.has(service.dataWarehouseId)) named.set(service.dataWarehouseId, service);
  return [...named.values()].map(({ name, dataWarehouseId, details }) => ({
    entityType: 'datawarehouse',
    entityId: dataWarehouseId,
    entityName: `${name} warehouse`,
    dataWarehouseId,
    serviceId: undefined,
    region: details.region,
  }));
}

/** Reads each entity once. */
export function rememberEntities({ find }: Entities): Entities['find'] {
  const known = new Map<string, Map<string, Entity | undefined>>();
  return async (organizationId, refs) => {
    const remembered = known.get(organizationId) ?? new Map<string, Entity | undefined>();
    known.set(organizationId, remembered);
    const missing = refs.filter((ref) => !remembered.has(entityKey(ref)));
    const found = await find(organizationId, missing);
    for (const ref of missing) remembered.set(entityKey(ref), found.get(entityKey(ref)));
    const entities = new Map<string, Entity>();
    for (const ref of refs) {
      const entity = remembered.get(entityKey(ref));
      if (entity) entities.set(entityKey(ref), entity);
    }
    return entities;
  };
}
